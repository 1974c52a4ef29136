import { dayAfter } from '@svc/kernel/bank-days'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay, instantOfDay } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { signed } from '@svc/platform/crypto/signed'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { accountId } from '../../ledger/accounts.ts'
import { transfersSince } from '../../ledger/transfers-since.ts'
import { advancedOfNote } from '../fees/tax-document.ts'

const DAY_MINUTES = 1_440

export interface BusinessDay {
  /** `YYYY-MM-DD` in the business zone. */
  readonly day: string
  /** Its first instant, and the first one after it. */
  readonly from: Date
  readonly to: Date
}

/** The business day of an instant: what is paid after the cut-off belongs to the next one. */
export const businessDayOf = (at: Date, cutOffMinutes: number, timeZone: string): string =>
  calendarDay(new Date(at.getTime() + (DAY_MINUTES - cutOffMinutes) * 60_000), timeZone)

/** A business day ends at the cut-off, in minutes of the day, and begins where the one before ended. */
export function businessDay(day: string, cutOffMinutes: number, timeZone: string): BusinessDay {
  return {
    day,
    from: instantOfDay(dayAfter(day, -1), cutOffMinutes, timeZone),
    to: instantOfDay(day, cutOffMinutes, timeZone),
  }
}

/** What moves the payable account, by the kind of journal: what the ledger says, and what the records say. */
const SOURCES = {
  upi_credit: {
    title: 'Payments',
    sql: `select count(*), coalesce(sum(p.amount_paise), 0) from payments p
      where p.merchant_id = $2 and p.created_at >= $3 and p.created_at < $4
        and (p.qr_code_id is not null and p.reason is null or p.assigned_from is not null)`,
  },
  suspense_assigned: {
    title: 'Assigned out of suspense',
    sql: `select count(*), coalesce(sum(a.amount_paise), 0) from (
        select p.amount_paise from payments p
        where p.merchant_id = $2 and p.status = 'ACCEPTED' and p.assigned_from is null
          and p.resolved_at >= $3 and p.resolved_at < $4
        union all
        select u.amount_paise from unassignments u
        where u.tenant_id = $2 and u.assigned_at >= $3 and u.assigned_at < $4) a`,
  },
  suspense_unassigned: {
    title: 'Assignments taken back',
    sql: `select count(*), -coalesce(sum(u.amount_paise), 0) from unassignments u
      where u.tenant_id = $2 and u.unassigned_at >= $3 and u.unassigned_at < $4`,
  },
  merchant_refund: {
    title: 'Refunds',
    sql: `select count(*), -coalesce(sum(r.amount_paise - r.advanced_paise), 0) from merchant_refunds r
      where r.merchant_id = $2 and r.created_at >= $3 and r.created_at < $4`,
  },
  merchant_refund_failed: {
    title: 'Refunds that failed',
    sql: `select count(*), coalesce(sum(r.amount_paise - r.advanced_paise), 0) from merchant_refunds r cross join lateral (
        select case when r.status = 'FAILED' then r.completed_at else r.failed_at end as at) failed
      where r.merchant_id = $2 and failed.at >= $3 and failed.at < $4`,
  },
  merchant_refund_restored: {
    title: 'Failed refunds that the bank made after all',
    sql: `select count(*), -coalesce(sum(r.amount_paise - r.advanced_paise), 0) from merchant_refunds r
      where r.merchant_id = $2 and r.failed_at is not null and r.completed_at >= $3 and r.completed_at < $4`,
  },
  dispute: {
    title: 'Disputes',
    sql: `select count(*), -coalesce(sum(d.amount_paise - d.advanced_paise), 0) from disputes d
      where d.merchant_id = $2 and d.created_at >= $3 and d.created_at < $4`,
  },
  dispute_won: {
    title: 'Disputes that were won',
    sql: `select count(*), coalesce(sum(d.amount_paise - d.advanced_paise), 0) from disputes d
      where d.merchant_id = $2 and d.status = 'WON' and d.closed_at >= $3 and d.closed_at < $4`,
  },
  payment_adjustment: {
    title: 'Corrections of payments',
    sql: `select count(*), coalesce(sum(a.change_paise + a.advanced_paise), 0) from payment_adjustments a
      where a.merchant_id = $2 and a.created_at >= $3 and a.created_at < $4`,
  },
  opening_balance: {
    title: 'Opening balance',
    sql: `select count(*), coalesce(sum(o.amount_paise), 0) from opening_balances o
      where o.tenant_id = $2 and o.account_id = $1 and o.created_at >= $3 and o.created_at < $4`,
  },
  journal_reversal: {
    title: 'Opening balances and certificates of tax that were taken back',
    sql: `select count(*), -coalesce(sum(r.amount_paise), 0) from (
        select o.tenant_id, o.reversed_by, o.amount_paise from opening_balances o
        where o.tenant_id = $2 and o.account_id = $1
        union all
        select c.merchant_id, c.reversed_by, c.amount_paise from tds_certificates c where c.merchant_id = $2) r
        join journals j on j.tenant_id = r.tenant_id and j.journal_id = r.reversed_by
      where j.at >= $3 and j.at < $4`,
  },
  credit_note: {
    title: 'Fees given back by credit notes, with tax',
    sql: `select count(*), coalesce(sum(d.taxable_paise + d.cgst_paise + d.sgst_paise + d.igst_paise), 0)
      from tax_documents d where d.merchant_id = $2 and d.kind = 'CREDIT_NOTE' and d.created_at >= $3 and d.created_at < $4`,
  },
  debit_note: {
    title: 'Credit notes taken back by debit notes, with tax',
    sql: `select count(*), -coalesce(sum(d.taxable_paise + d.cgst_paise + d.sgst_paise + d.igst_paise - ${advancedOfNote('d')}), 0)
      from tax_documents d where d.merchant_id = $2 and d.kind = 'DEBIT_NOTE' and d.created_at >= $3 and d.created_at < $4`,
  },
  tds_certified: {
    title: 'Tax deducted at source, by certificates',
    sql: `select count(*), coalesce(sum(c.amount_paise), 0) from tds_certificates c
      where c.merchant_id = $2 and c.created_at >= $3 and c.created_at < $4`,
  },
  payout: {
    title: 'Payouts, with fees and tax',
    sql: `select count(*), -coalesce(sum(y.payment_paise + y.adjustment_paise - y.refund_paise + y.advance_paise - y.settled_fees_paise), 0)
      from payouts y where y.merchant_id = $2 and y.created_at >= $3 and y.created_at < $4`,
  },
  payout_released: {
    title: 'Payouts that failed, were cancelled or came back',
    sql: `select count(*), coalesce(sum(y.payment_paise + y.adjustment_paise - y.refund_paise + y.advance_paise - y.settled_fees_paise), 0)
      from payouts y cross join lateral (
        values (case when y.returned_at is null and y.status in ('FAILED', 'CANCELLED') then y.completed_at end),
          (y.failed_at), (y.returned_at)) released (at)
      where y.merchant_id = $2 and released.at >= $3 and released.at < $4`,
  },
  payout_restored: {
    title: 'Failed payouts that the bank paid after all',
    sql: `select count(*), -coalesce(sum(y.payment_paise + y.adjustment_paise - y.refund_paise + y.advance_paise - y.settled_fees_paise), 0)
      from payouts y where y.merchant_id = $2 and y.failed_at is not null
        and y.completed_at >= $3 and y.completed_at < $4`,
  },
} as const
type Source = keyof typeof SOURCES
const KINDS = Object.keys(SOURCES) as Source[]

interface Row {
  readonly kind: string
  readonly ledger: bigint
  readonly records: bigint
  readonly count: bigint
}
const MOVED = statement<Row>(
  'payout_statement_moved',
  `with ledger as (
     select kind, sum(amount) as amount from (
       select kind, amount from ledger_transfers
       where credit_account_id = $1 and transfer_id > $5 and created_at >= $3 and created_at < $4
       union all
       select kind, -amount from ledger_transfers
       where debit_account_id = $1 and transfer_id > $5 and created_at >= $3 and created_at < $4) sides
     group by kind),
   records (kind, count, amount) as (${KINDS.map((kind) => `(select '${kind}', * from (${SOURCES[kind].sql}) s)`).join(' union all ')})
   select kind, coalesce(l.amount, 0)::bigint as ledger, coalesce(r.amount, 0)::bigint as records,
     coalesce(r.count, 0)::bigint as count
   from ledger l full join records r using (kind)`,
)
const BALANCES = statement<{ opening: bigint; closing: bigint }>(
  'payout_statement_balances',
  `with moved as (
     select amount, created_at from ledger_transfers
     where credit_account_id = $1 and transfer_id > $4 and created_at >= $2
     union all
     select -amount, created_at from ledger_transfers
     where debit_account_id = $1 and transfer_id > $4 and created_at >= $2)
   select (a.balance - coalesce((select sum(amount) from moved), 0))::bigint as opening,
     (a.balance - coalesce((select sum(amount) from moved where created_at >= $3), 0))::bigint as closing
   from ledger_accounts a where a.account_id = $1`,
)
const BANK = statement<{ settled: bigint; unsettled: bigint; differing: bigint }>(
  'payout_statement_bank',
  `select coalesce(sum(p.amount_paise + p.adjusted_paise) filter (where l.status = 'MATCHED'), 0)::bigint as settled,
     coalesce(sum(p.amount_paise + p.adjusted_paise) filter (where l.status is null), 0)::bigint as unsettled,
     coalesce(sum(p.amount_paise + p.adjusted_paise) filter (where l.status <> 'MATCHED'), 0)::bigint as differing
   from payments p left join settlement_lines l on l.tenant_id = p.merchant_id and l.utr = p.utr
   where p.merchant_id = $1 and p.status = 'ACCEPTED' and p.created_at >= $2 and p.created_at < $3`,
)

export interface StatementMovement {
  readonly kind: string
  readonly title: string
  readonly count: number
  /** What it added to what is payable, in paise; negative: took from it. */
  readonly ledgerPaise: bigint
  readonly recordsPaise: bigint
}

export interface DailyStatement {
  readonly merchantId: string
  readonly businessDay: string
  readonly from: Date
  readonly to: Date
  /** What was payable to the merchant, in paise. */
  readonly openingPaise: bigint
  readonly closingPaise: bigint
  readonly movements: readonly StatementMovement[]
  /** Of the day's payments: what the bank's settlement files confirm, do not have yet, or have otherwise. */
  readonly settledPaise: bigint
  readonly unsettledPaise: bigint
  readonly differingPaise: bigint
  /** What ledger and records do not agree on; 0 when every paisa is explained. */
  readonly unexplainedPaise: bigint
}

const magnitude = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

/**
 * What was payable to a merchant at the begin and at the end of a business day, and why it changed: by the ledger, by
 * payments, refunds and payouts, and by the bank's files. `undefined`: there is no such merchant. To be read under
 * repeatable read. `aheadMs`: by how much the merchant's clock is ahead of that of ids.
 */
export async function dailyStatement(
  tx: Tx,
  merchantId: string,
  { day, from, to }: BusinessDay,
  aheadMs = 0,
): Promise<DailyStatement | undefined> {
  const payable = accountId('payable', merchantId)
  const since = transfersSince(from, aheadMs)
  const [balances] = await tx.query(BALANCES, [payable, from, to, since])
  if (!balances) return undefined
  const rows = await tx.query(MOVED, [payable, merchantId, from, to, since])
  const [bank] = await tx.query(BANK, [merchantId, from, to])
  const movements = rows
    .map(({ kind, ledger, records, count }) => ({
      kind,
      title: SOURCES[kind as Source]?.title ?? kind,
      count: Number(count),
      ledgerPaise: ledger,
      recordsPaise: records,
    }))
    .filter(({ ledgerPaise, recordsPaise }) => ledgerPaise !== 0n || recordsPaise !== 0n)
  const moved = movements.reduce((sum, { ledgerPaise }) => sum + ledgerPaise, 0n)
  const differences = movements.map(({ ledgerPaise, recordsPaise }) => magnitude(ledgerPaise - recordsPaise))
  return {
    merchantId,
    businessDay: day,
    from,
    to,
    openingPaise: balances.opening,
    closingPaise: balances.closing,
    movements,
    settledPaise: bank?.settled ?? 0n,
    unsettledPaise: bank?.unsettled ?? 0n,
    differingPaise: bank?.differing ?? 0n,
    unexplainedPaise: differences.reduce(
      (sum, difference) => sum + difference,
      magnitude(balances.opening + moved - balances.closing),
    ),
  }
}

/** Amounts as texts of rupees, so that no program rounds them. */
export const statementToWire = (day: DailyStatement) => ({
  merchantId: day.merchantId,
  businessDay: day.businessDay,
  from: day.from.toISOString(),
  to: day.to.toISOString(),
  openingPayable: formatRupees(day.openingPaise),
  movements: day.movements.map(({ kind, title, count, ledgerPaise, recordsPaise }) => ({
    kind,
    title,
    count,
    ledger: formatRupees(ledgerPaise),
    records: formatRupees(recordsPaise),
  })),
  closingPayable: formatRupees(day.closingPaise),
  bank: {
    settled: formatRupees(day.settledPaise),
    notYetSettled: formatRupees(day.unsettledPaise),
    otherAmount: formatRupees(day.differingPaise),
  },
  unexplained: formatRupees(day.unexplainedPaise),
})

/** The statement as a compact JWS that anyone can verify with the published keys. */
export const signedStatement = (day: DailyStatement, keyring: Keyring): string =>
  signed(keyring, 'svc-statement', statementToWire(day))
