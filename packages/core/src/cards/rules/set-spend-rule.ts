import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { ByTenant } from '@svc/kernel/by-tenant'
import { type CommandTools, command } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import {
  looksLikeSpendRuleId,
  type SpendRule,
  type SpendTerms,
  spendRuleEvent,
  spendRules,
} from './spend-rule.ts'

/** In force at once for one card, one card account, or all cards of a partner. */
const RULES_MAX = 20

export interface CreateSpendRule extends SpendTerms {
  readonly partnerId: string
  readonly name: string
  /** A rule that it takes the place of, with what was used of it. */
  readonly replaces?: string | undefined
}

interface Prepared extends CreateSpendRule, PreparedCommand {
  readonly spendRuleId: string
  readonly eventIds: readonly [string, string]
  readonly timeZone: string
}

export interface RemoveSpendRule {
  readonly partnerId: string
  readonly spendRuleId: string
}

interface Rules {
  /** In force, and those that commands name. */
  readonly rules: Map<string, SpendRule>
  /** Cards and card accounts that are there, each with the account. */
  readonly subjects: Map<string, string>
}

interface Wanted extends PreparedCommand {
  readonly svcCardId?: string | null
  readonly cardAccountId?: string | null
  readonly names?: string | undefined
}

// A rule that does not exist yet has no row to lock: how many there are is counted by one at a time.
const LOCK_PARTNER = statement(
  'spend_rules_lock_partner',
  `select pg_advisory_xact_lock(hashtextextended('spend_rules ' || partner_id, 0))
   from (select unnest($1::text[]) as partner_id order by 1) as partners`,
)
const RULES = statement<SpendRule>(
  'spend_rules_of',
  `select ${spendRules.columns} from spend_rules r
   where (r.partner_id, r.of_id) in (select * from unnest($1::text[], $2::text[])) and r.removed_at is null`,
)
// Authorisations that count together hold it, until they have counted.
const LOCK = spendRules.lock('remove')
const SUBJECTS = statement<{ readonly partnerId: string; readonly id: string; readonly ofAccount: string }>(
  'spend_rule_subjects',
  `select partner_id as "partnerId", svc_card_id as id, card_account_id as "ofAccount" from cards
   where (partner_id, svc_card_id) in (select * from unnest($1::text[], $2::text[]))
   union all
   select partner_id, card_account_id, card_account_id from card_accounts
   where (partner_id, card_account_id) in (select * from unnest($1::text[], $3::text[]))`,
)

async function lockRules(tx: BatchTx, wanted: readonly Wanted[]): Promise<ByTenant<Rules>> {
  const keys = columns(
    wanted,
    (w) => w.tenantId,
    (w) => w.svcCardId ?? w.cardAccountId ?? w.tenantId,
  )
  const named = wanted.flatMap(({ tenantId: partnerId, names: spendRuleId }) =>
    spendRuleId !== undefined && looksLikeSpendRuleId(spendRuleId) ? [{ partnerId, spendRuleId }] : [],
  )
  const [, locked, inForce, subjects] = await Promise.all([
    tx.query(LOCK_PARTNER, [[...new Set(wanted.map(({ tenantId }) => tenantId))]]),
    spendRules.lockRows<SpendRule>(tx, LOCK, named),
    tx.query(RULES, keys),
    tx.query(
      SUBJECTS,
      columns(
        wanted,
        (w) => w.tenantId,
        (w) => w.svcCardId ?? '',
        (w) => w.cardAccountId ?? '',
      ),
    ),
  ])
  const state = new ByTenant((partnerId): Rules => ({ rules: locked.of(partnerId), subjects: new Map() }))
  for (const rule of inForce) state.of(rule.partnerId).rules.set(rule.spendRuleId, rule)
  for (const { partnerId, id, ofAccount } of subjects) state.of(partnerId).subjects.set(id, ofAccount)
  return state
}

const removed = (rule: SpendRule, now: Date): SpendRule => ({ ...rule, removedAt: rule.removedAt ?? now })
const saveRemoved = spendRules.updates(['removedAt'], 'remove')

const preparation = ({ config, newId }: CommandTools) => ({
  eventIds: [newId('evt'), newId('evt')] as const,
  timeZone: config.BUSINESS_TIME_ZONE,
})

/** Sets a rule, in force at once. */
export const createSpendRule = command({
  name: 'createSpendRule',

  prepare:
    (tools) =>
    (args: CreateSpendRule): Prepared => ({
      ...args,
      ...preparation(tools),
      tenantId: args.partnerId,
      spendRuleId: tools.newId('spr'),
    }),

  lock: (tx, creates: readonly Prepared[]) =>
    lockRules(
      tx,
      creates.map((create) => ({ ...create, names: create.replaces })),
    ),

  decide({ rules, subjects }, create: Prepared, now) {
    const { replaces, tenantId: _, eventIds, timeZone, ...given } = create
    const { svcCardId, cardAccountId } = given
    if (svcCardId !== null && !subjects.has(svcCardId)) fail('card_not_found')
    if (cardAccountId !== null && subjects.get(svcCardId ?? cardAccountId) !== cardAccountId)
      fail('card_account_not_found')
    // The account of a card follows from the card.
    const terms = { ...given, cardAccountId: svcCardId === null ? cardAccountId : null }
    const before = replaces === undefined ? undefined : (rules.get(replaces) ?? fail('spend_rule_not_found'))
    if (before && before.removedAt !== null)
      failField('replaces', 'not_allowed', 'must be a rule that is in force')
    if (before && !isOfTheSame(before, terms))
      failField('replaces', 'not_allowed', 'must be a rule of the same card, card account or partner')
    const siblings = [...rules.values()].filter(
      (rule) => rule.removedAt === null && rule !== before && isOfTheSame(rule, terms),
    )
    if (siblings.length >= RULES_MAX) fail('too_many_spend_rules')
    // What each card used is counted apart from what all used together.
    const counter = before?.perCard === terms.perCard ? before.counter : terms.spendRuleId
    const rule: SpendRule = { ...terms, counter, createdAt: now, removedAt: null }
    return { rule, replaced: before && removed(before, now), eventIds, timeZone }
  },

  apply({ rules }, { rule, replaced }) {
    rules.set(rule.spendRuleId, rule)
    if (replaced) rules.set(replaced.spendRuleId, replaced)
  },

  save(tx, decisions) {
    spendRules.insert(
      tx,
      decisions.map(({ rule }) => rule),
    )
    saveRemoved(
      tx,
      decisions.flatMap(({ replaced }) => replaced ?? []),
    )
    saveEvents(
      tx,
      decisions.flatMap(({ rule, replaced, eventIds: [created, ended], timeZone }) => [
        ...(replaced ? [spendRuleEvent(replaced, ended, timeZone)] : []),
        spendRuleEvent(rule, created, timeZone),
      ]),
    )
  },
})

type Subject = Pick<SpendRule, 'svcCardId' | 'cardAccountId'>
const isOfTheSame = (one: Subject, other: Subject): boolean =>
  one.svcCardId === other.svcCardId && one.cardAccountId === other.cardAccountId

/** Ends a rule; a repeat changes nothing. */
export const removeSpendRule = command({
  name: 'removeSpendRule',

  prepare: (tools) => (args: RemoveSpendRule) => ({
    ...args,
    ...preparation(tools),
    tenantId: args.partnerId,
    names: args.spendRuleId,
  }),

  lock: (tx, removals) => lockRules(tx, removals),

  decide({ rules }, { spendRuleId, eventIds, timeZone }, now) {
    const rule = rules.get(spendRuleId) ?? fail('spend_rule_not_found')
    return { rule: removed(rule, now), changed: rule.removedAt === null, eventId: eventIds[0], timeZone }
  },

  apply: ({ rules }, { rule }) => void rules.set(rule.spendRuleId, rule),

  save(tx, decisions) {
    const changed = decisions.filter((decision) => decision.changed)
    saveRemoved(
      tx,
      changed.map(({ rule }) => rule),
    )
    saveEvents(
      tx,
      changed.map(({ rule, eventId, timeZone }) => spendRuleEvent(rule, eventId, timeZone)),
    )
  },
})
