import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { rfc3339 } from '../kernel/time.ts'
import type { OutboxEvent } from '../platform/outbox.ts'

/** An event definition of the points area: how many coins the event awards (spec section 2.6, decisions K1, K4). */
export interface CoinConfig {
  readonly coinConfigId: string
  readonly partnerId: string
  /** `DEFAULT` is the partner's fallback; `CUSTOM` is for one company and outranks it. */
  readonly configuration: 'DEFAULT' | 'CUSTOM'
  readonly companyId: string | null
  readonly event: string
  readonly amount: bigint
  readonly title: string
  readonly description: string | null
  readonly status: 'ACTIVE' | 'INACTIVE'
  readonly validFrom: Date
  /** The first instant that is out of it; `null` for no end. */
  readonly validTo: Date | null
  readonly perUserDailyLimit: bigint | null
  readonly coinsExpireAfterDays: number | null
  readonly revision: number
  readonly createdAt: Date
  readonly modifiedAt: Date
}

const AMOUNT_MAX = 1_000_000_000
const DAYS_MAX = 3_650

const instant = (description: string) =>
  Type.String({
    format: 'date-time',
    'x-rule': 'must be an RFC 3339 date-time with a zone, such as 2027-01-31T18:30:00+05:30',
    description,
  })
const plain = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description })
const coins = (description: string) => Type.Integer({ minimum: 1, maximum: AMOUNT_MAX, description })

export const EventName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$',
  'x-rule': 'must be 1 to 64 letters, digits and _ . : -, the first of them a letter or a digit',
  description: 'Name of the event; never changes',
})
export const Coins = coins('Whole coins')

/** The fields that a partner sets and may change. */
export const TERMS = {
  amount: coins('Coins for each event'),
  title: plain(100, 'Shown to the holder'),
  description: plain(500, 'For the partner’s own use'),
  validFrom: instant('First instant of validity; the time of creation by default'),
  validTo: instant('First instant after it; no end by default'),
  perUserDailyLimit: coins('Most coins for one user in one business day; at least `amount`'),
  coinsExpireAfterDays: Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    description: 'Days of 24 hours that the coins last; they last for ever by default',
  }),
}

export const CoinConfigRecord = Type.Object(
  {
    coinConfigId: Type.String(),
    configuration: Type.Enum(['DEFAULT', 'CUSTOM']),
    companyId: Type.Optional(Type.String({ description: 'Present for `CUSTOM`' })),
    event: Type.String(),
    amount: Type.Integer({ description: 'Whole coins for each event' }),
    title: Type.String(),
    description: Type.Optional(Type.String()),
    status: Type.Enum(['ACTIVE', 'INACTIVE']),
    validFrom: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    validTo: Type.Optional(Type.String({ description: 'First instant after it; absent for no end' })),
    perUserDailyLimit: Type.Optional(Type.Integer({ description: 'Coins for one user in one business day' })),
    coinsExpireAfterDays: Type.Optional(Type.Integer()),
    revision: Type.Integer({ description: 'Counts changes from 1; the `ETag` of the look-up' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    modifiedOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { title: 'CoinConfig', additionalProperties: false },
)

export const CoinConfigParams = Type.Object({
  coinConfigId: Type.String({ description: 'The id that the create operation answered' }),
})

const present = <T, W>(value: T | null, wire: (value: T) => W): W | undefined =>
  value === null ? undefined : wire(value)

/** The record as callers see it (decision K1); `undefined` fields are left out of the JSON text. */
export const toWire = (config: CoinConfig, timeZone: string) => ({
  coinConfigId: config.coinConfigId,
  configuration: config.configuration,
  companyId: config.companyId ?? undefined,
  event: config.event,
  amount: Number(config.amount),
  title: config.title,
  description: config.description ?? undefined,
  status: config.status,
  validFrom: rfc3339(config.validFrom, timeZone),
  validTo: present(config.validTo, (at) => rfc3339(at, timeZone)),
  perUserDailyLimit: present(config.perUserDailyLimit, Number),
  coinsExpireAfterDays: config.coinsExpireAfterDays ?? undefined,
  revision: config.revision,
  createdOn: rfc3339(config.createdAt, timeZone),
  modifiedOn: rfc3339(config.modifiedAt, timeZone),
})

/** RFC 9110 section 8.8.3: the same revision is the same bytes. */
export const etagOf = ({ revision }: { readonly revision: number }): string => `"${revision}"`

export const coinConfigEvent = (config: CoinConfig, eventId: string, timeZone: string): OutboxEvent => ({
  eventId,
  tenantId: config.partnerId,
  type: 'coin_config.changed',
  objectId: config.coinConfigId,
  payload: toWire(config, timeZone),
  createdAt: config.modifiedAt,
})

const ID = /^ccf_[0-9a-z]{26}$/
/** Whether the id can be one of ours; any other is answered like a missing one (decision A12). */
export const looksLikeCoinConfigId = (text: string): boolean => ID.test(text)

/** Whether the configuration counts for an event at this instant. */
export const coversInstant = ({ validFrom, validTo }: CoinConfig, at: Date): boolean =>
  validFrom <= at && (validTo === null || at < validTo)

const sameScope = (one: CoinConfig, other: CoinConfig): boolean =>
  one.partnerId === other.partnerId && one.event === other.event && one.companyId === other.companyId

const overlap = (one: CoinConfig, other: CoinConfig): boolean =>
  (one.validTo === null || other.validFrom < one.validTo) &&
  (other.validTo === null || one.validFrom < other.validTo)

/** Decision K6: at every instant at most one active configuration answers for an event of a partner or of a company. */
export function requireNoOverlap(config: CoinConfig, others: Iterable<CoinConfig>): void {
  if (config.status !== 'ACTIVE') return
  for (const other of others)
    if (
      other.coinConfigId !== config.coinConfigId &&
      other.status === 'ACTIVE' &&
      sameScope(config, other) &&
      overlap(config, other)
    )
      fail('coin_config_overlaps', {
        description: `${other.coinConfigId} is active for this event at the same time: end or deactivate it first`,
      })
}

/** The rules between fields, which no schema can say: all faults at once (decision F4). */
export function requireConsistent({ amount, perUserDailyLimit, validFrom, validTo }: CoinConfig): void {
  const faults: string[] = []
  if (validTo !== null && validTo <= validFrom) faults.push('validTo: must be later than validFrom')
  if (perUserDailyLimit !== null && perUserDailyLimit < amount)
    faults.push('perUserDailyLimit: must be at least amount')
  if (faults.length > 0) fail('validation_failed', { description: faults.join('; ') })
}
