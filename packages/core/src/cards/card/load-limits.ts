import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import {
  type LoadLimits as LimitsOfSettings,
  RELOADABLE_TYPES,
  type ReloadableType,
} from '@svc/contract/load-limits'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import { ACCOUNT_TYPES, type AccountType } from '../account/card-account.ts'

/** What a card of one account type is loaded with at most, and how much it holds. */
interface LoadLimits {
  readonly loadPaise: Paise
  readonly dayPaise: Paise
  readonly monthPaise: Paise
  readonly balancePaise: Paise
}

/** What the settings say of loads: of gift cards (decision C7), and of cards that are loaded again (decision C26). */
export interface LoadTerms {
  readonly giftPaise: Paise
  readonly byType: Readonly<Record<ReloadableType, LoadLimits>>
}

const inPaise = (rupees: number): Paise => paise(BigInt(rupees) * 100n)
const limitsOf = ({ load, day, month, balance }: LimitsOfSettings): LoadLimits => ({
  loadPaise: inPaise(load),
  dayPaise: inPaise(day),
  monthPaise: inPaise(month),
  balancePaise: inPaise(balance),
})

export const loadTermsOf = (
  config: Pick<Config, 'CARD_LOAD_MAX_RUPEES' | 'CARD_LOAD_LIMITS'>,
): LoadTerms => ({
  giftPaise: inPaise(config.CARD_LOAD_MAX_RUPEES),
  byType: Object.fromEntries(
    RELOADABLE_TYPES.map((type) => [type, limitsOf(config.CARD_LOAD_LIMITS[type])]),
  ) as LoadTerms['byType'],
})

/** Of an account type whose cards are loaded again. */
export const isReloadable = (type: AccountType): type is ReloadableType => type !== 'GIFT'

const smallest = ({ loadPaise, dayPaise, monthPaise, balancePaise }: LoadLimits): Paise =>
  [loadPaise, dayPaise, monthPaise, balancePaise].reduce((least, limit) => (limit < least ? limit : least))

/** What a new card is loaded with at most. */
const firstLoadMax = ({ giftPaise, byType }: LoadTerms, type: AccountType): Paise =>
  isReloadable(type) ? smallest(byType[type]) : giftPaise

/** The same of the account type that allows most, for those who do not know which one it is. */
export const largestFirstLoad = (terms: LoadTerms): Paise =>
  (Object.keys(ACCOUNT_TYPES) as AccountType[])
    .map((type) => firstLoadMax(terms, type))
    .reduce((most, limit) => (limit > most ? limit : most))

/** Throws `load_over_limit`; `card`: which one, at the beginning of a sentence. */
export function requireAtMost(most: Paise, loadPaise: Paise | undefined, card: string): void {
  if (loadPaise !== undefined && loadPaise > most)
    fail('load_over_limit', { description: `${card} holds at most ${formatRupees(most)} rupees` })
}

/** Of the first load of a card. Throws `load_over_limit`. */
export const requireFirstLoad = (terms: LoadTerms, type: AccountType, loadPaise: Paise | undefined): void =>
  requireAtMost(
    firstLoadMax(terms, type),
    loadPaise,
    isReloadable(type) ? `A new card of type ${type}` : 'A gift card',
  )

/** What a card was loaded with before, and what is on it. */
export interface Loaded {
  readonly dayPaise: bigint
  readonly monthPaise: bigint
  readonly balancePaise: bigint
}

/** Throws `load_over_limit`, naming the limit and what is left of it. */
export function requireWithinLimits(limits: LoadLimits, loaded: Loaded, amountPaise: Paise): void {
  const rules = [
    ['A load is at most', limits.loadPaise, 0n],
    ['A day’s loads of the card are at most', limits.dayPaise, loaded.dayPaise],
    ['A month’s loads of the card are at most', limits.monthPaise, loaded.monthPaise],
    ['After a load the card holds at most', limits.balancePaise, loaded.balancePaise],
  ] as const
  for (const [rule, limit, before] of rules) {
    if (before + amountPaise <= limit) continue
    const left = before === 0n ? '' : `; ${formatRupees(before < limit ? limit - before : 0n)} are left`
    fail('load_over_limit', { description: `${rule} ${formatRupees(limit)} rupees${left}` })
  }
}
