import { fail } from '@svc/contract/errors'
import type { AwardTerms } from './award-coins.ts'
import { type CoinConfig, coversInstant, delays } from './coin-config.ts'

/** An event that happened to a user, for which coins are requested. */
export interface CoinEvent {
  readonly partnerId: string
  readonly companyId: string
  readonly event: string
  readonly occurredAt: Date
}

export type Verdict = 'APPLIES' | 'OUTRANKED' | 'NOT_YET_VALID' | 'NO_LONGER_VALID'

/** A configuration that was looked at, and what came of it. */
export interface Considered {
  readonly config: CoinConfig
  readonly verdict: Verdict
}

/**
 * The active configurations of an event and which of them applies: the company's own outranks the partner's fallback
 * (decision K3). Constraints see to it that at most one of each kind is valid at an instant.
 */
export function considerConfigs(configs: readonly CoinConfig[], coinEvent: CoinEvent): Considered[] {
  const own = configs.filter(
    (config) =>
      config.partnerId === coinEvent.partnerId &&
      config.event === coinEvent.event &&
      config.status === 'ACTIVE' &&
      (config.companyId === null || config.companyId === coinEvent.companyId),
  )
  const custom = own.some(
    (config) => config.configuration === 'CUSTOM' && coversInstant(config, coinEvent.occurredAt),
  )
  return own.map((config) => ({ config, verdict: verdictOn(config, coinEvent.occurredAt, custom) }))
}

function verdictOn(config: CoinConfig, at: Date, hasCustom: boolean): Verdict {
  if (config.validFrom > at) return 'NOT_YET_VALID'
  if (!coversInstant(config, at)) return 'NO_LONGER_VALID'
  return hasCustom && config.configuration === 'DEFAULT' ? 'OUTRANKED' : 'APPLIES'
}

/** Decisions K5, K8: an award that would go over the day's limit is refused whole, and no other configuration steps in. */
export function chooseConfig(
  considered: readonly Considered[],
  awardedToday: (coinConfigId: string) => bigint,
): CoinConfig {
  const config = considered.find(({ verdict }) => verdict === 'APPLIES')?.config ?? fail('no_coin_config')
  const { perUserDailyLimit, amount, coinConfigId } = config
  if (perUserDailyLimit !== null && awardedToday(coinConfigId) + amount > perUserDailyLimit)
    fail('coin_daily_limit_reached')
  return config
}

const DAY_MS = 86_400_000

const daysAfter = (days: number | null, at: Date): Date | null =>
  days === null ? null : new Date(at.getTime() + days * DAY_MS)

/** Decision K9: days of 24 hours from the instant at which the coins become active. */
export const expiryOf = (
  { coinsExpireAfterDays }: Pick<CoinConfig, 'coinsExpireAfterDays'>,
  activeFrom: Date,
): Date | null => daysAfter(coinsExpireAfterDays, activeFrom)

/** When an award becomes active and when its coins are gone, as far as that is known now (decision K10). */
export function termsOf(config: CoinConfig, newActivationId: string, now: Date): AwardTerms {
  const activatesAt = daysAfter(config.activateAfterDays, now)
  return {
    activationId: delays(config) ? newActivationId : null,
    activatesAt,
    expiresAt: config.activation === 'CONFIRMATION' ? null : expiryOf(config, activatesAt ?? now),
  }
}
