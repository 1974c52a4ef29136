import { Readable } from 'node:stream'
import { fail } from '@svc/contract/errors'
import type { Caller } from './operation.ts'

/** Responses without bounds, so many at a time for each holder: a tenant, or an operator (decision S3). */
export class StreamSlots {
  readonly #max: number
  readonly #running = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /**
   * The stream breaks before the next piece once its caller is no longer valid.
   *
   * @throws Failure `too_many_streams`, before anything is opened
   */
  stream(holder: string, caller: Caller, open: () => AsyncGenerator<string> | Readable): Readable {
    if ((this.#running.get(holder) ?? 0) >= this.#max) fail('too_many_streams', { retryAfterSeconds: 1 })
    const opened = open()
    const readable = opened instanceof Readable ? opened : streamWhileValid(caller, opened)
    this.#running.set(holder, (this.#running.get(holder) ?? 0) + 1)
    readable.once('close', () => {
      const left = this.#running.get(holder)! - 1
      if (left > 0) this.#running.set(holder, left)
      else this.#running.delete(holder)
    })
    return readable
  }
}

/** A response in pieces that has an end in sight, and so needs no slot. It breaks as `StreamSlots.stream` does. */
export const streamWhileValid = (caller: Caller, pieces: AsyncGenerator<string>): Readable =>
  Readable.from(whileValid(caller, pieces), { objectMode: false })

async function* whileValid({ stillValid }: Caller, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    if (stillValid && !(await stillValid())) fail('invalid_token')
    yield piece
  }
}
