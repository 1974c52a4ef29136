type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()
export const utf8 = (text: string): Bytes => encoder.encode(text)

export const fromBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
export const toBase64 = (bytes: Bytes): string => btoa(String.fromCharCode(...bytes))
export const fromHex = (text: string): Bytes =>
  Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
export const toHex = (bytes: Bytes): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

export async function sha256(...parts: readonly Bytes[]): Promise<Bytes> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let start = 0
  for (const part of parts) {
    whole.set(part, start)
    start += part.length
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', whole))
}

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

export const leafHash = (data: Bytes): Promise<Bytes> => sha256(LEAF, data)

/** RFC 8785: the one JSON text of a value. */
export function jcs(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${jcs(inner)}`).join(',')}}`
}

/** A Merkle tree (RFC 6962) that grows leaf by leaf; of all hashes it has those of its complete subtrees, from the left. */
export class GrowingTree {
  size: number
  readonly #peaks: Bytes[]

  constructor(size = 0, peaks: readonly string[] = []) {
    this.size = size
    this.#peaks = peaks.map(fromBase64)
  }

  get peaks(): string[] {
    return this.#peaks.map(toBase64)
  }

  async append(leaf: Bytes): Promise<void> {
    let hash = leaf
    for (let left = this.size; left % 2 === 1; left = (left - 1) / 2)
      hash = await sha256(NODE, this.#peaks.pop()!, hash)
    this.#peaks.push(hash)
    this.size++
  }

  /** In base64. */
  async root(): Promise<string> {
    let root: Bytes | undefined
    for (const peak of this.#peaks.toReversed()) root = root ? await sha256(NODE, peak, root) : peak
    return toBase64(root ?? (await sha256()))
  }
}
