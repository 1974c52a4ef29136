import type { DeadlineSettings } from '@svc/contract/deadline-settings'
import { UNSETTLED_AHEAD } from './settled-payments.ts'

/** A setting, or the business zone, in the JSON that is `$3`. */
export const given = (name: keyof DeadlineSettings): string => `($3::jsonb ->> '${name}')::integer`
/** A day that bank days decide, in the JSON that is `$3`. */
export const dueDay = (name: keyof BankDeadlines): string => `($3::jsonb ->> '${name}')::date`
const TODAY = `($1::timestamptz at time zone ($3::jsonb ->> 'zone'))`
const THIS_MONTH = `date_trunc('month', ${TODAY})::date`
const isDay = (name: keyof DeadlineSettings): string => `extract(day from ${TODAY}) >= ${given(name)}`
// Days of the calendar: so the circular on turnaround times counts, and it is the earlier one.
const REFUND_CRITICAL_DAYS = 4

/**
 * Credits `p` that the bank should have returned by now: since the day on which the payer’s bank made them, or on which a
 * person returned them out of suspense, `requested_on` (decision R30). Of parameters: now, the zone, the day before which
 * they are late.
 */
export const creditsLate = (now: string, zone: string, before: string): string =>
  `payments p cross join lateral (
     select coalesce(p.resolved_at, least(p.transaction_at, p.created_at)) as requested_at) q
   cross join lateral (select (q.requested_at at time zone ${zone})::date as requested_on) r
   cross join lateral (select (${now}::timestamptz at time zone ${zone})::date - r.requested_on as days) d
   where p.status = 'REFUND_PENDING' and (r.requested_on < ${before} or d.days >= ${REFUND_CRITICAL_DAYS})`

export interface FoundDeadline {
  readonly value: bigint
  readonly about: string | null
}

/** The days that bank days decide (decision R30). */
export interface BankDeadlines {
  /** The last day whose bank statement must be here. */
  readonly statementDue: string
  /** Transfers of a value date before it whose lines do not add up, or that no statement shows, are late. */
  readonly incompleteBefore: string
  readonly unconfirmedBefore: string
  /** Credits of days before it that the bank has not returned are late. */
  readonly returnedBefore: string
  /** Payments of days before it that the bank has not settled are late. */
  readonly settledBefore: string
}

/** A tenant by its name, as SQL. */
export const tenantName = (id: string): string =>
  `coalesce((select name from merchants where merchant_id = ${id}), (select name from partners where partner_id = ${id}), ${id})`

const days = (value: bigint): string => (value === 1n ? '1 day' : `${value} days`)

/** The oldest of rows with a time that is longer ago than so many days: for how many days it has waited, and how many there are. */
const oldest = (from: string, at: string): string =>
  `select '' as object, null as page, extract(day from $1::timestamptz - min(${at}))::bigint as value,
     count(*)::text as about
   from ${from} having count(*) > 0`

/** What did not happen in time. */
export const DEADLINES = {
  refund_late: {
    severity: ({ value }: FoundDeadline) => (value >= REFUND_CRITICAL_DAYS ? 'critical' : 'warning'),
    sql: `select '' as object, null as page, max(d.days)::bigint as value, count(*)::text as about
      from ${creditsLate('$1', `($3::jsonb ->> 'zone')`, dueDay('returnedBefore'))} having count(*) > 0`,
    detail: ({ about, value }: FoundDeadline) =>
      `The bank has not returned ${about} credits that were not accepted, one of them for ${days(value)}. Ask the bank: it has to within 5 days.`,
  },
  settlement_late: {
    severity: 'warning',
    sql: `select '' as object, null as page, count(*) as value, to_char(min(late.created_at at time zone ($3::jsonb ->> 'zone')), 'YYYY-MM-DD') as about
      from ${UNSETTLED_AHEAD} late where exists (select from settlement_batches) having count(*) > 0`,
    detail: ({ about, value }: FoundDeadline) =>
      `The bank has not settled ${value === 1n ? '1 payment' : `${value} payments`} in time, the oldest of ${about}. Import the settlement files that are missing, and claim the rest from the bank.`,
    command: 'svc admin settlement differences',
  },
  merchant_refund_late: {
    severity: 'warning',
    sql: oldest(
      `(select case status when 'PENDING' then created_at else sent_at end as since from merchant_refunds
        where status = 'PENDING'
            and created_at < $1::timestamptz - ${given('ALERT_MERCHANT_REFUND_UNSENT_DAYS')} * interval '1 day'
          or status = 'SENT'
            and sent_at < $1::timestamptz - ${given('ALERT_MERCHANT_REFUND_UNANSWERED_DAYS')} * interval '1 day') late`,
      'since',
    ),
    detail: ({ about, value }: FoundDeadline) =>
      `${about} refunds of merchants were not sent, or have no outcome, one of them for ${days(value)}. Send them, and ask the bank for outcomes.`,
    command: 'svc admin refund export',
  },
  payout_late: {
    severity: 'warning',
    sql: `select p.payout_id as object, p.payout_id as page, ${tenantName('p.merchant_id')} as about,
        greatest(1, extract(day from $1::timestamptz - p.sent_at))::bigint as value
      from payouts p where p.status = 'SENT'
        and p.sent_at < $1::timestamptz - ${given('ALERT_PAYOUT_LATE_HOURS')} * interval '1 hour'`,
    detail: ({ about, value }: FoundDeadline) =>
      `The outcome of a payout to ${about} has not been known for ${days(value)}. Import the response of the bank, or ask it.`,
  },
  dispute_due: {
    severity: 'warning',
    sql: `select d.dispute_id as object, d.dispute_id as page, ${tenantName('d.merchant_id')} as about,
        greatest(0, floor(extract(epoch from d.evidence_due_at - $1::timestamptz) / 3600))::bigint as value
      from disputes d
      where (d.status = 'OPEN' or d.status = 'EVIDENCE_SUBMITTED' and d.evidence_sent_at is null)
        and d.evidence_due_at < $1::timestamptz + ${given('ALERT_DISPUTE_DUE_HOURS')} * interval '1 hour'`,
    detail: ({ about }: FoundDeadline) =>
      `No evidence in a dispute of ${about} was sent to the bank, and its deadline comes. Send what the merchant submitted, or remind it.`,
  },
  invoice_missing: {
    severity: 'warning',
    sql: `select '' as object, null as page, count(*) as value, null as about from (
        select from journals j
        where j.kind = 'fee_accrual' and j.effective_date < ${THIS_MONTH}
          and j.effective_date >= ${THIS_MONTH} - interval '1 month' and ${isDay('ALERT_INVOICE_MISSING_DAY')}
          and not exists (select from tax_document_journals d
            where d.merchant_id = j.tenant_id and d.journal_id = j.journal_id)
        limit 10000) missing having count(*) > 0`,
    detail: ({ value }: FoundDeadline) =>
      `Fees of the month before are in no invoice, ${value} days of merchants. Issue the invoices.`,
    command: 'svc admin tax issue',
  },
  gst_due: {
    severity: 'warning',
    sql: `select '' as object, null as page, count(*) as value, to_char(${THIS_MONTH} - 1, 'YYYY-MM') as about from (
        select from tax_documents d
        where d.issue_date >= ${THIS_MONTH} - interval '1 month' and d.issue_date < ${THIS_MONTH}
          and ${isDay('ALERT_GST_DUE_DAY')} and d.cgst_paise + d.sgst_paise + d.igst_paise > 0
          and d.created_at > coalesce((select max(m.created_at) from own_funds_movements m
            where m.month = (${THIS_MONTH} - interval '1 month')::date and m.reversed_by is null), '-infinity')
        limit 10000) unpaid having count(*) > 0`,
    detail: ({ about, value }: FoundDeadline) =>
      `GST of ${about} is not paid, of ${value} documents. It is due on the 20th: pay it, then record that.`,
    command: 'svc admin books pay gst',
  },
  close_late: {
    severity: 'warning',
    sql: `select '' as object, null as page, 1 as value, (${THIS_MONTH} - 1)::text as about
      where ${isDay('ALERT_CLOSE_LATE_DAY')}
        and coalesce((select max(through) from book_closings), '-infinity') < ${THIS_MONTH} - 1
        and exists (select from tenants t where exists (
          select from journals j where j.tenant_id = t.tenant_id and j.journal_id < ($3::jsonb ->> 'monthBegins')))`,
    detail: ({ about }: FoundDeadline) => `The books until ${about} are not closed.`,
    command: 'svc admin books close --check',
  },
} as const
