import { groupBy } from '@svc/kernel/group-by'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { rowLock } from '@svc/platform/db/row-lock'
import { columns, statement } from '@svc/platform/db/statement'
import type { CardKey } from '../card/card.ts'
import type { LockedCard } from '../card/card-changes.ts'
import { type CardAuthorization, usedOf } from '../rail/card-authorization.ts'
import type { RuleOfCard } from '../rail/message-references.ts'
import {
  afterUse,
  isRuleAbout,
  limitsOf,
  type RuleInForce,
  type SpendRule,
  type SpendUse,
  type Stated,
  spendRules,
  unusedIn,
} from './spend-rule.ts'

/** What rules have counted, by counter. */
export type SpendUses = Map<string, SpendUse>

/** Counters of cards together: authorisations of two cards must not pass one limit. Cards' own are under the lock of the card. */
const LOCK_TOGETHER = rowLock<Pick<SpendRule, 'partnerId' | 'spendRuleId'>>('spend_rules_together', {
  select: 'r.partner_id as "partnerId", r.spend_rule_id as "spendRuleId"',
  from: `from spend_rules r
    where (r.partner_id, r.of_id) in (select * from unnest($1::text[], $2::text[])) and r.removed_at is null
      and r.svc_card_id is null and not r.per_card
      and coalesce(r.day_paise, r.month_paise, r.day_count, r.month_count) is not null
    order by r.spend_rule_id`,
  tenant: 'r.partner_id',
  id: 'r.spend_rule_id',
  of: 'r',
})

interface RuleRow extends RuleOfCard {
  readonly ofCard: string
  readonly usedDayPaise: bigint
  readonly usedMonthPaise: bigint
  readonly usedDayCount: number
  readonly usedMonthCount: number
}

const useOf = (row: RuleRow): SpendUse => ({
  day: row.day,
  dayPaise: row.usedDayPaise,
  monthPaise: row.usedMonthPaise,
  dayCount: row.usedDayCount,
  monthCount: row.usedMonthCount,
})

const IN_FORCE = statement<RuleRow>(
  'spend_rules_in_force',
  `select ${spendRules.columns}, w.svc_card_id as "ofCard", k.counter as "countedAs", k.day::text as day, u.*
   from unnest($1::text[], $2::text[], $3::text[], $4::float8[]) as w (partner_id, svc_card_id, card_account_id, ahead_ms)
   join spend_rules r on r.partner_id = w.partner_id
     and r.of_id = any (array[w.svc_card_id, w.card_account_id, w.partner_id]) and r.removed_at is null
   cross join lateral (
     select r.counter || case when r.per_card and r.svc_card_id is null then ' ' || w.svc_card_id else '' end as counter,
       ((clock_timestamp() + w.ahead_ms * interval '1 millisecond') at time zone $5)::date as day) k
   cross join lateral (
     select coalesce(sum(s.amount_paise) filter (where s.day = k.day), 0)::bigint as "usedDayPaise",
       coalesce(sum(s.amount_paise), 0)::bigint as "usedMonthPaise",
       coalesce(sum(s.authorizations) filter (where s.day = k.day), 0)::integer as "usedDayCount",
       coalesce(sum(s.authorizations), 0)::integer as "usedMonthCount"
     from spend_counters s
     where s.partner_id = r.partner_id and s.counter = k.counter
       and s.day between date_trunc('month', k.day)::date and k.day) u
   order by r.svc_card_id is null, r.card_account_id is null, r.created_at, r.spend_rule_id`,
)

interface OfCards {
  readonly tenantId: string
  readonly svcCardId: string
  readonly clockOffsetMs: number
  readonly timeZone: string
}

export interface RulesInForce {
  /** By card, in their order: of the card, of its card account, of its partner. */
  readonly rules: ReadonlyMap<string, readonly RuleOfCard[]>
  readonly uses: SpendUses
}

/** Locks what counts for several cards, then reads the rules in force for these; both travel with what else is read. */
export async function lockRulesInForce(
  tx: BatchTx,
  locked: readonly LockedCard[],
  authorizations: readonly OfCards[],
): Promise<RulesInForce> {
  const asking = new Map(authorizations.map((command) => [command.svcCardId, command]))
  const cards = locked.flatMap((card) => {
    const command = asking.get(card.svcCardId)
    return command ? [{ ...card, ...command }] : []
  })
  const [first] = cards
  if (!first) return { rules: new Map(), uses: new Map() }
  const together = cards.flatMap(({ partnerId, cardAccountId }) => [
    { partnerId, id: cardAccountId },
    { partnerId, id: partnerId },
  ])
  const [, rows] = await Promise.all([
    tx.lock(
      LOCK_TOGETHER,
      columns(
        together,
        ({ partnerId }) => partnerId,
        ({ id }) => id,
      ),
      // How many rules there are is not known before.
      Number.POSITIVE_INFINITY,
    ),
    tx.query(IN_FORCE, [
      ...columns(
        cards,
        ({ partnerId }) => partnerId,
        ({ svcCardId }) => svcCardId,
        ({ cardAccountId }) => cardAccountId,
        ({ clockOffsetMs }) => clockOffsetMs,
      ),
      first.timeZone,
    ]),
  ])
  return {
    rules: groupBy(rows, ({ ofCard }) => ofCard),
    uses: new Map(rows.map((row) => [row.countedAs, useOf(row)])),
  }
}

/** The rules that are about what is stated, with what was used of each. */
export const rulesAbout = (
  rules: readonly RuleOfCard[],
  stated: Stated,
  uses: ReadonlyMap<string, SpendUse>,
): readonly RuleInForce[] =>
  rules
    .filter((rule) => isRuleAbout(rule, stated))
    .map((rule) => ({
      spendRuleId: rule.spendRuleId,
      counter: rule.countedAs,
      ...limitsOf(rule),
      use: uses.get(rule.countedAs) ?? unusedIn(rule.day),
    }))

/** Later messages of the same batch see what a hold uses. */
export function countUse(
  uses: SpendUses,
  before: CardAuthorization | undefined,
  after: CardAuthorization,
): void {
  for (const counter of after.counters ?? []) {
    const use = uses.get(counter)
    if (use && after.countedOn !== null)
      uses.set(counter, afterUse(use, after.countedOn, before ? usedOf(before) : 0n, usedOf(after)))
  }
}

const MOVE = statement(
  'spend_rules_of_replaced_cards',
  `update spend_rules r set svc_card_id = m.svc_card_id
   from unnest($1::text[], $2::text[], $3::text[]) as m (partner_id, replaced, svc_card_id)
   where r.partner_id = m.partner_id and r.of_id = m.replaced and r.removed_at is null`,
)

/** The rules of a card are those of the card that replaces it. */
export function moveRules(tx: Writes, cards: readonly (CardKey & { readonly from: string })[]): void {
  if (cards.length === 0) return
  tx.write(
    MOVE,
    columns(
      cards,
      ({ partnerId }) => partnerId,
      ({ from }) => from,
      ({ svcCardId }) => svcCardId,
    ),
  )
}
