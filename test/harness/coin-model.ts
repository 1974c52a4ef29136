const DAY_MS = 86_400_000

interface ModelLot {
  readonly id: string
  readonly amount: number
  expiresMs: number
  /** When it becomes active by itself; absent once it is, and for confirmation. */
  activatesMs?: number
  /** Days that it lasts once it is confirmed. */
  readonly days?: number | undefined
  pending: number
  remaining: number
  spent: number
  isVoided?: true
}

/** How an award becomes active: at once, after days, or by confirmation. */
export type ModelActivation = 'at once' | 'after a day' | 'confirmed'

export interface ModelConfig {
  amount: number
  limit: number | undefined
  days: number | undefined
  active: boolean
  activation: ModelActivation
}

/** Coins of one user as anyone would write them down on paper: no batches, no locks, no ledger. */
export class CoinModel {
  lots: ModelLot[] = []
  spent = 0
  expired = 0
  voided = 0
  readonly #awarded = new Map<string, number>()

  /** What is due becomes active, then what is due expires. */
  expire(nowMs: number): void {
    for (const lot of this.lots)
      if (lot.pending > 0 && lot.activatesMs !== undefined && lot.activatesMs <= nowMs) activate(lot)
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
    const { active, expired, spent, voided } = this
    return { active, pending: this.pending, expired, spent, voided }
  }

  /** Allocations that wait for confirmation. */
  get unconfirmed(): readonly string[] {
    return this.lots.filter((lot) => lot.pending > 0 && lot.activatesMs === undefined).map(({ id }) => id)
  }

  get pending(): number {
    return this.lots.reduce((sum, { pending }) => sum + pending, 0)
  }

  /** The error code that the award must be refused with. */
  refusal(config: ModelConfig, key: string): string | undefined {
    if (!config.active) return 'no_coin_config'
    const today = this.#awarded.get(key) ?? 0
    return config.limit !== undefined && today + config.amount > config.limit
      ? 'coin_daily_limit_reached'
      : undefined
  }

  award(id: string, amount: number, expiresMs: number, key = ''): void {
    this.#awarded.set(key, (this.#awarded.get(key) ?? 0) + amount)
    this.lots.push({ id, amount, pending: 0, remaining: amount, spent: 0, expiresMs })
  }

  /** The same, of an award that is not active yet. */
  awardPending(id: string, amount: number, when: Pick<ModelLot, 'activatesMs' | 'days'>, key = ''): void {
    this.award(id, amount, Number.POSITIVE_INFINITY, key)
    const lot = this.lots.at(-1)!
    const { activatesMs } = when
    const expiresMs = activatesMs === undefined ? lot.expiresMs : expiryMs(activatesMs, when.days)
    Object.assign(lot, when, { pending: amount, remaining: 0, expiresMs })
  }

  /** The error code that a confirmation must be refused with. */
  confirm(id: string, nowMs: number): string | undefined {
    const lot = this.lots.find((one) => one.id === id)!
    if (lot.isVoided) return 'coin_allocation_voided'
    activate(lot)
    lot.expiresMs = expiryMs(nowMs, lot.days)
    return undefined
  }

  /** What a void takes of the lot and, where `wallet`, of others; the soonest to expire first. */
  void(id: string, wallet: boolean): { amount: number; shortfall: number; pending: boolean } {
    const lot = this.lots.find((one) => one.id === id)!
    const own = lot.pending + lot.remaining
    const pending = lot.pending > 0
    Object.assign(lot, { pending: 0, remaining: 0, isVoided: true })
    const taken = wallet ? Math.min(lot.spent, this.active) : 0
    this.#take(taken)
    this.voided += own + taken
    return { amount: own + taken, shortfall: lot.spent - taken, pending }
  }

  /** Which lots gave how much, the oldest first; `undefined` when there is too little. */
  redeem(amount: number): { allocationId: string; amount: number }[] | undefined {
    if (this.active < amount) return undefined
    const taken = this.#take(amount)
    for (const [lot, part] of taken) lot.spent += part
    this.spent += amount
    return this.lots.flatMap((lot) =>
      taken.has(lot) ? [{ allocationId: lot.id, amount: taken.get(lot)! }] : [],
    )
  }

  #take(amount: number): Map<ModelLot, number> {
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
    return taken
  }
}

function activate(lot: ModelLot): void {
  lot.remaining = lot.pending
  lot.pending = 0
}

export const expiryMs = (createdMs: number, days: number | undefined): number =>
  days === undefined ? Number.POSITIVE_INFINITY : createdMs + days * DAY_MS
