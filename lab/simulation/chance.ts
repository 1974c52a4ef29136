/** Everything that a run leaves to chance, drawn from its seed: the same seed draws the same. */
export class Chance {
  readonly #state: Uint32Array

  /** A stream of its own for each name, so that one consumer's draws do not shift another's. */
  constructor(seed: number, stream: string) {
    let hash = 0x811c9dc5 ^ seed
    for (const char of `${stream} ${seed}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193)
    this.#state = new Uint32Array([hash, seed, hash ^ 0x9e3779b9, 1])
    for (let i = 0; i < 20; i++) this.#next()
  }

  /** sfc32, of PractRand. */
  #next(): number {
    const s = this.#state
    const t = (s[0]! + s[1]! + s[3]!) >>> 0
    s[3] = s[3]! + 1
    s[0] = s[1]! ^ (s[1]! >>> 9)
    s[1] = s[2]! + (s[2]! << 3)
    s[2] = (s[2]! << 21) | (s[2]! >>> 11)
    s[2] = s[2] + t
    return t
  }

  /** 0 to below 1. */
  fraction(): number {
    return this.#next() / 2 ** 32
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1))
  }

  happens(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.fraction() * items.length)]!
  }

  /** One of the names, as often as its weight says. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][]
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) if ((left -= weight) < 0) return name
    return entries.at(-1)![0]
  }

  bytes = (size: number): Buffer => {
    const bytes = Buffer.allocUnsafe(size)
    for (let i = 0; i < size; i++) bytes[i] = this.#next() >>> 24
    return bytes
  }
}
