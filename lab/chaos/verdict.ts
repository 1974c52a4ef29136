import type { AnyBed } from './bed.ts'
import type { Load } from './load.ts'
import { digest, type Kind } from './record.ts'

export interface KindCount {
  readonly kind: Kind
  readonly acknowledged: number
  readonly found: number
  /** Acknowledged and not there. */
  readonly lost: number
  /** There without an acknowledgement of its own, or acknowledged for two intents. */
  readonly doubled: number
}

export interface Verdict {
  readonly counts: readonly KindCount[]
  readonly events: {
    readonly committed: number
    readonly received: number
    readonly faults: readonly string[]
  }
  /** Of acknowledged writes: `repeats` while faults went on, `sent` all of them once more at the end. */
  readonly replays: {
    readonly repeats: number
    readonly sent: number
    readonly different: Readonly<Record<string, number>>
  }
  readonly history: {
    readonly objects: number
    readonly operations: number
    readonly anomalies: readonly string[]
  }
  readonly reconciled: boolean
  /** All that is wrong, in words; empty when the run is passed. */
  readonly broken: readonly string[]
}

/** The objects of each kind in the database, by id. */
const OBJECTS: Readonly<{ [K in Kind]: string }> = {
  'QR code': 'select qr_code_id as id from qr_codes',
  payment: `select p.payment_id as id from payments p join ledger_transfers t
    on t.object_id = p.payment_id and t.kind = 'upi_credit' where p.qr_code_id is not null`,
  'gift card': `select c.svc_card_id as id from cards c join ledger_transfers t on t.object_id = c.svc_card_id`,
  'coin award': 'select lot_id as id from coin_lots',
  'coin redemption': 'select redemption_id as id from coin_redemptions',
}

/** One event for each committed change (promise G1): how many there must be, from the objects themselves. */
const CHANGES: Readonly<Record<string, string>> = {
  'qr_code.created': 'select count(*) from qr_codes',
  'qr_code.credited': `select count(*) from payments where status = 'ACCEPTED'`,
  'qr_code.cancelled': `select count(*) from qr_codes where status = 'CANCELLED'`,
  'payment.refunded': `select (select count(*) from payments where status = 'REFUNDED')
    + (select count(*) from merchant_refunds where status = 'REFUNDED')`,
  'card.created': 'select count(*) from cards',
  'card.status_changed': `select count(*) from card_changes where field = 'cardStatus' and from_value is not null`,
  'coins.allocated': 'select count(*) from coin_lots where activation_id is null',
  'coins.redeemed': 'select count(*) from coin_redemptions',
}

/** Holds what callers were told against what the database holds, what receivers got, and what a repeat answers. */
export async function judge(bed: AnyBed, load: Load, report: (progress: string) => void): Promise<Verdict> {
  const { record } = load
  const counts = await Promise.all(
    (Object.keys(OBJECTS) as Kind[]).map((kind) => countKind(bed, kind, record.acknowledged.get(kind))),
  )
  report('waiting for the events to be delivered')
  const events = await compareEvents(bed)
  report(`repeating ${record.replayable.length} acknowledged requests`)
  const replays = await replayAll(load)
  report('looking for a serial order of each history')
  const anomalies = record
    .anomalies()
    .map(
      ({ object, anomaly }) =>
        `${object}: ${JSON.stringify(anomaly.at)} fits no order of ${JSON.stringify(anomaly.before.slice(-8))}`,
    )
  const { reconciled, why } = await reconcile(bed)
  const broken = [
    ...counts.flatMap(({ kind, lost, doubled }) => [
      ...(lost > 0 ? [`${lost} acknowledged: ${kind}, lost`] : []),
      ...(doubled > 0 ? [`${doubled} of kind ${kind} twice, or without an acknowledgement`] : []),
    ]),
    ...events.faults,
    ...Object.entries(replays.different).map(
      ([what, times]) => `${times} repeats of ${what} were answered otherwise than the first time`,
    ),
    ...anomalies,
    ...(reconciled ? [] : [`svc admin reconcile: ${why}`]),
    ...[...record.surprises].map(([what, times]) => `${what}, ${times} times`),
    ...(load.attempts.byOutcome.get('500') ? [`${load.attempts.byOutcome.get('500')} answers 500`] : []),
    ...bed.members.flatMap((member) => member.crashes.map((crash) => `a process ${crash}`)),
  ]
  const history = { objects: record.objects, operations: record.operations, anomalies }
  return { counts, events, replays, history, reconciled, broken }
}

async function countKind(
  { server }: AnyBed,
  kind: Kind,
  reported = new Map<string, number>(),
): Promise<KindCount> {
  const found = new Map<string, number>()
  for (const { id } of await server.query<{ id: string }>(OBJECTS[kind]))
    found.set(id, (found.get(id) ?? 0) + 1)
  const lost = [...reported.keys()].filter((id) => !found.has(id)).length
  const twice = [...found].filter(([id, times]) => times > 1 || reported.get(id) !== 1).length
  return { kind, acknowledged: reported.size, found: found.size, lost, doubled: twice }
}

/** Without another delivery. An overload leaves many events behind. */
const DELIVERY_MS = 60_000

/** Events of tenants that have webhooks: credits of an overload are of no merchant, and the platform has none. */
async function compareEvents({ server, receiver }: AnyBed): Promise<Verdict['events']> {
  const faults: string[] = []
  const committed = () =>
    server.query<{ tenant_id: string; event_id: string; sequence: string | null }>(
      `select o.tenant_id, o.event_id, n.sequence from outbox o
         left join event_numbers n on n.tenant_id = o.tenant_id and n.event_id = o.event_id
       where o.tenant_id in (select tenant_id from webhook_endpoints)`,
    )
  let rows = await committed()
  const missing = () => rows.filter((row) => !receiver.received.get(row.tenant_id)?.has(row.event_id))
  let left = missing().length
  for (let end = performance.now() + DELIVERY_MS; left > 0 && performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    rows = await committed()
    const before = left
    left = missing().length
    if (left < before) end = performance.now() + DELIVERY_MS
  }
  if (left > 0) faults.push(`${left} committed events were not received`)
  const known = new Set(rows.map((row) => row.event_id))
  const received = [...receiver.received.values()].flatMap((ids) => [...ids.keys()])
  const invented = received.filter((id) => !known.has(id)).length
  if (invented > 0) faults.push(`${invented} received events were never committed`)
  if (receiver.forged > 0) faults.push(`${receiver.forged} deliveries bore no valid signature`)
  for (const [tenantId, ids] of receiver.received) {
    const numbers = new Set(ids.values())
    if (numbers.size !== ids.size || Math.max(0, ...numbers) !== ids.size)
      faults.push(`the event numbers of ${tenantId} have gaps or repeat`)
  }
  for (const [type, changes] of Object.entries(CHANGES)) {
    const rows = await server.query<{ events: number; changes: number }>(
      `select (select count(*) from outbox where type = $1)::int as events, (${changes})::int as changes`,
      [type],
    )
    const sum = (name: 'events' | 'changes') => rows.reduce((total, row) => total + row[name], 0)
    if (sum('events') !== sum('changes'))
      faults.push(`${sum('events')} events ${type} of ${sum('changes')} changes`)
  }
  return { committed: rows.length, received: new Set(received).size, faults }
}

const REPLAYERS = 16

/** Every acknowledged write once more, with the same key or JWE: the same bytes must come back (decision C13). */
async function replayAll({ record, caller }: Load): Promise<Verdict['replays']> {
  let next = 0
  const different = new Map<string, number>()
  const replay = async () => {
    for (let n = next++; n < record.replayable.length; n = next++) {
      const { intent, digest: first } = record.replayable[n]!
      const { status, text } = await caller.send(intent)
      if (digest(`${status} ${text}`) === first) continue
      const what = `${intent.method} ${intent.path.replace(/[a-z]+_[0-9a-z]{26}/, ':id')}`
      different.set(what, (different.get(what) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: REPLAYERS }, replay))
  return { repeats: record.repeats, sent: record.replayable.length, different: Object.fromEntries(different) }
}

async function reconcile({ alsoOperate = [], operate, server }: AnyBed): Promise<{
  reconciled: boolean
  why: string
}> {
  // As autovacuum does within minutes: until then a new database has no statistics, and plans are slow on many rows.
  await server.query('analyze')
  try {
    for (const each of [operate, ...alsoOperate]) {
      const { ok } = (await each('reconcile')) as { ok: boolean }
      if (!ok) return { reconciled: false, why: 'differences' }
      await each('invariants')
      await each('audit', 'verify')
    }
    return { reconciled: true, why: '' }
  } catch (error) {
    return { reconciled: false, why: (error as Error).message }
  }
}
