import { type Cipher, createCipheriv, createHash } from 'node:crypto'

/** Everything that is drawn by chance, from a seed: a stream of its own for each name, the same for the same seed. */
export class Chance {
  readonly #cipher: Cipher

  constructor(seed: string, stream: string) {
    const key = createHash('sha256').update(`${seed} ${stream}`).digest()
    this.#cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  }

  readonly bytes = (size: number): Buffer => this.#cipher.update(Buffer.alloc(size))

  /** 0 to below 1. */
  fraction(): number {
    return this.bytes(6).readUIntBE(0, 6) / 2 ** 48
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
  }
}
