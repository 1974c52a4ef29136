import { fail } from '@svc/contract/errors'
import { groupBy } from '@svc/kernel/group-by'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { NO_PAISE } from '../rail/card-message.ts'
import { basisFromText } from './authorization-basis.ts'
import { type Asked, type Change, type Recorded, Replay, type Replayed } from './replay-authorizations.ts'
import type { SpendTerms } from './spend-rule.ts'

/** A change of spend rules that is only tried (decision C28). */
export interface BacktestSpendRules {
  readonly partnerId: string
  readonly from: Date
  readonly svcCardId?: string | undefined
  readonly cardAccountId?: string | undefined
  readonly create: readonly SpendTerms[]
  readonly remove: readonly string[]
}

const PAGE = 1_000
const AUTHORIZATIONS_MAX = 50_000
const CHANGES_SHOWN = 500

type AskedRow = Omit<Asked, 'basis' | 'recorded'> & {
  readonly basis: string | null
  readonly response: string
  readonly transactionId: string
}

const pageOf = (narrowed: 'partner_id' | 'card_account_id' | 'svc_card_id') =>
  statement<AskedRow>(
    `spend_backtest_by_${narrowed}`,
    `select t.transaction_id as "transactionId", t.svc_card_id as "svcCardId", t.card_account_id as "cardAccountId",
       t.partner_id as "partnerId", t.created_at as "createdAt",
       m.message_id as "messageId", m.type, m.acquirer_id as "acquirerId", m.stan, m.transmission_at as "transmissionAt",
       m.amount_paise as "amountPaise", m.replacement_paise as "replacementPaise", m.channel, m.rrn, m.mcc,
       m.merchant_name as "merchantName", m.merchant_place as "merchantPlace", m.merchant_country as "merchantCountry",
       m.basis, m.response, m.raises, m.authorization_id as "authorizationId", h.counters, h.counted_on::text as "countedOn",
       case when h.status = 'EXPIRED' then h.closed_at end as "expiredAt"
     from card_transactions t
       join card_messages m on m.partner_id = t.partner_id and m.message_id = t.message_id
       left join card_authorizations h on h.partner_id = t.partner_id and h.authorization_id = t.authorization_id
     where t.partner_id = $1 and t.${narrowed} = $2 and t.kind = 'authorization'
       and (t.created_at, t.transaction_id) > ($3, $4)
     order by t.created_at, t.transaction_id limit ${PAGE}`,
  )
const OF_PARTNER = pageOf('partner_id')
const OF_ACCOUNT = pageOf('card_account_id')
const OF_CARD = pageOf('svc_card_id')

const CHANGES = statement<Change>(
  'spend_backtest_changes',
  `select m.authorization_id as "authorizationId", m.created_at as at,
     case when m.event_type = 'card.captured' then m.amount_paise else 0 end as "capturedPaise",
     coalesce((100 * (m.response::jsonb -> 'releasedAmount')::numeric)::bigint, 0) as "releasedPaise"
   from card_messages m
   where m.partner_id = $1 and m.svc_card_id = any ($2) and m.type in ('advice', 'capture', 'void')
     and m.authorization_id = any ($3) and m.event_type in ('card.captured', 'card.voided')
   order by m.created_at, m.message_id`,
)

export interface Backtest {
  /** Authorisations that could be decided again. */
  readonly examined: number
  /** Of these, how many responses would be the same byte for byte. */
  readonly identical: number
  /** Decided before what they depend on was recorded. */
  readonly notExamined: number
  readonly declined: Sum
  readonly approved: Sum
  /** Of all, the first that would be decided otherwise. */
  readonly changes: readonly Replayed[]
  readonly changed: number
}

interface Sum {
  count: number
  paise: bigint
}

/** Decides recorded authorisations again, in their order, as if the rules had been changed before the first of them. */
export async function backtestSpendRules(
  database: Database,
  timeZone: string,
  backtest: BacktestSpendRules,
): Promise<Backtest> {
  const replay = new Replay(backtest, timeZone)
  const sides = { declined: { count: 0, paise: 0n }, approved: { count: 0, paise: 0n } }
  const changes: Replayed[] = []
  let [examined, identical, notExamined, changed] = [0, 0, 0, 0]
  for await (const { rows, later } of pagesOf(database, backtest)) {
    if (examined + notExamined + rows.length > AUTHORIZATIONS_MAX) fail('backtest_too_large')
    for (const again of replay.decide(rows, later)) {
      if (again === undefined) {
        notExamined++
        continue
      }
      examined++
      if (again.response === again.recorded.response) identical++
      if (!again.isChanged) continue
      if (changed++ < CHANGES_SHOWN) changes.push(again)
      const { asked, recorded, decided } = again
      if (decided.status === recorded.status) continue
      const side: Sum = sides[decided.status]
      side.count++
      side.paise += asked.amountPaise ?? NO_PAISE
    }
  }
  return { examined, identical, notExamined, ...sides, changes, changed }
}

async function* pagesOf(database: Database, { partnerId, from, ...backtest }: BacktestSpendRules) {
  // Nothing else is counted where nothing is proposed.
  const isProposed = backtest.create.length + backtest.remove.length > 0
  let after: readonly [Date, string] = [from, '']
  for (;;) {
    const page = await database.read([partnerId], async (tx) => {
      const rows = await readPage(tx, partnerId, backtest, after)
      return {
        rows: rows.map(toAsked),
        later: isProposed ? await readChanges(tx, partnerId, rows) : [],
        last: rows.at(-1),
      }
    })
    yield page
    if (page.rows.length < PAGE || !page.last) return
    after = [page.last.createdAt, page.last.transactionId]
  }
}

function readPage(
  tx: Tx,
  partnerId: string,
  { svcCardId, cardAccountId }: Pick<BacktestSpendRules, 'svcCardId' | 'cardAccountId'>,
  after: readonly [Date, string],
): Promise<AskedRow[]> {
  if (svcCardId !== undefined) return tx.query(OF_CARD, [partnerId, svcCardId, ...after])
  if (cardAccountId !== undefined) return tx.query(OF_ACCOUNT, [partnerId, cardAccountId, ...after])
  return tx.query(OF_PARTNER, [partnerId, partnerId, ...after])
}

const toAsked = ({ basis, response, ...row }: AskedRow): Asked => ({
  ...row,
  basis: basis === null ? undefined : basisFromText(basis),
  recorded: { ...(JSON.parse(response) as Omit<Recorded, 'response'>), response },
})

async function readChanges(tx: Tx, partnerId: string, rows: readonly AskedRow[]): Promise<Change[]> {
  const holds = groupBy(
    rows.filter(({ authorizationId, raises }) => authorizationId !== null && !raises),
    ({ authorizationId }) => authorizationId ?? '',
  )
  const cards = [...new Set(rows.map(({ svcCardId }) => svcCardId))]
  const later = await tx.query(CHANGES, [partnerId, cards, [...holds.keys()]])
  const expired = [...holds].flatMap(([authorizationId, [placed]]) =>
    placed?.expiredAt
      ? [{ authorizationId, at: placed.expiredAt, capturedPaise: 0n, releasedPaise: 'all' as const }]
      : [],
  )
  return [...later, ...expired]
}
