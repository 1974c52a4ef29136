const DAY_MS = 86_400_000

interface ModelLot {
  readonly id: string
  readonly amount: number
  readonly expiresMs: number
  remaining: number
}

export interface ModelConfig {
  amount: number
  limit: number | undefined
  days: number | undefined
  active: boolean
}

/** Coins of one user as anyone would write them down on paper: no batches, no locks, no ledger. */
export class CoinModel {
  lots: ModelLot[] = []
  spent = 0
  expired = 0
  readonly #awarded = new Map<string, number>()

  expire(nowMs: number): void {
    for (const lot of this.lots)
      if (lot.expiresMs <= nowMs) {
        this.expired += lot.remaining
        lot.remaining = 0
      }
  }

  get active(): number {
    return this.lots.reduce((sum, { remaining }) => sum + remaining, 0)
  }

  balance(nowMs: number) {
    this.expire(nowMs)
    return { active: this.active, pending: 0, expired: this.expired, spent: this.spent }
  }

  /** The error word that the award must be refused with. */
  refusal(config: ModelConfig, key: string): string | undefined {
    if (!config.active) return 'no_coin_config'
    const today = this.#awarded.get(key) ?? 0
    return config.limit !== undefined && today + config.amount > config.limit
      ? 'coin_daily_limit_reached'
      : undefined
  }

  award(id: string, amount: number, expiresMs: number, key = ''): void {
    this.#awarded.set(key, (this.#awarded.get(key) ?? 0) + amount)
    this.lots.push({ id, amount, remaining: amount, expiresMs })
  }

  /** Which lots gave how much, the oldest first; `undefined` when there is too little. */
  redeem(amount: number): { allocationId: string; amount: number }[] | undefined {
    if (this.active < amount) return undefined
    const taken = new Map<ModelLot, number>()
    let left = amount
    // Sorting is stable: of lots that expire at once, or never, the oldest goes first.
    for (const lot of this.lots.toSorted((a, b) =>
      a.expiresMs === b.expiresMs ? 0 : a.expiresMs - b.expiresMs,
    )) {
      const part = Math.min(lot.remaining, left)
      if (part > 0) taken.set(lot, part)
      lot.remaining -= part
      left -= part
    }
    this.spent += amount
    return this.lots.flatMap((lot) =>
      taken.has(lot) ? [{ allocationId: lot.id, amount: taken.get(lot)! }] : [],
    )
  }
}

export const expiryMs = (createdMs: number, days: number | undefined): number =>
  days === undefined ? Number.POSITIVE_INFINITY : createdMs + days * DAY_MS
