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
