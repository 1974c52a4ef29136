import { fail } from '@svc/contract/errors'
import { failFields } from '@svc/contract/fail-fields'
import { type FieldError, fieldError } from '@svc/contract/field-errors'
import { rfc3339 } from '@svc/kernel/time'
import { bigint, instant, integer, nullable, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'

/** What the partner sets and may change; every revision has its own. */
const TERMS = {
  /** Coins for each event. */
  amount: bigint,
  title: text,
  description: nullable(text),
  status: textOf<'ACTIVE' | 'INACTIVE'>(),
  validFrom: instant,
  /** The first instant after its validity; `null` for no end. */
  validTo: nullable(instant),
  perUserDailyLimit: nullable(bigint),
  coinsExpireAfterDays: nullable(integer),
  /** `null` for at once, or after `activateAfterDays` (decision K10). */
  activation: nullable(textOf<'CONFIRMATION'>()),
  activateAfterDays: nullable(integer),
  revision: integer,
  modifiedAt: instant,
}

/** Event definitions of the points area: how many coins an event awards (spec section 2.6, decisions K1, K4). */
export const coinConfigs = table('coin_configs', 'c', ['partnerId', 'coinConfigId'], {
  coinConfigId: text,
  partnerId: text,
  /** `DEFAULT` is the partner's fallback; `CUSTOM` is for one company and outranks it. */
  configuration: textOf<'DEFAULT' | 'CUSTOM'>(),
  companyId: nullable(text),
  event: text,
  ...TERMS,
  createdAt: instant,
})
export type CoinConfig = RowOf<typeof coinConfigs>

/** The terms of a configuration from each revision on. */
export const coinConfigRevisions = table(
  'coin_config_revisions',
  'r',
  ['partnerId', 'coinConfigId', 'revision'],
  { coinConfigId: text, partnerId: text, ...TERMS },
)

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
    activation: Type.Optional(
      Type.Enum(['CONFIRMATION'], {
        description:
          'Awards are pending until each is confirmed; absent where they become active by themselves',
      }),
    ),
    activateAfterDays: Type.Optional(
      Type.Integer({ description: 'Awards are pending for so many days; absent for none' }),
    ),
    revision: Type.Integer({ description: 'Counts changes from 1; the `ETag` of the lookup' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    modifiedOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { title: 'CoinConfig', additionalProperties: false },
)

export const CoinConfigParams = Type.Object({
  coinConfigId: Type.String({ description: 'The id that the create operation returned' }),
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
  activation: config.activation ?? undefined,
  activateAfterDays: config.activateAfterDays ?? undefined,
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
/** Whether the id has the form of our ids; any other gets the response for a missing one (decision A12). */
export const looksLikeCoinConfigId = (text: string): boolean => ID.test(text)

/** Whether the configuration counts for an event at this instant. */
export const coversInstant = ({ validFrom, validTo }: CoinConfig, at: Date): boolean =>
  validFrom <= at && (validTo === null || at < validTo)

const sameScope = (one: CoinConfig, other: CoinConfig): boolean =>
  one.partnerId === other.partnerId && one.event === other.event && one.companyId === other.companyId

const overlap = (one: CoinConfig, other: CoinConfig): boolean =>
  (one.validTo === null || other.validFrom < one.validTo) &&
  (other.validTo === null || one.validFrom < other.validTo)

/** Decision K6: at every instant at most one active configuration applies to an event of a partner or of a company. */
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

/** Whether its awards are pending at first (decision K10). */
export const delays = ({ activation, activateAfterDays }: CoinConfig): boolean =>
  activation !== null || activateAfterDays !== null

/** The rules between fields, which no schema can say: all errors at once (decision F4). */
export function requireConsistent(config: CoinConfig): void {
  const { activateAfterDays, activation, amount, perUserDailyLimit, validFrom, validTo } = config
  const errors: FieldError[] = []
  if (validTo !== null && validTo <= validFrom)
    errors.push(fieldError('validTo', 'minimum', 'must be later than validFrom'))
  if (perUserDailyLimit !== null && perUserDailyLimit < amount)
    errors.push(fieldError('perUserDailyLimit', 'minimum', 'must be at least amount'))
  if (activation !== null && activateAfterDays !== null)
    errors.push(fieldError('activateAfterDays', 'not_allowed', 'is not accepted together with activation'))
  failFields(...errors)
}
