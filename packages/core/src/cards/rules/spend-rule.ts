import { type Paise, paiseToWire } from '@svc/kernel/money'
import { isStated } from '@svc/kernel/reading'
import { rfc3339 } from '@svc/kernel/time'
import {
  flag,
  instant,
  integer,
  nullable,
  paise,
  type RowOf,
  table,
  text,
  texts,
} from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type CardMessage, NETWORK_CHANNELS, type NetworkChannel } from '../rail/card-message.ts'
import type { DeclineReason } from '../rail/response-codes.ts'

/** What a partner permits its cards (decision C28). Rules never change: one is replaced or removed. */
export const spendRules = table('spend_rules', 'r', ['partnerId', 'spendRuleId'], {
  partnerId: text,
  spendRuleId: text,
  name: text,
  /** Of one card, or of the cards of one card account; without both of all cards of the partner. */
  svcCardId: nullable(text),
  cardAccountId: nullable(text),
  /** The authorisations that it is about; `null`: whatever they say. */
  channels: nullable(texts<NetworkChannel>()),
  mccs: nullable(texts()),
  exceptMccs: nullable(texts()),
  countries: nullable(texts()),
  exceptCountries: nullable(texts()),
  /** What it permits of them; without any of these none. */
  transactionPaise: nullable(paise),
  dayPaise: nullable(paise),
  monthPaise: nullable(paise),
  dayCount: nullable(integer),
  monthCount: nullable(integer),
  /** Whether each card counts for itself, and not all of them together. */
  perCard: flag,
  /** Under what it counts: its own id, or that of the rule that it replaced. */
  counter: text,
  createdAt: instant,
  removedAt: nullable(instant),
})
export type SpendRule = RowOf<typeof spendRules>

const LIMITS = ['transactionPaise', 'dayPaise', 'monthPaise', 'dayCount', 'monthCount'] as const
export type SpendLimits = Pick<SpendRule, (typeof LIMITS)[number]>
/** What a rule is, without who set it when. */
export type SpendTerms = Pick<
  SpendRule,
  | keyof SpendLimits
  | 'svcCardId'
  | 'cardAccountId'
  | 'channels'
  | 'mccs'
  | 'exceptMccs'
  | 'countries'
  | 'exceptCountries'
  | 'perCard'
>

/** What was authorised under a counter in the day and its month, less what was given back. */
export interface SpendUse {
  readonly day: string
  readonly dayPaise: bigint
  readonly monthPaise: bigint
  readonly dayCount: number
  readonly monthCount: number
}

export const unusedIn = (day: string): SpendUse => ({
  day,
  dayPaise: 0n,
  monthPaise: 0n,
  dayCount: 0,
  monthCount: 0,
})

/** A rule that is about an authorisation, with what was used of it before. */
export interface RuleInForce extends SpendLimits {
  readonly spendRuleId: string
  readonly counter: string
  readonly use: SpendUse
}

/** What conditions are about. */
export type Stated = Pick<CardMessage, 'channel' | 'mcc' | 'merchantCountry'>

/** `5411`, or `3000-3299` for all from one to the other. */
const covers = (ranges: readonly string[], code: string): boolean =>
  ranges.some((range) => {
    const [from = '', to = from] = range.split('-')
    return from <= code && code <= to
  })
const formed = (value: string | null, form: RegExp): string => {
  const code = value?.trim().toUpperCase() ?? ''
  return form.test(code) ? code : ''
}

const isUnreadable = (value: string | null, code: string): boolean => code === '' && isStated(value)

/**
 * Whether a rule is about an authorisation. A code that is not stated is in no list; one that is stated and not in its form may
 * be any, so that a rule which asks for it is about it (decision Q11).
 */
export function isRuleAbout(rule: SpendTerms, { channel, mcc, merchantCountry }: Stated): boolean {
  const code = formed(mcc, /^\d{4}$/)
  const country = formed(merchantCountry, /^[A-Z]{2}$/)
  return (
    (rule.channels === null || (channel !== null && rule.channels.includes(channel))) &&
    (rule.mccs === null || covers(rule.mccs, code) || isUnreadable(mcc, code)) &&
    !(rule.exceptMccs !== null && covers(rule.exceptMccs, code)) &&
    (rule.countries === null || rule.countries.includes(country) || isUnreadable(merchantCountry, country)) &&
    !(rule.exceptCountries?.includes(country) ?? false)
  )
}

export const limitsOf = (rule: SpendLimits): SpendLimits => ({
  transactionPaise: rule.transactionPaise,
  dayPaise: rule.dayPaise,
  monthPaise: rule.monthPaise,
  dayCount: rule.dayCount,
  monthCount: rule.monthCount,
})

/** Whether a rule counts in days or months. */
export const isCounting = ({ dayPaise, monthPaise, dayCount, monthCount }: SpendLimits): boolean =>
  [dayPaise, monthPaise, dayCount, monthCount].some((limit) => limit !== null)

/** Under what an authorisation of a card counts for a rule. */
export const counterOf = (
  { perCard, svcCardId, counter }: Pick<SpendRule, 'perCard' | 'svcCardId' | 'counter'>,
  ofCard: string,
): string => (perCard && svcCardId === null ? `${counter} ${ofCard}` : counter)

/** `totalPaise`: of the whole transaction; `addedPaise`: what is to be held besides; `isNew`: whether it is one more. */
interface Asked {
  readonly totalPaise: bigint
  readonly addedPaise: bigint
  readonly isNew: boolean
}

/** Why a rule declines an authorisation that it is about; `undefined`: it permits it. */
export function refusalByRule(
  { use, ...rule }: RuleInForce,
  { totalPaise, addedPaise, isNew }: Asked,
): DeclineReason | undefined {
  if (LIMITS.every((name) => rule[name] === null)) return 'blocked_by_rule'
  const exceeds = (limit: bigint | number | null, wanted: bigint | number) => limit !== null && wanted > limit
  const more = isNew ? 1 : 0
  if (exceeds(rule.transactionPaise, totalPaise)) return 'over_rule_transaction_limit'
  if (exceeds(rule.dayPaise, use.dayPaise + addedPaise)) return 'over_rule_day_limit'
  if (exceeds(rule.monthPaise, use.monthPaise + addedPaise)) return 'over_rule_month_limit'
  if (more && exceeds(rule.dayCount, use.dayCount + more)) return 'over_rule_day_count'
  if (more && exceeds(rule.monthCount, use.monthCount + more)) return 'over_rule_month_count'
  return undefined
}

/** A use after what a hold of a day uses has changed. */
export function afterUse(use: SpendUse, day: string, before: bigint, after: bigint): SpendUse {
  const count = Number(after > 0n) - Number(before > 0n)
  const [inDay, inMonth] = [day === use.day, day.slice(0, 7) === use.day.slice(0, 7)]
  return {
    day: use.day,
    dayPaise: use.dayPaise + (inDay ? after - before : 0n),
    monthPaise: use.monthPaise + (inMonth ? after - before : 0n),
    dayCount: use.dayCount + (inDay ? count : 0),
    monthCount: use.monthCount + (inMonth ? count : 0),
  }
}

const ID = /^spr_[0-9a-z]{26}$/
/** Whether the id has the form of our ids; any other gets the response for a missing one (decision A12). */
export const looksLikeSpendRuleId = (id: string): boolean => ID.test(id)

const optional = (schema: Parameters<typeof Type.Optional>[0]) => Type.Optional(schema)
const rupees = (description: string) => optional(Type.Number({ description: `Rupees ${description}` }))
const count = (description: string) =>
  optional(Type.Integer({ description: `Authorisations ${description}` }))
const list = (description: string) => optional(Type.Array(Type.String(), { description }))

export const SpendRuleRecord = Type.Object(
  {
    spendRuleId: Type.String(),
    name: Type.String(),
    status: Type.Enum(['in_force', 'removed']),
    svcCardId: optional(Type.String({ description: 'Of this card alone' })),
    cardAccountId: optional(
      Type.String({
        description: 'Of the cards of this card account; without both of all cards of the partner',
      }),
    ),
    channels: optional(Type.Array(Type.Enum([...NETWORK_CHANNELS]))),
    mccs: list('Merchant category codes that it is about'),
    exceptMccs: list('It is about all but these'),
    countries: list('Countries of merchants that it is about'),
    exceptCountries: list('It is about all but these'),
    transactionAmount: rupees('that one transaction may have'),
    dayAmount: rupees('that may be authorised in a business day'),
    monthAmount: rupees('that may be authorised in a calendar month'),
    dayCount: count('that a business day may have'),
    monthCount: count('that a calendar month may have'),
    perCard: Type.Boolean({
      description: 'Whether each card counts for itself, and not all of them together',
    }),
    createdOn: Type.String({ description: 'RFC 3339; it counts from then on' }),
    removedOn: optional(Type.String({ description: 'RFC 3339; absent while it is in force' })),
  },
  { title: 'SpendRule', additionalProperties: false },
)

const present = <T, W>(value: T | null, wire: (value: T) => W): W | undefined =>
  value === null ? undefined : wire(value)

export const spendRuleToWire = (rule: SpendRule, timeZone: string) => ({
  spendRuleId: rule.spendRuleId,
  name: rule.name,
  status: rule.removedAt === null ? 'in_force' : 'removed',
  svcCardId: rule.svcCardId ?? undefined,
  cardAccountId: rule.cardAccountId ?? undefined,
  channels: rule.channels ?? undefined,
  mccs: rule.mccs ?? undefined,
  exceptMccs: rule.exceptMccs ?? undefined,
  countries: rule.countries ?? undefined,
  exceptCountries: rule.exceptCountries ?? undefined,
  transactionAmount: present<Paise, number>(rule.transactionPaise, paiseToWire),
  dayAmount: present<Paise, number>(rule.dayPaise, paiseToWire),
  monthAmount: present<Paise, number>(rule.monthPaise, paiseToWire),
  dayCount: rule.dayCount ?? undefined,
  monthCount: rule.monthCount ?? undefined,
  perCard: rule.perCard,
  createdOn: rfc3339(rule.createdAt, timeZone),
  removedOn: present(rule.removedAt, (at) => rfc3339(at, timeZone)),
})

export const spendRuleEvent = (rule: SpendRule, eventId: string, timeZone: string): OutboxEvent => ({
  eventId,
  tenantId: rule.partnerId,
  type: rule.removedAt === null ? 'spend_rule.created' : 'spend_rule.removed',
  objectId: rule.spendRuleId,
  payload: spendRuleToWire(rule, timeZone),
  createdAt: rule.removedAt ?? rule.createdAt,
})
