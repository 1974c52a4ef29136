import type { Config } from '@svc/contract/config'
import { DELIVERIES_UNDER_WAY } from '@svc/core/webhooks/delivery-store'
import type { BankDays } from '@svc/kernel/bank-days'
import { dayAfter } from '@svc/kernel/bank-days'
import { instantOfDay } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { OPEN_LINES } from '@svc/server/payments/settlement-resource'
import type { Permission } from '../identity/permissions.ts'
import { monthsOfBooks } from '../months-of-books.ts'
import { bankDeadlines } from './bank-deadlines.ts'
import { creditsLate } from './deadlines.ts'
import { missingFiles } from './missing-files.ts'

/** Rows that are counted of what waits. */
export const WAITING_MAX = 10_000

interface Waits {
  /** Any of these may act on it; others do not see it. */
  readonly permissions: readonly Permission[]
  /**
   * Its rows: `at`, when it arrived; `due`, `amount` in paise, `tenant_id`, `id` and `about`, or null. `$1` is the time,
   * `$2` to `$5` are deadlines, `$7` is the zone: see `readWaiting`.
   */
  readonly rows: string
}

const finance = ['finance'] as const

/** What of the database waits for a person. */
const WAITS = {
  disputes: {
    permissions: ['contest'],
    rows: `select d.created_at as at, d.evidence_due_at as due, d.amount_paise as amount, d.merchant_id as tenant_id,
        d.dispute_id as id, d.case_reference as about
      from disputes d where d.status = 'OPEN' or d.status = 'EVIDENCE_SUBMITTED' and d.evidence_sent_at is null`,
  },
  approvals: {
    permissions: finance,
    rows: `select a.requested_at as at, a.expires_at as due, a.amount_paise as amount, a.tenant_id, a.approval_id as id, a.kind as about
      from approvals a where a.outcome is null and a.expires_at > $1`,
  },
  change_requests: {
    permissions: finance,
    rows: `select c.requested_at as at, null::timestamptz as due, null::bigint as amount, c.merchant_id as tenant_id,
        c.approval_id as id, c.kind as about
      from change_requests c where c.outcome is null`,
  },
  payouts_to_approve: {
    permissions: finance,
    rows: `select y.created_at as at, null::timestamptz as due, y.amount_paise as amount, y.merchant_id as tenant_id,
        y.payout_id as id, null as about
      from payouts y where y.status = 'PREPARED'`,
  },
  payouts_unanswered: {
    permissions: finance,
    rows: `select y.sent_at as at, null::timestamptz as due, y.amount_paise as amount, y.merchant_id as tenant_id,
        y.payout_id as id, null as about
      from payouts y where y.status = 'SENT' and y.sent_at < $1::timestamptz - $2::integer * interval '1 hour'`,
  },
  refunds_late: {
    permissions: finance,
    rows: `select r.created_at as at, null::timestamptz as due, r.amount_paise as amount, r.merchant_id as tenant_id,
        r.refund_id as id, r.reference_number as about
      from merchant_refunds r
      where r.status = 'PENDING' and r.created_at < $1::timestamptz - $3::integer * interval '1 day'
        or r.status = 'SENT' and r.sent_at < $1::timestamptz - $4::integer * interval '1 day'`,
  },
  credits_to_return: {
    permissions: finance,
    rows: `select q.requested_at as at, null::timestamptz as due, p.amount_paise as amount, p.merchant_id as tenant_id,
        p.payment_id as id, p.utr as about
      from ${creditsLate('$1', '$7::text', '$5::date')}`,
  },
  suspense: {
    permissions: finance,
    rows: `select p.created_at as at, null::timestamptz as due, p.amount_paise as amount, p.merchant_id as tenant_id,
        p.payment_id as id, p.utr as about
      from payments p where p.status = 'SUSPENSE'`,
  },
  statement_lines: {
    permissions: finance,
    rows: `select l.recorded_at as at, null::timestamptz as due, abs(l.amount_paise) as amount, null as tenant_id,
        l.line_id as id, l.narration as about
      from statement_lines l where l.status in ('UNMATCHED', 'DIFFERS')`,
  },
  settlement_lines: {
    permissions: finance,
    rows: `select l.recorded_at as at, null::timestamptz as due, abs(l.amount_paise) as amount, null as tenant_id,
        l.batch_id as id, l.reference as about
      from ${OPEN_LINES}`,
  },
  notices: {
    permissions: finance,
    rows: `select n.received_at as at, null::timestamptz as due, null::bigint as amount, null as tenant_id, n.notice_id as id,
        n.reason as about
      from rail_notices n where n.status = 'QUARANTINED'`,
  },
  events: {
    permissions: ['support', 'operations'],
    rows: `select n.created_at as at, null::timestamptz as due, null::bigint as amount, d.tenant_id, d.endpoint_id as id, null as about
      from ${DELIVERIES_UNDER_WAY} join event_numbers n on n.tenant_id = d.tenant_id and n.sequence = d.sequence
      where not d.first`,
  },
} as const satisfies Record<string, Waits>
type Stored = keyof typeof WAITS

/** What the calendar says waits. */
const BY_CALENDAR = ['settlement_files', 'bank_statements', 'book_months'] as const
type ByCalendar = (typeof BY_CALENDAR)[number]

type WaitingItem = Stored | ByCalendar
export const WAITING_ITEMS = [...Object.keys(WAITS), ...BY_CALENDAR] as readonly WaitingItem[]

const isByCalendar = (item: WaitingItem): item is ByCalendar => BY_CALENDAR.includes(item as ByCalendar)

/** Whose work it is. */
export const permissionsOfItem = (item: WaitingItem): readonly Permission[] =>
  isByCalendar(item) ? finance : WAITS[item].permissions

interface Waiting {
  readonly item: WaitingItem
  readonly count: number
  readonly amount: bigint | null
  readonly since: Date
  readonly due: Date | null
  readonly id: string
  readonly tenantId: string | null
  readonly name: string | null
  readonly exampleAmount: bigint | null
  readonly about: string | null
}

const first = (column: string) => `(array_agg(w.${column} order by w.due nulls last, w.at, w.id))[1]`
const READ = statement<Omit<Waiting, 'count'> & { count: bigint }>(
  'console_waiting',
  Object.entries<Waits>(WAITS)
    .map(
      ([item, { rows }]) =>
        `select one.*, coalesce(m.name, p.name) as name from (
           select '${item}' as item, count(*) as count, sum(w.amount)::bigint as amount, min(w.at) as since, min(w.due) as due,
             ${first('id')} as id, ${first('tenant_id')} as "tenantId", ${first('amount')} as "exampleAmount", ${first('about')} as about
           from (select * from (${rows}) r limit ${WAITING_MAX}) w having count(*) > 0) one
         left join merchants m on m.merchant_id = one."tenantId" left join partners p on p.partner_id = one."tenantId"
         where '${item}' = any ($6::text[])`,
    )
    .join('\nunion all\n'),
)

const OF_NO_TENANT = { tenantId: null, name: null } as const

async function monthsToClose(tx: Tx, now: Date, config: Config): Promise<Waiting[]> {
  const zone = config.BUSINESS_TIME_ZONE
  const months = await monthsOfBooks(tx, now.getTime(), zone)
  const open = months.filter(({ state }) => state === 'OPEN' || state === 'REQUESTED')
  const oldest = open.at(-1)
  if (!oldest) return []
  return [
    {
      ...OF_NO_TENANT,
      item: 'book_months',
      count: open.length,
      amount: null,
      since: instantOfDay(dayAfter(oldest.through, 1), 0, zone),
      due: null,
      id: oldest.through,
      exampleAmount: null,
      about: oldest.through,
    },
  ]
}

async function filesToImport(tx: Tx, bankDays: BankDays, now: Date, config: Config): Promise<Waiting[]> {
  const missing = await missingFiles(tx, bankDays, now, config)
  return Object.entries(missing).flatMap(([item, [first, ...others]]) =>
    first === undefined
      ? []
      : {
          ...OF_NO_TENANT,
          ...first,
          item: item as ByCalendar,
          count: 1 + others.length,
          amount:
            first.amount === null
              ? null
              : others.reduce((sum, { amount }) => sum + (amount ?? 0n), first.amount),
          exampleAmount: first.amount,
        },
  )
}

const later = (a: Date | null, b: Date | null): number =>
  (a?.getTime() ?? Number.POSITIVE_INFINITY) - (b?.getTime() ?? Number.POSITIVE_INFINITY) || 0

/** What waits for a person, by its deadline, then by how long it has waited. */
export async function readWaiting(
  tx: Tx,
  items: readonly WaitingItem[],
  bankDays: BankDays,
  now: Date,
  config: Config,
): Promise<Waiting[]> {
  const rows = await tx.query(READ, [
    now,
    config.ALERT_PAYOUT_LATE_HOURS,
    config.ALERT_MERCHANT_REFUND_UNSENT_DAYS,
    config.ALERT_MERCHANT_REFUND_UNANSWERED_DAYS,
    bankDeadlines(bankDays, now, config).returnedBefore,
    items,
    config.BUSINESS_TIME_ZONE,
  ])
  const byCalendar = items.some(isByCalendar)
    ? [...(await filesToImport(tx, bankDays, now, config)), ...(await monthsToClose(tx, now, config))]
    : []
  return [
    ...rows.map((row) => ({ ...row, count: Number(row.count) })),
    ...byCalendar.filter(({ item }) => items.includes(item)),
  ].toSorted((a, b) => later(a.due, b.due) || a.since.getTime() - b.since.getTime())
}
