import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { accountIdOf } from '../../ledger/accounts.ts'
import { type CardTransaction, TRANSACTIONS } from './card-transaction.ts'

interface Period {
  readonly partnerId: string
  readonly svcCardId: string
  /** The first instant, and the first one after the period. */
  readonly from: Date
  readonly to: Date
  /** Lines that are read at most. */
  readonly limit: number
}

/** What moved the money of a card, and the balance after it. */
export interface CardStatementLine extends CardTransaction {
  readonly movedPaise: NonNullable<CardTransaction['movedPaise']>
  readonly after: bigint
}

export interface CardStatement {
  readonly opening: bigint
  readonly closing: bigint
  /** Oldest first. */
  readonly lines: readonly CardStatementLine[]
  readonly hasMore: boolean
}

type Row = CardTransaction & { readonly openingPaise: bigint }

// One statement, so that the balance and what moved since are of one snapshot.
const STATEMENT = statement<Row | { readonly openingPaise: bigint; readonly transactionId: null }>(
  'card_statement',
  `select o.opening as "openingPaise", ${TRANSACTIONS.columns}
   from (
     select (l.balance - coalesce((select sum(s.moved_paise) from card_transactions s
       where s.partner_id = $1 and s.svc_card_id = $2 and s.created_at >= $3), 0))::bigint as opening
     from ${accountIdOf('card', '$2::text')} join ledger_accounts l on l.tenant_id = $1 and l.account_id = key.account_id) o
   left join (
     select t.* from card_transactions t
     where t.partner_id = $1 and t.svc_card_id = $2 and t.created_at >= $3 and t.created_at < $4
       and t.moved_paise is not null
     order by t.created_at, t.transaction_id limit $5) t on true
   ${TRANSACTIONS.joins}
   order by t.created_at, t.transaction_id`,
)

const isLine = (row: Row | { readonly transactionId: null }): row is Row & CardStatementLine =>
  row.transactionId !== null && row.movedPaise !== null

/**
 * What moved the money of a card in a period, oldest first, between the balances of the ledger. `undefined`: the partner
 * has no such card.
 */
export async function readCardStatement(
  tx: Tx,
  { partnerId, svcCardId, from, to, limit }: Period,
): Promise<CardStatement | undefined> {
  const found = await tx.query(STATEMENT, [partnerId, svcCardId, from, to, limit + 1])
  const [first] = found
  if (!first) return undefined
  let balance = first.openingPaise
  const rows = found.filter(isLine)
  const lines = rows.slice(0, limit).map((row) => {
    balance += row.movedPaise
    return { ...row, after: balance }
  })
  return { opening: first.openingPaise, closing: balance, lines, hasMore: rows.length > limit }
}
