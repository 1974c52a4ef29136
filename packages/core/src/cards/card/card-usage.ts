/** What a card spent less what was refunded, in paise, in the business zone's calendar. */
export interface Usage {
  readonly dayPaise: bigint
  readonly monthPaise: bigint
  readonly yearPaise: bigint
  readonly lifePaise: bigint
  /** The instant up to which it counts; absent for a new card. */
  readonly usedUntil?: Date
}

export const UNUSED: Usage = { dayPaise: 0n, monthPaise: 0n, yearPaise: 0n, lifePaise: 0n }

/** What became of a card’s money besides its use: loads after its first one, unloads, and what is on its way back. */
export interface Loads {
  readonly reloadedPaise: bigint
  readonly unloadedPaise: bigint
  /** The last load after the first one; `null` for none. */
  readonly lastLoadPaise: bigint | null
  /** Waits to return to the card account (decision C21). */
  readonly returningPaise: bigint
}

export const NOT_RELOADED: Loads = {
  reloadedPaise: 0n,
  unloadedPaise: 0n,
  lastLoadPaise: null,
  returningPaise: 0n,
}
