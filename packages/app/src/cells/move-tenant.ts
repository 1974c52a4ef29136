import { setTimeout as sleep } from 'node:timers/promises'
import { CLOSING_TURN } from '@svc/core/ledger/closing'
import { sharesOfMovement, sharesOfYearEnd } from '@svc/core/payments/own-funds/reconcile-own-funds'
import { bookedOfBatch } from '@svc/core/payments/settlements/reconcile-settlements'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { TURN_LOCK } from '@svc/platform/db/turn'
import type pg from 'pg'
import {
  type CellDatabase,
  CellRefused,
  inTransaction,
  letOthersPass,
  queriesOn,
  recordCell,
  rowsOf,
} from './cell-connection.ts'
import { closedPeriods, differences, obstacles } from './check-move.ts'
import { endHold, endMoves, Hold, HoldEnded, movesOf, setMoves } from './move-state.ts'
import { forgetUnfinishedBooks, keepTakenBooks, signTakenBooks } from './moved-books.ts'
import { CARRIED, deleteRows, keepReferences } from './moved-tables.ts'
import {
  endReplication,
  isSubscribed,
  publish,
  subscribe,
  type Travel,
  untilCopied,
  untilReplayed,
} from './replication.ts'

export interface MoveOptions {
  readonly actor: string
  /** The keys that all cells share. */
  readonly keyring: Keyring
  /** How long the tenants may be held at most, in milliseconds. */
  readonly holdMs: number
  /** How long a request of the previous home may last, in milliseconds: so long it keeps the rows that it does not serve. */
  readonly requestMs: number
  /** The database of the first cell, which has the directory. */
  readonly directory: CellDatabase
  readonly report: (line: string) => void
  /** Called once the other cell serves the tenants. */
  readonly routed?: () => Promise<void>
}

const HOLDS_MAX = 5
/** So long after the death of a process nothing of it is left. */
const LEFT_BEHIND_MS = 12_000

/** The tenant with those that move with it: a partner's linked merchants. */
export async function companions(client: pg.ClientBase, tenantId: string): Promise<string[]> {
  const known = await rowsOf(client, `select from tenants where tenant_id = $1 and kind <> 'house'`, [
    tenantId,
  ])
  if (known.length === 0) throw new CellRefused(`There is no tenant ${tenantId} in this cell`)
  const linked = await rowsOf<{ id: string }>(
    client,
    'select merchant_id as id from merchants where linked_partner_id = $1 order by merchant_id',
    [tenantId],
  )
  return [tenantId, ...linked.map(({ id }) => id)]
}

/**
 * Moves tenants to another cell while they are served, but for a moment (decision X40). Every step may be broken off and
 * is repeated by another call. Once the previous home knows that the tenants live elsewhere, only this leads on.
 */
export const moveTenant = (travel: Travel, options: MoveOptions): Promise<void> =>
  letOthersPass(options.report, () => moveOnce(travel, options))

async function moveOnce(travel: Travel, options: MoveOptions): Promise<void> {
  const { source, to, tenants } = travel
  const moves = await movesOf(source.client, tenants)
  const arriving = moves.find(({ state }) => state === 'arriving')
  if (arriving)
    throw new CellRefused(`${arriving.tenantId} arrives from the cell ${arriving.cell}: finish that first`)
  const gone = moves.find(({ state, cell }) => state === 'moved' && cell !== to)
  if (gone) throw new CellRefused(`${gone.tenantId} lives in the cell ${gone.cell}`)
  if (moves.length < tenants.length || moves.some(({ state }) => state !== 'moved')) {
    const problems = await obstacles(travel)
    if (problems.length > 0) throw new CellRefused(problems.join('\n'))
    await begin(travel, options)
    await untilCopied(travel, options.report)
    await holdAndFlip(travel, options)
  }
  await finish(travel, options)
}

/** Both cells know of the move before the first row is copied, so that their processes ask for each request. */
async function begin(travel: Travel, { actor, keyring }: MoveOptions): Promise<void> {
  const { source, target, tenants, from, to } = travel
  await inTransaction(source.client, async () => {
    await untilNoneCloses(source)
    await setMoves(source.client, tenants, { state: 'copying', cell: to })
  })
  if (await isSubscribed(travel)) return
  await inTransaction(target.client, async () => {
    await untilNoneCloses(target)
    await deleteRows(target.client, tenants)
    await copyTenants(travel)
    await setMoves(target.client, tenants, { state: 'arriving', cell: from })
  })
  // From here on neither cell closes a period; one may have done so since that was asked.
  const closed = await closedPeriods(travel)
  if (closed.length > 0) throw new CellRefused(`${closed[0]}, once this move is ended with --abort`)
  await copyKeys(travel, actor)
  await signTakenBooks(travel, keyring)
  await recordCell(source.client, actor, 'tenant.moving', tenants[0]!, { to, tenants: tenants.join(' ') })
  await publish(travel)
  await subscribe(travel)
}

/** Waits for who closes a period just now, who has counted the tenants. */
const untilNoneCloses = ({ client }: CellDatabase) => queriesOn(client).query(TURN_LOCK, [CLOSING_TURN])

const copyRows = async (
  travel: Travel,
  {
    table,
    where,
    values,
  }: { readonly table: string; readonly where: string; readonly values: readonly unknown[] },
): Promise<void> => {
  const rows = await rowsOf<{ row: unknown }>(
    travel.source.client,
    `select to_jsonb(t) as row from ${table} t where ${where}`,
    values,
  )
  await travel.target.client.query(
    `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
    [JSON.stringify(rows.map(({ row }) => row))],
  )
}

/** Who the tenants are, in a transaction of a replica: what refers to their rows stays. */
async function copyTenants(travel: Travel): Promise<void> {
  const { target, tenants } = travel
  await target.client.query('set local session_replication_role = replica')
  await target.client.query('delete from tenants where tenant_id = any ($1)', [tenants])
  await copyRows(travel, { table: 'tenants', where: 'tenant_id = any ($1)', values: [tenants] })
}

/** Keys of rotations in the previous home: what they encrypted is read in the new one, and their tokens are verified. */
async function copyKeys(travel: Travel, actor: string): Promise<void> {
  const { target } = travel
  const known = await rowsOf<{ id: string }>(target.client, 'select key_id as id from keyring')
  await inTransaction(target.client, async () => {
    await target.client.query(`select set_config('svc.actor', $1, true)`, [actor])
    const values = [known.map(({ id }) => id)]
    await copyRows(travel, { table: 'keyring', where: 'key_id <> all ($1)', values })
  })
}

async function holdAndFlip(travel: Travel, options: MoveOptions): Promise<void> {
  for (let tries = 1; ; tries++) {
    // A mover that dies leaves its first hold, which is the shortest: half of the longest.
    const holdMs = Math.round((options.holdMs * (HOLDS_MAX + tries - 2)) / (2 * HOLDS_MAX - 2))
    try {
      return await holdOnce(travel, { ...options, holdMs })
    } catch (error) {
      await endHold(travel.source.client, travel.tenants)
      if (!(error instanceof HoldEnded) || tries === HOLDS_MAX) throw error
      options.report(`held for ${holdMs} ms without an end; served again, then held once more`)
      await untilServed(travel, holdMs)
    }
  }
}

/** Callers catch up, and what a process left behind that died runs out, such as the lease of a delivery. */
async function untilServed({ source, tenants }: Travel, holdMs: number): Promise<void> {
  const untilMs = performance.now() + LEFT_BEHIND_MS
  await sleep(2 * holdMs)
  while (performance.now() < untilMs && !(await isDrained(source.client, tenants))) await sleep(20)
}

async function holdOnce(travel: Travel, { actor, holdMs, report }: MoveOptions): Promise<void> {
  const { source, tenants, to } = travel
  // What is behind is caught up with before anybody waits.
  await untilReplayed(travel)
  const beganMs = performance.now()
  const hold = new Hold(source.client, tenants)
  await hold.begin(holdMs)
  await hold.until(() => isDrained(source.client, tenants))
  await hold.still()
  await untilReplayed(travel)
  const differing = await differences(travel)
  if (differing.length > 0) throw new CellRefused(`The two cells differ:\n${differing.join('\n')}`)
  await carry(travel)
  await flip(travel, actor)
  report(`held for ${Math.round(performance.now() - beganMs)} ms; lives in the cell ${to}`)
}

/** Its events have their numbers, and no process delivers to its endpoints. */
const isDrained = async (client: pg.ClientBase, tenants: readonly string[]): Promise<boolean> => {
  const left = await rowsOf(
    client,
    `select from unnumbered_events where tenant_id = any ($1)
     union all select from webhook_leases where tenant_id = any ($1) and until > clock_timestamp() limit 1`,
    [tenants],
  )
  return left.length === 0
}

/** What is not replicated: who the tenants are now, their audit behind what the other cell has of it, and what is small. */
async function carry(travel: Travel): Promise<void> {
  const { source, target, tenants } = travel
  await inTransaction(target.client, async () => {
    await copyTenants(travel)
    for (const table of CARRIED) {
      await target.client.query(`delete from ${table} where tenant_id = any ($1)`, [tenants])
      await copyRows(travel, { table, where: 'tenant_id = any ($1)', values: [tenants] })
    }
    for (const chain of tenants) await carryChain(travel, chain)
    // Numbers of events go on above those that came along: they are the order of the events of one object.
    const [last] = await rowsOf<{ position: string }>(
      source.client,
      'select last_value::text as position from unnumbered_events_position_seq',
    )
    await target.client.query(
      `select setval('unnumbered_events_position_seq',
         greatest($1::bigint, (select last_value from unnumbered_events_position_seq)))`,
      [last!.position],
    )
  })
}

interface Head {
  readonly number: string
  readonly hash: string
}

const HEAD = `select number::text as number, encode(hash, 'hex') as hash from audit_heads where chain = $1`

async function carryChain({ source, target, to }: Travel, chain: string): Promise<void> {
  const [there] = await rowsOf<Head>(target.client, HEAD, [chain])
  const entries = await rowsOf<{ row: unknown }>(
    source.client,
    `select jsonb_build_object('sequence', sequence, 'content', content, 'previous_hash', previous_hash, 'hash', hash) as row
     from audit_log where chain = $1 and number > $2 order by number`,
    [chain, there?.number ?? 0],
  )
  const [same] = there
    ? await rowsOf<Head>(
        source.client,
        `select number::text as number, encode(hash, 'hex') as hash from audit_log where chain = $1 and number = $2`,
        [chain, there.number],
      )
    : []
  if (there && there.number !== '0' && same?.hash !== there.hash)
    throw new CellRefused(`The audit of ${chain} in the cell ${to} is not the beginning of its audit here`)
  await target.client.query(
    `insert into audit_log (sequence, content, previous_hash, hash)
     select sequence, content, previous_hash, hash from jsonb_to_recordset($1::jsonb)
       as e (sequence bigint, content text, previous_hash bytea, hash bytea)`,
    [JSON.stringify(entries.map(({ row }) => row))],
  )
  const [head] = await rowsOf<Head>(source.client, HEAD, [chain])
  if (!head) return
  await target.client.query(
    `insert into audit_heads (chain, number, hash) values ($1, $2, decode($3, 'hex'))
     on conflict (chain) do update set number = excluded.number, hash = excluded.hash`,
    [chain, head.number, head.hash],
  )
}

/** From here on there is no way back but another move. Under the lock for which a late writer waits, or is waited for. */
async function flip({ source, tenants, to }: Travel, actor: string): Promise<void> {
  await inTransaction(source.client, async () => {
    await source.client.query('select from tenant_moves where tenant_id = any ($1) for update', [tenants])
    const held = await rowsOf(
      source.client,
      `select from tenant_moves where tenant_id = any ($1) and state = 'still' and held_until > clock_timestamp()`,
      [tenants],
    )
    if (held.length < tenants.length) throw new HoldEnded('The hold ended before everything was moved')
    await setMoves(source.client, tenants, { state: 'moved', cell: to })
    await recordCell(source.client, actor, 'tenant.moved', tenants[0]!, { to, tenants: tenants.join(' ') })
  })
}

/** The other cell serves the tenants, the directory says so, and nothing of them is left here but what names them. */
async function finish(travel: Travel, options: MoveOptions): Promise<void> {
  const { actor, directory, requestMs, routed, report } = options
  const { source, target, tenants, from, to } = travel
  const arriving = (await movesOf(target.client, tenants)).filter(
    ({ state, cell }) => state === 'arriving' && cell === from,
  )
  if (arriving.length > 0) {
    await inTransaction(target.client, async () => {
      await target.client.query('delete from moved_references where tenant_id = any ($1)', [tenants])
      await carryShares(target.client, tenants, '-')
      await endMoves(target.client, tenants)
      await recordCell(target.client, actor, 'tenant.arrived', tenants[0]!, {
        from,
        tenants: tenants.join(' '),
      })
    })
    await directory.client.query(
      `insert into tenant_homes (tenant_id, cell) select unnest($1::text[]), $2
       on conflict (tenant_id) do update set cell = excluded.cell, since = clock_timestamp()`,
      [tenants, to],
    )
  }
  await routed?.()
  await endReplication(travel)
  await untilRequestsEnded(travel, requestMs)
  await inTransaction(source.client, async () => {
    await keepReferences(source.client, tenants)
    await carryShares(source.client, tenants, '+')
    await keepTakenBooks(travel)
    await deleteRows(source.client, tenants)
  })
  report(`${tenants.join(' ')}: nothing is left in the cell ${from} but what names it`)
}

/** What began before the flip finds the rows it has read, and learns that they are not served here, not that they are gone. */
async function untilRequestsEnded({ source, tenants }: Travel, requestMs: number): Promise<void> {
  const [left] = await rowsOf<{ ms: number }>(
    source.client,
    `select ceil(extract(epoch from max(since) - clock_timestamp()) * 1000)::int + $2 as ms
     from tenant_moves where tenant_id = any ($1)`,
    [tenants, requestMs],
  )
  await sleep(Math.max(0, left!.ms))
}

/** What the tenants' books have of the platform's transfers and movements leaves this cell (`+`) or is back in it (`-`). */
async function carryShares(
  client: pg.ClientBase,
  tenants: readonly string[],
  sign: '+' | '-',
): Promise<void> {
  const among = (column: string) => `${column} = any ($1)`
  // Of transfers that their lines name: a cell has very many others.
  await client.query(
    `update settlement_batches b set moved_paise = b.moved_paise ${sign} booked.amount
     from (select b.tenant_id, b.batch_id, (${bookedOfBatch(among)}) as amount from settlement_batches b
       where b.batch_id in (
         select l.batch_id from settlement_lines l where ${among('l.tenant_id')}
         union
         select l.batch_id from settlement_batch_lines l where ${among('l.of_tenant')})) booked
     where b.tenant_id = booked.tenant_id and b.batch_id = booked.batch_id and booked.amount <> 0`,
    [tenants],
  )
  await client.query(
    `update own_funds_movements m set moved_paise = m.moved_paise ${sign} ${sharesOfMovement(among)}
     where ${sharesOfMovement(among)} <> 0`,
    [tenants],
  )
  await client.query(
    `update year_ends y set moved_paise = y.moved_paise ${sign} ${sharesOfYearEnd(among)}
     where ${sharesOfYearEnd(among)} <> 0`,
    [tenants],
  )
}

/** Ends a move that has not flipped; the tenants stay where they are. */
export const abortMove = (travel: Travel, report: (line: string) => void): Promise<void> =>
  letOthersPass(report, () => abortOnce(travel))

async function abortOnce(travel: Travel): Promise<void> {
  const { source, target, tenants, from } = travel
  const moves = await movesOf(source.client, tenants)
  if (moves.some(({ state }) => state === 'moved' || state === 'arriving'))
    throw new CellRefused('The move cannot be aborted any more: run it again to finish it')
  if (moves.length > 0) await setMoves(source.client, tenants, { state: 'copying', cell: travel.to })
  await endReplication(travel)
  await inTransaction(target.client, async () => {
    await deleteRows(target.client, tenants)
    await forgetUnfinishedBooks(travel)
    const known = await movesOf(target.client, tenants)
    // Whatever asks there is sent home.
    await setMoves(
      target.client,
      known.map(({ tenantId }) => tenantId),
      { state: 'moved', cell: from },
    )
  })
  await endMoves(source.client, tenants)
}
