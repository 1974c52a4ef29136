import { statfs } from 'node:fs/promises'
import { type DeadlineSettings, deadlinesOf } from '@svc/contract/deadline-settings'
import { idFloor } from '@svc/contract/id-kinds'
import { readBankDays } from '@svc/core/ledger/bank-holidays'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay, instantOfDay } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'
import { bankDeadlines, settledBeforeId } from './bank-deadlines.ts'
import { DEADLINES, dueDay, given, tenantName } from './deadlines.ts'
import { SETTLED_TO } from './settled-payments.ts'

/**
 * Conditions of one kind that open alerts; the first ones, so that a broken bank does not open thousands. Those that have
 * an alert come before all others: it stays open while they last.
 */
const OBJECTS_MAX = 100
/** Rows that are counted of a queue. */
const COUNTED_MAX = 10_000

export const SEVERITIES = ['warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Something that lasts and that people must act on. */
export interface Condition {
  readonly kind: AlertKind
  /** What it is of; empty where it is of the whole service. */
  readonly objectId: string
  /** The record whose page shows it. */
  readonly pageId: string | null
  readonly severity: Severity
  /** How bad it is, in a unit of its kind; twice as much is worse (decision O9). */
  readonly value: number
  readonly detail: string
}

interface Found {
  readonly kind: StoredKind
  readonly object: string
  readonly page: string | null
  readonly value: bigint
  readonly about: string | null
}

interface StoredCondition {
  readonly severity: Severity | ((found: Found) => Severity)
  /**
   * Its objects: `object`, `page`, `value` and `about`. `$1` is the time, `$2` the hours of `ALERT_SUSPENSE_HOURS`, `$3`
   * the other settings of deadlines and the business zone as JSON.
   */
  readonly sql: string
  readonly detail: (found: Found) => string
  /** What shows or mends it on the service’s machine. */
  readonly command?: string
}

const counted = (from: string): string =>
  `select '' as object, null as page, count(*) as value, null as about
   from (select from ${from} limit ${COUNTED_MAX}) one having count(*) > 0`

/** A credential that was replaced and is still used shortly before its end (decision A15). */
const expiring = (table: string, id: string, name: string): string =>
  `select c.${id} as object, c.tenant_id as page, 1 as value, '${name} of ' || ${tenantName('c.tenant_id')} as about
   from ${table} c join credential_uses u on u.tenant_id = c.tenant_id and u.credential_id = c.${id}
   where c.expires_at > $1 and c.expires_at <= $1::timestamptz + interval '24 hours' and c.revoked_at is null
     and u.last_used_at > $1::timestamptz - interval '24 hours'`

/** The newest proof of funds for which no statement was missing. */
const LAST_PROOF = `(select p.proven_on::text as day, p.unexplained_paise, p.shortfall_paise from funds_proofs p
    where not p.provisional order by p.proven_on desc, p.version desc limit 1) last`

/** The last check of a kind that came to a result. */
const lastCheck = (kind: string): string =>
  `(select c.started_at, c.result from console_checks c where c.kind = '${kind}' and c.result is not null
    order by c.check_id desc limit 1) last`

const many = (value: bigint, one: string, several: string): string =>
  value === 1n ? `1 ${one}` : `${value >= COUNTED_MAX ? 'At least ' : ''}${value} ${several}`

const STORED = {
  rail_signature_rejected: {
    severity: 'critical',
    sql: `select '' as object, null as page, sum(count)::bigint as value, null as about from minute_sums
      where what = 'failure invalid_signature' and minute >= $1::timestamptz - interval '15 minutes' having sum(count) > 0`,
    detail: ({ value }) =>
      `${many(value, 'message', 'messages')} of a rail in the last 15 minutes had a wrong signature. Compare the keys with the bank’s; the log names each message.`,
  },
  notices_in_quarantine: {
    severity: 'warning',
    sql: counted(`rail_notices where status = 'QUARANTINED'`),
    detail: ({ value }) =>
      `${many(value, 'bank notice is', 'bank notices are')} in quarantine. Read and assign them.`,
  },
  suspense_old: {
    severity: 'warning',
    sql: counted(
      `payments where status = 'SUSPENSE' and created_at < $1::timestamptz - $2 * interval '1 hour'`,
    ),
    detail: ({ value }) =>
      `${many(value, 'credit has', 'credits have')} been in suspense for too long. Assign or return them.`,
  },
  settlement_unknown: {
    severity: 'warning',
    sql: counted(
      `settlement_lines l where l.status = 'UNKNOWN' and l.recorded_at < $1::timestamptz - interval '24 hours'
         and not exists (select from payments p where p.utr = l.utr)`,
    ),
    detail: ({ value }) =>
      `The bank paid ${many(value, 'credit', 'credits')} more than a day ago of which no notice has come. Ask it for the notices.`,
    command: 'svc admin settlement differences',
  },
  statement_missing: {
    severity: 'warning',
    sql: `select b.bank_account_id as object, null as page, ${dueDay('statementDue')} - coalesce(s.through, b.opened_on - 1) as value, b.name as about
      from bank_accounts b cross join lateral (
        select max(s.through) as through from bank_statements s where s.bank_account_id = b.bank_account_id) s
      where coalesce(s.through, b.opened_on - 1) < ${dueDay('statementDue')}`,
    detail: ({ about, value }) =>
      `${many(value, 'day of', 'days of')} ${about} ${value === 1n ? 'has' : 'have'} no bank statement. Get it from the bank and import it.`,
  },
  statement_unmatched: {
    severity: 'warning',
    sql: counted(
      `statement_lines l where l.status in ('UNMATCHED', 'DIFFERS')
         and l.recorded_at < $1::timestamptz - ${given('ALERT_STATEMENT_UNMATCHED_DAYS')} * interval '1 day'`,
    ),
    detail: ({ value }) =>
      `${many(value, 'line of a bank statement fits', 'lines of bank statements fit')} nothing, or another amount. Match or resolve each.`,
    command: 'svc admin statement lines',
  },
  batch_unconfirmed: {
    severity: 'warning',
    sql: counted(
      `settlement_batches b where b.is_awaited and b.status in ('INCOMPLETE', 'POSTED', 'DIFFERS')
         and b.value_date < ${dueDay('unconfirmedBefore')} and exists (select from bank_accounts)`,
    ),
    detail: ({ value }) =>
      `No bank statement shows ${many(value, 'settlement batch', 'settlement batches')} as booked. Import the statements, or ask the bank for the money.`,
  },
  batch_incomplete: {
    severity: 'warning',
    sql: counted(
      `settlement_batches b where b.status = 'INCOMPLETE' and b.value_date < ${dueDay('incompleteBefore')}`,
    ),
    detail: ({ value }) =>
      `Lines of ${many(value, 'settlement batch', 'settlement batches')} do not add up to the net amount. Ask the bank for the missing lines and import them.`,
    command: 'svc admin settlement batches --status INCOMPLETE',
  },
  escrow_shortfall: {
    severity: 'critical',
    sql: `select '' as object, null as page, last.shortfall_paise as value, last.day as about
      from ${LAST_PROOF} where last.shortfall_paise > ${given('ALERT_SHORTFALL_RUPEES')}::bigint * 100`,
    detail: ({ about, value }) =>
      `At the end of ${about} escrow accounts had ${formatRupees(value)} rupees less than is owed out of them. Find out why, top them up, and report it.`,
    command: 'svc admin books proof',
  },
  proof_failed: {
    severity: 'critical',
    sql: `select '' as object, null as page, last.unexplained_paise as value, last.day as about
      from ${LAST_PROOF} where last.unexplained_paise > ${given('ALERT_UNEXPLAINED_RUPEES')}::bigint * 100`,
    detail: ({ about, value }) =>
      `Of the proof of funds of ${about}, ${formatRupees(value)} rupees are unexplained: the books or the statements were changed. Find the difference.`,
    command: 'svc admin books proof; svc admin invariants',
  },
  payout_failed: {
    severity: 'warning',
    // A payout that was prepared since includes what this one did not pay.
    sql: `select p.payout_id as object, p.payout_id as page, 1 as value, ${tenantName('p.merchant_id')} as about from payouts p
      where p.status = 'FAILED' and p.paid_late_at is null
        and coalesce(p.returned_at, p.completed_at) > $1::timestamptz - interval '30 days' and not exists (
        select from payouts n where n.merchant_id = p.merchant_id
          and n.created_at > coalesce(p.returned_at, p.completed_at)
          and n.status in ('SENT', 'PAID'))`,
    detail: ({ about }) =>
      `The bank did not pay a payout to ${about}, or its money came back. Correct the account of the merchant and prepare the payout again.`,
  },
  payout_paid_late: {
    severity: 'critical',
    sql: `select p.payout_id as object, p.payout_id as page, 1 as value, ${tenantName('p.merchant_id')} as about from payouts p
      where p.paid_late_at is not null and exists (
        select from ledger_accounts a where a.tenant_id = p.merchant_id and a.kind = 'payout_exceptions' and a.balance < 0)`,
    detail: ({ about }) =>
      `The bank paid a payout to ${about} that it had reported as failed, and its money was paid again or spent. Get it back, then settle the payout exceptions of the merchant.`,
  },
  refund_made_late: {
    severity: 'critical',
    sql: `select r.refund_id as object, r.refund_id as page, 1 as value, ${tenantName('r.merchant_id')} as about from merchant_refunds r
      where r.refunded_late_at is not null and exists (
        select from ledger_accounts a where a.tenant_id = r.merchant_id and a.kind = 'refund_exceptions' and a.balance < 0)`,
    detail: ({ about }) =>
      `The bank made a refund of ${about} that it had reported as failed, and its money was spent or refunded again. Get it back, then settle the refund exceptions of the merchant.`,
  },
  webhook_endpoint_disabled: {
    severity: 'warning',
    sql: `select e.endpoint_id as object, e.endpoint_id as page, 1 as value, ${tenantName('e.tenant_id')} as about from webhook_endpoints e
      where not e.enabled and e.disabled_reason = 'gone'`,
    detail: ({ about }) =>
      `The webhook endpoint of ${about} was disabled after status 410. Ask the tenant, then enable or delete it.`,
  },
  webhook_endpoint_failing: {
    severity: 'warning',
    sql: `select e.endpoint_id as object, e.endpoint_id as page, ${tenantName('e.tenant_id')} as about,
        greatest(1, floor(extract(epoch from $1::timestamptz - d.started_at) / 3600))::bigint as value
      from (select distinct q.tenant_id, q.endpoint_id from webhook_deliveries q
        where q.attempts > 0 and q.started_at <= $1::timestamptz - interval '1 hour') late
      cross join lateral (
        select q.started_at, q.attempts from webhook_deliveries q
        where q.tenant_id = late.tenant_id and q.endpoint_id = late.endpoint_id order by q.sequence limit 1) d
      cross join lateral (
        select w.* from webhook_endpoints w
        where w.tenant_id = late.tenant_id and w.endpoint_id = late.endpoint_id offset 0) e
      where e.enabled and d.attempts > 0 and d.started_at <= $1::timestamptz - interval '1 hour'`,
    detail: ({ about, value }) =>
      `A webhook endpoint of ${about} has failed for ${many(value, 'hour', 'hours')}. Events are dropped after 72 hours.`,
  },
  credential_expiring: {
    severity: 'warning',
    sql: `${expiring('api_keys', 'api_key_id', 'API key')} union all ${expiring('oauth_clients', 'client_id', 'OAuth client')}`,
    detail: ({ about }) =>
      `The ${about} was replaced, ends within 24 hours and is still used. Remind the tenant.`,
  },
  events_delayed: {
    severity: 'critical',
    sql: `select '' as object, null as page, extract(epoch from $1::timestamptz - min(created_at))::bigint as value,
        null as about from unnumbered_events having min(created_at) < $1::timestamptz - interval '1 minute'`,
    detail: ({ value }) =>
      `Events wait for ${value} s to be published. Check that a process runs background work and that the database accepts writes.`,
  },
  books_differ: {
    severity: 'critical',
    sql: `select '' as object, null as page, null as about,
        greatest(1, jsonb_array_length(jsonb_path_query_array(last.result, '$.checks[*] ? (@.ok == false)')))::bigint as value
      from ${lastCheck('ledger')} where last.result @> '{"ok": false}'`,
    detail: ({ value }) =>
      `${many(value, 'check of the books finds', 'checks of the books find')} differences. See the reconciliation.`,
  },
  books_unchecked: {
    severity: 'warning',
    // By the database's clock, as the checks. The platform's tenant is as old as the installation.
    sql: `select '' as object, null as page, null as about,
        floor(extract(epoch from clock_timestamp() - since.at) / 3600)::bigint as value
      from (select greatest(t.created_at, (select last.started_at from ${lastCheck('ledger')})) as at
        from tenants t where t.tenant_id = 'house') since
      where since.at < clock_timestamp() - interval '24 hours'`,
    detail: ({ value }) =>
      `The books have not been checked for ${value} hours. Start a reconciliation; the log says why it broke off.`,
  },
  audit_chain_broken: {
    severity: 'critical',
    sql: `select '' as object, null as page, 1 as value, null as about from ${lastCheck('audit')}
      where last.result @> '{"whole": false}'`,
    detail: () => 'An audit chain does not verify: entries were changed or removed. See the audit.',
  },
  owner_acted: {
    severity: 'critical',
    sql: `select '' as object, null as page, count(*) as value, (array_agg(a.command order by a.act_id desc))[1] as about
      from owner_acts a where a.at > $1::timestamptz - interval '7 days' having count(*) > 0`,
    detail: ({ about, value }) =>
      `${many(value, 'command was', 'commands were')} run in the last 7 days with the login of the database’s owner in the place of an administrator, the last: ${about}. Ask who did it; the audit has what changed.`,
  },
  archiving_failed: {
    severity: 'critical',
    sql: `select '' as object, null as page, 1 as value, null as about from pg_stat_archiver
      where current_setting('archive_mode') <> 'off'
        and last_failed_time > coalesce(last_archived_time, '-infinity')`,
    detail: () =>
      'PostgreSQL cannot archive its write-ahead log: the latest changes are in no backup, and its disk fills. See its log.',
  },
  ...DEADLINES,
} as const satisfies Record<string, StoredCondition>
type StoredKind = keyof typeof STORED

/** What shows or mends a condition on the service’s machine, where a command does. */
export const commandOf = (kind: AlertKind): string | undefined =>
  (STORED as Readonly<Record<string, StoredCondition>>)[kind]?.command

/** What is found outside the database. */
const MEASURED = ['disk_low', 'service_warning'] as const

export type AlertKind = StoredKind | (typeof MEASURED)[number]
export const ALERT_KINDS = [...(Object.keys(STORED) as StoredKind[]), ...MEASURED] as readonly AlertKind[]

const READ = statement<Found>(
  'alert_conditions',
  Object.entries(STORED)
    .map(
      ([kind, { sql }]) =>
        `(select '${kind}' as kind, c.object, c.page, c.value::bigint as value, c.about from (${sql}) c
          order by not exists (
            select from alerts a where a.kind = '${kind}' and a.object_id = c.object and a.closed_at is null), c.object
          limit ${OBJECTS_MAX})`,
    )
    .join('\nunion all\n'),
)

/** No id of a journal of this month sorts before it. */
function firstJournalOfMonth(now: Date, { BUSINESS_TIME_ZONE: zone }: Settings): string {
  return idFloor('jrn', instantOfDay(`${calendarDay(now, zone).slice(0, 7)}-01`, 0, zone))
}

type Settings = DeadlineSettings & {
  readonly ALERT_SUSPENSE_HOURS: number
  readonly BUSINESS_TIME_ZONE: string
}

/** The conditions that the database shows. */
export async function storedConditions(tx: Tx, now: Date, config: Settings): Promise<Condition[]> {
  const due = bankDeadlines(await readBankDays(tx), now, config)
  const limits = {
    ...deadlinesOf(config),
    ...due,
    zone: config.BUSINESS_TIME_ZONE,
    settledBeforeId: settledBeforeId(due, config),
    monthBegins: firstJournalOfMonth(now, config),
  }
  const found = await tx.query(READ, [now, config.ALERT_SUSPENSE_HOURS, JSON.stringify(limits)])
  return found.map((row) => {
    const { detail, severity }: StoredCondition = STORED[row.kind]
    return {
      kind: row.kind,
      objectId: row.object,
      pageId: row.page,
      severity: typeof severity === 'function' ? severity(row) : severity,
      value: Number(row.value),
      detail: detail(row),
    }
  })
}

/** Remembers until which payment the bank has settled all, so that no look reads them again. */
export async function moveSettled(tx: Tx, now: Date, config: Settings): Promise<void> {
  const due = bankDeadlines(await readBankDays(tx), now, config)
  await tx.query(SETTLED_TO, [settledBeforeId(due, config)])
}

const DISK_WARNING = 0.1
const DISK_CRITICAL = 0.02
const WARNINGS_CHARS_MAX = 900

type Measured = Pick<Services, 'config' | 'database' | 'warnings'>

/** The conditions that this process sees outside the database. */
export async function measuredConditions({ config, database, warnings }: Measured): Promise<Condition[]> {
  const whole = { objectId: '', pageId: null }
  const conditions: Condition[] = []
  // A PostgreSQL of its own has a disk of its own, which its monitoring watches.
  if ('host' in database.address) {
    const { bavail, blocks } = await statfs(config.DATA_DIR)
    const free = bavail / blocks
    if (free < DISK_WARNING)
      conditions.push({
        ...whole,
        kind: 'disk_low',
        severity: free < DISK_CRITICAL ? 'critical' : 'warning',
        value: Math.round(100 * (1 - free)),
        detail: `${Math.round(100 * free)} % of the disk of DATA_DIR is free. Make room before writes fail.`,
      })
  }
  const warned = warnings()
  if (warned.length > 0)
    conditions.push({
      ...whole,
      kind: 'service_warning',
      severity: 'warning',
      value: warned.length,
      detail: warned.join('; ').slice(0, WARNINGS_CHARS_MAX),
    })
  return conditions
}
