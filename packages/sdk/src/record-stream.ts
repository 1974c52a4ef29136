import { UnexpectedResponseError } from './errors.ts'

/** The streamed response of a search: `data` first, `recordsCount` last, when all were written. */
interface Ending {
  readonly payload: { readonly recordsCount: number; readonly next?: string }
}

/**
 * The records of a streamed search as they come, in constant memory: only the bytes of one record and of one piece of
 * the network are held. Records are objects in the response's one array.
 *
 * @throws UnexpectedResponseError when the response ends before it is whole, or is not in the service's form.
 */
export async function* recordsOf<T>(response: Response): AsyncGenerator<T, void, undefined> {
  const scanner = new RecordScanner()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let count = 0
  const recordsIn = (bytes: Uint8Array): T[] => {
    try {
      return scanner.push(decoder.decode(bytes, { stream: true })).map((text) => JSON.parse(text) as T)
    } catch (cause) {
      throw new UnexpectedResponseError(response, `The search has no record after ${count}`, { cause })
    }
  }
  for await (const bytes of response.body ?? []) {
    for (const record of recordsIn(bytes as Uint8Array)) {
      count++
      yield record
    }
  }
  const reported = endingOf(scanner.around)
  if (reported !== count)
    throw new UnexpectedResponseError(response, `The search broke off after ${count} records`)
}

function endingOf(around: string): number | undefined {
  try {
    return (JSON.parse(around) as Ending).payload.recordsCount
  } catch {
    return undefined
  }
}

/** Cuts the elements out of the one array in a JSON text that comes in pieces; what is around them stays. */
class RecordScanner {
  /** The text without its records. */
  around = ''
  #record = ''
  #depth = 0
  #inArray = false
  #inText = false
  #escaped = false

  /** The records that this piece completes. */
  push(piece: string): string[] {
    const whole: string[] = []
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const char = piece[at]!
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false
        else if (char === '\\') this.#escaped = true
        else if (char === '"') this.#inText = false
        continue
      }
      if (char === '"') this.#inText = true
      else if (char === '[' && !this.#inArray) {
        this.#inArray = true
        this.around += piece.slice(from, at + 1)
        from = at + 1
      } else if (this.#inArray && char === '{') {
        if (this.#depth++ === 0) from = at
      } else if (this.#inArray && char === '}' && --this.#depth === 0) {
        whole.push(this.#record + piece.slice(from, at + 1))
        this.#record = ''
        from = at + 1
      } else if (this.#inArray && this.#depth === 0 && char === ']') {
        this.#inArray = false
        from = at
      }
    }
    if (this.#depth > 0) this.#record += piece.slice(from)
    else if (!this.#inArray) this.around += piece.slice(from)
    return whole
  }
}
