import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { NETWORK_CHANNELS } from '@svc/core/cards/rail/card-message'
import { DECLINES, type DeclineReason } from '@svc/core/cards/rail/response-codes'
import { type Backtest, backtestSpendRules } from '@svc/core/cards/rules/backtest-spend-rules'
import type { Replayed } from '@svc/core/cards/rules/replay-authorizations'
import { createSpendRule, removeSpendRule } from '@svc/core/cards/rules/set-spend-rule'
import {
  isCounting,
  limitsOf,
  looksLikeSpendRuleId,
  type SpendRule,
  SpendRuleRecord,
  type SpendTerms,
  spendRules,
  spendRuleToWire,
} from '@svc/core/cards/rules/spend-rule'
import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { type Static, Type } from 'typebox'
import { Instant, Rupees, readInstant, readRupees } from '../http/fields.ts'
import { commandContract, operation, query, type Services, succeedWithCode } from '../http/operation.ts'
import { choiceFilter, idFilter, listOf, type Resource, showOf } from '../http/resource.ts'

const RULES = '/api/v0/partner/spend-rules'
const TAG = 'Spend rules'
const DAYS_BACK = 90

const RuleParams = Type.Object({ spendRuleId: Type.String({ description: 'One of your spend rules' }) })

/** Spend rules, as every reader sees and finds them (decision C28). */
export const spendRule = {
  titles: { tenant: 'SpendRule', operator: 'SpendRuleRow' },
  record: { schema: SpendRuleRecord, toWire: spendRuleToWire },
  looksLikeId: looksLikeSpendRuleId,
  from: { columns: spendRules.columns, table: 'spend_rules r', alias: 'r' },
  tenant: 'r.partner_id',
  keys: [{ sql: 'r.spend_rule_id', type: 'text' }],
  fields: {
    partnerId: { schema: Type.String(), of: ({ partnerId }) => partnerId, operatorOnly: true },
  },
  filters: {
    partnerId: { schema: idFilter('Of this partner'), sql: 'r.partner_id = ?', operatorOnly: true },
    svcCardId: { schema: idFilter('Of this card'), sql: 'r.of_id = ?' },
    cardAccountId: { schema: idFilter('Of this card account'), sql: 'r.of_id = ?' },
    status: {
      schema: choiceFilter(['in_force', 'removed']),
      sql: `(r.removed_at is null) = (? = 'in_force')`,
    },
  },
} satisfies Resource<SpendRule>

const codes = (pattern: string, rule: string, description: string) =>
  Type.Optional(
    Type.Array(Type.String({ pattern, 'x-rule': rule }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description,
    }),
  )
const MCC = ['^[0-9]{4}(-[0-9]{4})?$', 'must be a code such as 5411, or a range such as 3000-3299'] as const
const COUNTRY = ['^[A-Z]{2}$', 'must be two capital letters, such as IN'] as const
const amount = (description: string) =>
  Type.Optional(Rupees({ minimum: 0.01, maximum: 1e9, description: `Rupees ${description}` }))
const count = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description }))

const TERMS = {
  svcCardId: Type.Optional(Type.String({ description: 'One of your cards: the rule is of it alone' })),
  cardAccountId: Type.Optional(
    Type.String({
      description: 'One of your card accounts: the rule is of its cards; beside `svcCardId` that of the card',
    }),
  ),
  channels: Type.Optional(
    Type.Array(Type.Enum([...NETWORK_CHANNELS]), {
      minItems: 1,
      maxItems: 3,
      uniqueItems: true,
      description: 'It is about authorisations through these',
    }),
  ),
  mccs: codes(...MCC, 'It is about merchants of these categories'),
  exceptMccs: codes(...MCC, 'It is about merchants of all categories but these'),
  countries: codes(...COUNTRY, 'It is about merchants in these countries'),
  exceptCountries: codes(...COUNTRY, 'It is about merchants in all countries but these'),
  transactionAmount: amount('that one transaction may have'),
  dayAmount: amount('that may be authorised in a business day'),
  monthAmount: amount('that may be authorised in a calendar month'),
  dayCount: count('Authorisations that a business day may have'),
  monthCount: count('Authorisations that a calendar month may have'),
  perCard: Type.Optional(
    Type.Boolean({ description: 'True: each card counts for itself, and not all of them together' }),
  ),
}
export const SpendTermsRequest = Type.Object(TERMS, { additionalProperties: false })

/** What a request says of a rule; `at`: where its fields are, such as `create[0].`. */
export function readTerms(terms: Static<typeof SpendTermsRequest>, at = ''): SpendTerms {
  for (const [list, except] of [
    ['mccs', 'exceptMccs'],
    ['countries', 'exceptCountries'],
  ] as const)
    if (terms[list] && terms[except])
      failField(`${at}${except}`, 'not_allowed', `must not be sent together with ${list}`)
  for (const list of ['mccs', 'exceptMccs'] as const)
    for (const [i, range] of (terms[list] ?? []).entries())
      if (range.slice(5) && range.slice(0, 4) > range.slice(5))
        failField(`${at}${list}[${i}]`, 'format', 'must be a range from the lower code to the higher one')
  const read = {
    svcCardId: terms.svcCardId ?? null,
    cardAccountId: terms.cardAccountId ?? null,
    channels: terms.channels ?? null,
    mccs: terms.mccs ?? null,
    exceptMccs: terms.exceptMccs ?? null,
    countries: terms.countries ?? null,
    exceptCountries: terms.exceptCountries ?? null,
    transactionPaise: readRupees(`${at}transactionAmount`, terms.transactionAmount) ?? null,
    dayPaise: readRupees(`${at}dayAmount`, terms.dayAmount) ?? null,
    monthPaise: readRupees(`${at}monthAmount`, terms.monthAmount) ?? null,
    dayCount: terms.dayCount ?? null,
    monthCount: terms.monthCount ?? null,
  }
  const { svcCardId: _, cardAccountId: __, ...says } = read
  if (Object.values(says).every((value) => value === null))
    failField(`${at}channels`, 'required', 'is required, or another condition or limit')
  if (terms.perCard && !isCounting(limitsOf(read)))
    failField(`${at}perCard`, 'not_allowed', 'is accepted with a limit of days or months only')
  return { ...read, perCard: terms.perCard ?? false }
}

const partner = { tag: TAG, auth: 'partner', envelope: 'code' } as const

/** Not in the specification (decision C28). */
export const listSpendRules = listOf<SpendRule>(spendRule, {
  ...partner,
  scope: 'cards:read',
  id: 'listSpendRules',
  path: RULES,
  summary: 'List spend rules',
  description: 'Newest first, removed ones too; pass `next` back as `after` for the next page.',
})

/** Not in the specification (decision C28). */
export const getSpendRule = showOf<SpendRule>(spendRule, {
  ...partner,
  scope: 'cards:read',
  id: 'getSpendRule',
  path: `${RULES}/:spendRuleId`,
  summary: 'Get spend rule',
  params: RuleParams,
  errors: ['spend_rule_not_found'],
  notFound: () => fail('spend_rule_not_found'),
})

/** Not in the specification (decision C28). */
export const createSpendRuleContract = commandContract({
  ...partner,
  scope: 'cards:write',
  id: 'createSpendRule',
  method: 'POST',
  path: RULES,
  summary: 'Create spend rule',
  description:
    'In force at once, for one card, the cards of one card account, or all your cards. An authorisation that all conditions of a rule fit is declined when it exceeds a limit of the rule, or when the rule has none. Rules never change: send `replaces` to put a new one in the place of another, with what was used of it.',
  body: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 100, description: 'For people' }),
      replaces: Type.Optional(
        Type.String({ description: 'The `spendRuleId` of the rule whose place it takes' }),
      ),
      ...TERMS,
    },
    { additionalProperties: false },
  ),
  result: SpendRuleRecord,
  errors: ['card_not_found', 'card_account_not_found', 'spend_rule_not_found', 'too_many_spend_rules'],
  run: createSpendRule,
  args: ({ caller: { tenantId }, body: { name, replaces, ...terms } }) => ({
    partnerId: tenantId,
    name,
    replaces,
    ...readTerms(terms),
  }),
  reply: ({ rule }, { ok, timeZone }) => ok(spendRuleToWire(rule, timeZone)),
})
export const createSpendRuleOperation = operation(createSpendRuleContract)

/** Not in the specification (decision C28). */
export const removeSpendRuleContract = commandContract({
  ...partner,
  scope: 'cards:write',
  id: 'removeSpendRule',
  method: 'DELETE',
  path: `${RULES}/:spendRuleId`,
  summary: 'Remove spend rule',
  description: 'It is no longer in force. Removing it again returns the same response.',
  params: RuleParams,
  result: SpendRuleRecord,
  errors: ['spend_rule_not_found'],
  run: removeSpendRule,
  args: ({ caller: { tenantId }, params: { spendRuleId } }) => ({ partnerId: tenantId, spendRuleId }),
  reply: ({ rule }, { ok, timeZone }) => ok(spendRuleToWire(rule, timeZone)),
})
export const removeSpendRuleOperation = operation(removeSpendRuleContract)

const Sum = (description: string) =>
  Type.Object(
    { count: Type.Integer(), amount: Type.Number({ description: 'Rupees' }) },
    { description, additionalProperties: false },
  )
const Decision = (description: string) =>
  Type.Object(
    {
      status: Type.Enum(['approved', 'declined']),
      responseCode: Type.String({ description: 'ISO 8583 field 39' }),
      reason: Type.Optional(Type.Enum(Object.keys(DECLINES) as DeclineReason[])),
      spendRuleId: Type.Optional(
        Type.String({ description: 'The rule that declined it; `create[0]` is the first that is proposed' }),
      ),
      approvedAmount: Type.Optional(Type.Number({ description: 'Rupees, where only a part is approved' })),
    },
    { description, additionalProperties: false },
  )

export const BacktestRequest = Type.Object(
  {
    from: Type.Optional(Instant(`First instant; ${DAYS_BACK} days ago by default, and at the earliest`)),
    svcCardId: Type.Optional(Type.String({ description: 'Only authorisations of this card' })),
    cardAccountId: Type.Optional(
      Type.String({ description: 'Only authorisations of cards of this card account' }),
    ),
    create: Type.Optional(
      Type.Array(SpendTermsRequest, {
        maxItems: 20,
        description: 'Rules that would be there; they come last',
      }),
    ),
    remove: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 100,
        description: 'The `spendRuleId` of rules that would not be',
      }),
    ),
  },
  { additionalProperties: false },
)

export const BacktestRecord = Type.Object(
  {
    from: Type.String({ description: 'RFC 3339' }),
    examined: Type.Integer({ description: 'Authorisations that were decided again' }),
    identical: Type.Integer({
      description:
        'Of these, how many responses would be the same byte for byte: all, where nothing is proposed',
    }),
    notExamined: Type.Integer({
      description: 'Authorisations from before what they were decided on was stored',
    }),
    changed: Type.Integer({ description: 'Of these, how many would be decided otherwise' }),
    declined: Sum('Approved then, and declined by the proposed rules'),
    approved: Sum('Declined then, and approved by the proposed rules'),
    changes: Type.Array(
      Type.Object(
        {
          messageId: Type.String(),
          svcCardId: Type.String(),
          amount: Type.Number({ description: 'Rupees' }),
          createdOn: Type.String({ description: 'RFC 3339' }),
          was: Decision('What was decided'),
          wouldBe: Decision('What would be decided'),
        },
        { additionalProperties: false },
      ),
      { description: 'The first 500 that would be decided otherwise, oldest first' },
    ),
  },
  { title: 'SpendBacktest', additionalProperties: false },
)

const changeToWire = ({ asked, recorded, response }: Replayed, timeZone: string) => ({
  messageId: asked.messageId,
  svcCardId: asked.svcCardId,
  amount: paiseToWire(asked.amountPaise ?? 0n),
  createdOn: rfc3339(asked.createdAt, timeZone),
  was: decisionOf(recorded),
  wouldBe: decisionOf(JSON.parse(response) as typeof recorded),
})

const decisionOf = ({ status, responseCode, reason, spendRuleId, approvedAmount }: Replayed['recorded']) => ({
  status,
  responseCode,
  reason,
  spendRuleId,
  approvedAmount,
})

const sumToWire = ({ count, paise }: Backtest['declined']) => ({ count, amount: paiseToWire(paise) })

export const backtestToWire = (from: Date, found: Backtest, timeZone: string) => ({
  from: rfc3339(from, timeZone),
  examined: found.examined,
  identical: found.identical,
  notExamined: found.notExamined,
  changed: found.changed,
  declined: sumToWire(found.declined),
  approved: sumToWire(found.approved),
  changes: found.changes.map((change) => changeToWire(change, timeZone)),
})

/** Runs a backtest for a partner, as its request says. */
export const backtester =
  ({
    clock,
    config: { BUSINESS_TIME_ZONE: timeZone },
    database,
  }: Pick<Services, 'clock' | 'config' | 'database'>) =>
  async (partnerId: string, body: Static<typeof BacktestRequest>) => {
    const { svcCardId, cardAccountId, create = [], remove = [] } = body
    const earliest = new Date(clock.of(partnerId).now() - DAYS_BACK * 86_400_000)
    const from = readInstant('from', body.from) ?? earliest
    if (from < earliest) failField('from', 'minimum', `must be within the last ${DAYS_BACK} days`)
    if (svcCardId !== undefined && cardAccountId !== undefined)
      failField('cardAccountId', 'not_allowed', 'must not be sent together with svcCardId')
    const found = await backtestSpendRules(database, timeZone, {
      partnerId,
      from,
      svcCardId,
      cardAccountId,
      create: create.map((terms, i) => readTerms(terms, `create[${i}].`)),
      remove,
    })
    return backtestToWire(from, found, timeZone)
  }

/** Not in the specification (decision C28). */
export const backtestSpendRulesOperation = query({
  ...partner,
  scope: 'cards:read',
  id: 'backtestSpendRules',
  method: 'POST',
  path: `${RULES}/backtest`,
  summary: 'Backtest spend rules',
  description:
    'Decides the recorded authorisations of the last 90 days again, with the rules of then, those that `create` adds and without those that `remove` names, and returns what would have changed. Changes nothing.',
  safe: true,
  mayLackBody: true,
  takesLong: true,
  body: BacktestRequest,
  result: BacktestRecord,
  errors: ['backtest_too_large'],
  mount(services) {
    const backtest = backtester(services)
    return async ({ caller: { tenantId }, body }) => ({
      body: succeedWithCode(await backtest(tenantId, body)),
    })
  },
})
