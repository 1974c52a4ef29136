import { setTimeout as sleep } from 'node:timers/promises'
import { connectionOptions } from '@svc/platform/db/connection-options'
import pg from 'pg'
import { type CellDatabase, CellRefused, rowsOf } from './cell-connection.ts'
import { replicatedTables } from './moved-tables.ts'

/** A tenant on its way, with those that move with it. */
export interface Travel {
  readonly source: CellDatabase
  readonly target: CellDatabase
  readonly from: string
  readonly to: string
  /** The one that was named, first. */
  readonly tenants: readonly string[]
}

const POLL_MS = 20
const literals = (values: readonly string[]): string =>
  values.map((value) => pg.escapeLiteral(value)).join(', ')

/** The name of the move's publication, slot and subscription. */
const nameOf = ({ tenants }: Travel): string => `svc_move_${tenants[0]}`

/** What moves, published with row filters: the tenant is in every replica identity, so updates and deletes are too. */
export async function publish(travel: Travel): Promise<void> {
  const { client } = travel.source
  const name = nameOf(travel)
  const known = await rowsOf(client, 'select from pg_publication where pubname = $1', [name])
  if (known.length === 0) {
    const tables = (await replicatedTables(client)).map(
      (table) => `svc."${table.name}" where ("${table.column}" in (${literals(travel.tenants)}))`,
    )
    await client.query(
      `create publication ${name} for table ${tables.join(', ')} with (publish_via_partition_root = true)`,
    )
  }
  // By itself, since a subscription in the same server would wait for its own transaction.
  await client.query(
    `select pg_create_logical_replication_slot($1, 'pgoutput')
     where not exists (select from pg_replication_slots where slot_name = $1)`,
    [name],
  )
}

/** libpq's words for the connection to a cell. */
function conninfo({ address }: CellDatabase): string {
  const options = connectionOptions(address, undefined)
  if ('connectionString' in options && options.connectionString) {
    // pg takes a socket's directory as a parameter, as libpq does; what else it knows, libpq does not.
    const url = new URL(options.connectionString)
    url.searchParams.delete('options')
    return url.href
  }
  return `host=${options.host} port=${options.port} dbname=${options.database} user=postgres`
}

const subscriptions = (travel: Travel) =>
  rowsOf<{ oid: number }>(
    travel.target.client,
    `select s.oid::int as oid from pg_subscription s join pg_database d on d.oid = s.subdbid
     where s.subname = $1 and d.datname = current_database()`,
    [nameOf(travel)],
  )

export const isSubscribed = async (travel: Travel): Promise<boolean> =>
  (await subscriptions(travel)).length > 0

export async function subscribe(travel: Travel): Promise<void> {
  const name = nameOf(travel)
  await travel.target.client.query(
    `create subscription ${name} connection ${pg.escapeLiteral(conninfo(travel.source))} publication ${name}
     with (create_slot = false, slot_name = '${name}', copy_data = true)`,
  )
}

interface ReplicationState {
  readonly ready: number
  readonly all: number
  /** How often a worker of the other cell has ended by an error so far. */
  readonly errors: number
}

/** Workers are started again every five seconds: a server that restarts takes a few of them down, what is refused all. */
const REFUSED_AFTER = 4
const APART_MS = 4_000

/** What the other cell refuses comes again and again; connections that were lost do not. */
class Refusals {
  readonly #cell: string
  #errors: number | undefined
  #times = 0
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(cell: string) {
    this.#cell = cell
  }

  /** Throws once workers have failed at that many times. */
  note({ errors }: ReplicationState): void {
    const isMore = this.#errors !== undefined && errors > this.#errors
    this.#errors = errors
    if (!isMore || performance.now() - this.#lastMs < APART_MS) return
    this.#lastMs = performance.now()
    if (++this.#times >= REFUSED_AFTER)
      throw new CellRefused(
        `The cell ${this.#cell} refuses rows of the tenant: its PostgreSQL log says why. Abort with --abort, or remove the cause and run this again`,
      )
  }
}

/** How many tables there are and how many were copied. */
async function stateOf(travel: Travel): Promise<ReplicationState> {
  const [state] = await rowsOf<ReplicationState>(
    travel.target.client,
    `select (select count(*) filter (where r.srsubstate = 'r')::int from pg_subscription_rel r where r.srsubid = s.oid) as ready,
       (select count(*)::int from pg_subscription_rel r where r.srsubid = s.oid) as all,
       coalesce((select apply_error_count + sync_error_count from pg_stat_subscription_stats t where t.subid = s.oid), 0)::int as errors
     from pg_subscription s where s.subname = $1`,
    [nameOf(travel)],
  )
  if (!state) throw new CellRefused('The subscription is gone: abort the move, then begin again')
  return state
}

/** Waits until every table was copied, and reports how many were. */
export async function untilCopied(travel: Travel, report: (line: string) => void): Promise<void> {
  let before = ''
  const refusals = new Refusals(travel.to)
  for (;;) {
    const state = await stateOf(travel)
    refusals.note(state)
    const { all, ready } = state
    const line = `${ready} of ${all} tables copied`
    if (line !== before) report(line)
    before = line
    if (ready === all) return
    await sleep(POLL_MS * 5)
  }
}

/** Waits until the other cell has all that was committed here before this call. */
export async function untilReplayed(travel: Travel): Promise<void> {
  const { client } = travel.source
  const [at] = await rowsOf<{ lsn: string }>(
    client,
    `select pg_logical_emit_message(true, 'svc', 'move')::text as lsn`,
  )
  const refusals = new Refusals(travel.to)
  for (;;) {
    const [slot] = await rowsOf<{ done: boolean }>(
      client,
      'select confirmed_flush_lsn >= $2::pg_lsn as done from pg_replication_slots where slot_name = $1',
      [nameOf(travel), at!.lsn],
    )
    if (!slot) throw new CellRefused('The replication slot is gone: abort the move, then begin again')
    if (slot.done) return
    refusals.note(await stateOf(travel))
    await sleep(POLL_MS)
  }
}

/** Ends the replication; what is gone already is no error. */
export async function endReplication(travel: Travel): Promise<void> {
  const { source, target } = travel
  const name = nameOf(travel)
  for (const { oid } of await subscriptions(travel)) {
    await target.client.query(`alter subscription ${name} disable`)
    await endWorkers(travel, oid)
    await target.client.query(`alter subscription ${name} set (slot_name = none)`)
    await target.client.query(`drop subscription ${name}`)
  }
  await dropSlots(source.client, name)
  await source.client.query(`drop publication if exists ${name}`)
}

/**
 * Ends the workers of a subscription that is disabled, and frees the slots of tables that are still copied. Dropping it
 * would wait for those slots, and they for every transaction of the source: for long ones, and in the same server for itself.
 */
async function endWorkers({ source, target }: Travel, subscription: number): Promise<void> {
  for (;;) {
    const { rowCount } = await target.client.query(
      'select pg_terminate_backend(pid) from pg_stat_subscription where subid = $1 and pid is not null',
      [subscription],
    )
    await dropSlots(source.client, `pg\\_${subscription}\\_sync\\_%`)
    if (rowCount === 0) return
    await sleep(POLL_MS)
  }
}

/** Slots of this name or pattern; one that a server process still reads is freed first. */
async function dropSlots(client: pg.ClientBase, pattern: string): Promise<void> {
  for (;;) {
    const slots = await rowsOf<{ name: string; pid: number | null }>(
      client,
      'select slot_name as name, active_pid as pid from pg_replication_slots where slot_name like $1',
      [pattern],
    )
    if (slots.length === 0) return
    for (const { name, pid } of slots)
      if (pid !== null) await client.query('select pg_terminate_backend($1)', [pid])
      else await client.query('select pg_drop_replication_slot($1)', [name]).catch(() => undefined)
    await sleep(POLL_MS)
  }
}
