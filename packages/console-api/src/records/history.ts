import { idFloor } from '@svc/contract/id-kinds'
import { type Attempt, webhookAttempts } from '@svc/core/webhooks/attempt'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { isTaken } from '@svc/server/webhooks/list-attempts'
import { Type } from 'typebox'
import { closed, instant, maybe, record, rupeesText, text } from '../console-schema.ts'
import { withoutReason } from './audit-details.ts'

const SOURCES = [
  'record',
  'notice',
  'payment',
  'refund',
  'dispute',
  'payout',
  'journal',
  'settlement',
  'event',
  'delivery',
  'audit',
] as const

export const HistoryEntry = record('HistoryEntry', {
  at: instant,
  source: Type.Enum([...SOURCES], {
    description:
      '`record`: the object itself; `audit`: an action of an operator, the command line or a tenant',
  }),
  what: text('What happened, such as `accepted`, `upi_credit` or `qr_code.credited`'),
  id: maybe(
    'Of the notice, payment, refund, dispute, payout, journal, settlement file, event, attempt; the number in the audit',
  ),
  amount: Type.Optional(rupeesText),
  detail: maybe(),
  actor: maybe('Of entries of the audit, and of evidence'),
  endpointId: maybe('Of deliveries'),
  failed: Type.Optional(Type.Boolean({ description: 'Of deliveries that the endpoint did not accept' })),
  lines: Type.Optional(
    Type.Array(
      closed({
        accountId: text(),
        debit: maybe('Rupees with two decimals, or whole coins'),
        credit: maybe('Rupees with two decimals, or whole coins'),
        unit: Type.Enum(['INR', 'COIN']),
      }),
      { description: 'Of journals: one line for each account, debits first' },
    ),
  ),
})

interface Line {
  readonly accountId: string
  readonly debit?: string
  readonly credit?: string
  readonly unit: 'INR' | 'COIN'
}

/** One fact about an object, before it is written as `HistoryEntry`. */
export interface HistoryItem {
  readonly at: Date
  readonly source: (typeof SOURCES)[number]
  readonly what: string
  readonly id?: string | undefined
  /** Rupees with two decimals. */
  readonly amount?: string | undefined
  readonly detail?: string | undefined
  readonly actor?: string | undefined
  readonly endpointId?: string | undefined
  readonly failed?: boolean | undefined
  readonly lines?: readonly Line[] | undefined
}

export interface HistorySubject {
  readonly tenantId: string
  /** Ids of the object and of what belongs to it, such as a payment and its refunds. */
  readonly objectIds: readonly string[]
  /** Journals besides those whose transfers name one of the objects. */
  readonly journalIds?: readonly string[]
  /** Without events of payments, of which a code has thousands. */
  readonly isWithoutPayments?: boolean
  /** Whether the caller has revealed the object: older entries of the audit have reasons of card changes. */
  readonly isRevealed?: boolean
  /** What is known already: its instants are where events are looked for. */
  readonly known: readonly HistoryItem[]
}

/** Entries of each kind, newest first. */
const EACH_MAX = 100
/** Of `ID_SLACK_MS` what is usual: each event is looked for around all instants that are known of its object. */
const ID_BEFORE_MS = 60_000
const ID_AFTER_MS = 10_000

const JOURNALS = statement<LegRow>(
  'console_history_journals',
  `with wanted as (
     select t.journal_id from ledger_transfers t where t.tenant_id = $1 and t.object_id = any ($2)
     union select unnest($3::text[])),
   shown as (
     select j.* from journals j where j.tenant_id = $1 and j.journal_id in (select journal_id from wanted)
     order by j.at desc, j.journal_id desc limit ${EACH_MAX})
   select j.journal_id, j.kind, j.at, j.reference, j.reason, t.debit_account_id, t.credit_account_id, t.amount, t.unit
   from shown j join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
   order by j.at, j.journal_id, t.leg`,
)

interface LegRow {
  journal_id: string
  kind: string
  at: Date
  reference: string | null
  reason: string | null
  debit_account_id: string
  credit_account_id: string
  amount: bigint
  unit: 'INR' | 'COIN'
}

// Events have no index by object: the ranges of ids around what is known keep this to a few pages of the primary key.
const EVENTS = statement<{ event_id: string; type: string; created_at: Date }>(
  'console_history_events',
  `select distinct o.event_id, o.type, o.created_at
   from unnest($2::text[], $3::text[]) as around (low, high)
     join outbox o on o.tenant_id = $1 and o.event_id >= around.low and o.event_id < around.high
   where (o.object_id = any ($4) and not ($5 and o.payload ->> 'paymentId' is not null)) or o.payload ->> 'paymentId' = any ($4) or o.payload ->> 'disputeId' = any ($4)
     or o.payload -> 'refund' ->> 'refundId' = any ($4)
   order by o.event_id desc limit ${EACH_MAX}`,
)

const DELIVERIES = statement<Attempt>(
  'console_history_deliveries',
  `select ${webhookAttempts.columns} from webhook_attempts a where a.tenant_id = $1 and a.event_id = any ($2)
   order by a.started_at desc, a.attempt_id desc limit ${EACH_MAX}`,
)

const AUDIT = statement<{ sequence: bigint; content: string }>(
  'console_history_audit',
  `select a.sequence, a.content from audit_log a where a.target = any ($1) order by a.sequence desc limit ${EACH_MAX}`,
)

interface AuditContent {
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Everything recorded about an object, oldest first: ledger, events, deliveries and audit, with what is known of it. */
export async function readHistory(tx: Tx, subject: HistorySubject): Promise<HistoryItem[]> {
  const {
    tenantId,
    objectIds,
    journalIds = [],
    isRevealed = false,
    isWithoutPayments = false,
    known,
  } = subject
  const journals = journalsOf(await tx.query(JOURNALS, [tenantId, objectIds, journalIds]))
  const [low, high] = rangesAround([...known, ...journals].map(({ at }) => at))
  const events = await tx.query(EVENTS, [tenantId, low, high, objectIds, isWithoutPayments])
  const deliveries = await tx.query(DELIVERIES, [tenantId, events.map(({ event_id }) => event_id)])
  const audit = await tx.query(AUDIT, [objectIds])
  return inOrder([
    ...known,
    ...journals,
    ...events.map(({ event_id, type, created_at }): HistoryItem => {
      return { at: created_at, source: 'event', what: type, id: event_id }
    }),
    ...deliveries.map(deliveryOf),
    ...audit.map((entry) => actionOf(entry, isRevealed)),
  ])
}

/** By time; of one instant, causes before what follows from them. */
const inOrder = (items: readonly HistoryItem[]): HistoryItem[] =>
  items.toSorted(
    (a, b) => a.at.getTime() - b.at.getTime() || SOURCES.indexOf(a.source) - SOURCES.indexOf(b.source),
  )

/** Ranges of event ids around the instants, overlapping ones joined: lower and upper bounds. */
function rangesAround(instants: readonly Date[]): [low: string[], high: string[]] {
  const [low, high]: [number[], number[]] = [[], []]
  for (const at of instants.map((each) => each.getTime()).toSorted((a, b) => a - b)) {
    const begin = at - ID_BEFORE_MS
    if (begin <= (high.at(-1) ?? Number.NEGATIVE_INFINITY)) high[high.length - 1] = at + ID_AFTER_MS
    else {
      low.push(begin)
      high.push(at + ID_AFTER_MS)
    }
  }
  const bound = (ms: number) => idFloor('evt', new Date(ms))
  return [low.map(bound), high.map(bound)]
}

function journalsOf(rows: readonly LegRow[]): HistoryItem[] {
  const legs = new Map<string, LegRow[]>()
  for (const row of rows) legs.set(row.journal_id, [...(legs.get(row.journal_id) ?? []), row])
  return [...legs].map(([id, ofJournal]) => {
    const { at, kind, reason, reference } = ofJournal[0] as LegRow
    return {
      at,
      source: 'journal',
      what: kind,
      id,
      detail: [reference, reason].filter(Boolean).join(': ') || undefined,
      lines: [...linesOf(ofJournal, 'debit'), ...linesOf(ofJournal, 'credit')],
    }
  })
}

/** One line for each account on this side of a journal. */
function linesOf(legs: readonly LegRow[], side: 'debit' | 'credit'): Line[] {
  const sums = new Map<string, { amount: bigint; unit: LegRow['unit'] }>()
  for (const { amount, unit, [`${side}_account_id` as const]: accountId } of legs)
    sums.set(accountId, { amount: (sums.get(accountId)?.amount ?? 0n) + amount, unit })
  return [...sums].map(([accountId, { amount, unit }]) => ({
    accountId,
    [side]: unit === 'INR' ? formatRupees(amount) : String(amount),
    unit,
  }))
}

function deliveryOf(attempt: Attempt): HistoryItem {
  const { attempt: number, attemptId, durationMs, endpointId, failure, startedAt, status, url } = attempt
  const outcome = status === null ? (failure ?? 'no response') : `status ${status}`
  return {
    at: startedAt,
    source: 'delivery',
    what: isTaken(status) ? 'delivered' : 'delivery_failed',
    id: attemptId,
    detail: `${url}: attempt ${number}, ${outcome} after ${durationMs} ms`,
    endpointId,
    failed: !isTaken(status),
  }
}

function actionOf(
  { content, sequence }: { content: string; sequence: bigint },
  isRevealed: boolean,
): HistoryItem {
  const { action, actor, at, details = {} } = JSON.parse(content) as AuditContent
  const shown = isRevealed ? details : withoutReason(action, details)
  const detail = Object.entries(shown).map(([name, value]) => `${name}: ${String(value)}`)
  return {
    at: new Date(at),
    source: 'audit',
    what: action,
    id: String(sequence),
    detail: detail.join(', ') || undefined,
    actor,
  }
}

export const historyItemToWire = ({ at, ...rest }: HistoryItem, timeZone: string) => ({
  at: rfc3339(at, timeZone),
  ...rest,
})
