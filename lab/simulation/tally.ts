/** An amount of which parts may or may not have come about: what a caller knows after lost answers. */
export class Tally {
  #certain = 0n
  readonly #open = new Map<object, bigint>()

  add(amount: bigint): void {
    this.#certain += amount
  }

  /** Something was requested whose outcome is unknown to the caller. */
  maybe(by: object, amount: bigint): void {
    this.#open.set(by, amount)
  }

  /** Now its outcome is known. */
  settle(by: object): void {
    this.#open.delete(by)
  }

  get uncertain(): number {
    return this.#open.size
  }

  /** Whether the amount can be this, given any of the open parts. */
  allows(actual: bigint): boolean {
    let sums = new Set([this.#certain])
    for (const amount of this.#open.values())
      sums = new Set([...sums, ...[...sums].map((sum) => sum + amount)])
    return sums.has(actual)
  }

  /** The amount is seen to be this, and nothing that is open can change it any more. */
  collapse(actual: bigint): void {
    this.#certain = actual
    this.#open.clear()
  }

  toString(): string {
    return [this.#certain, ...[...this.#open.values()].map((amount) => `${amount}?`)].join(' + ')
  }
}
