import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { CellRefused, rowsOf } from './cell-connection.ts'

type MoveState = 'copying' | 'held' | 'still' | 'moved' | 'arriving'

interface Move {
  readonly tenantId: string
  readonly state: MoveState
  readonly cell: string
}

export const movesOf = (client: pg.ClientBase, tenants: readonly string[]): Promise<Move[]> =>
  rowsOf(client, 'select tenant_id as "tenantId", state, cell from tenant_moves where tenant_id = any ($1)', [
    tenants,
  ])

export async function setMoves(
  client: pg.ClientBase,
  tenants: readonly string[],
  { state, cell }: Pick<Move, 'state' | 'cell'>,
): Promise<void> {
  await client.query(
    `insert into tenant_moves (tenant_id, state, cell) select unnest($1::text[]), $2, $3
     on conflict (tenant_id) do update
       set state = excluded.state, cell = excluded.cell, held_until = null, since = clock_timestamp()`,
    [tenants, state, cell],
  )
}

export async function endMoves(client: pg.ClientBase, tenants: readonly string[]): Promise<void> {
  await client.query('delete from tenant_moves where tenant_id = any ($1)', [tenants])
}

/** Ends a hold whose move did not come to its last step: callers are served again. */
export async function endHold(client: pg.ClientBase, tenants: readonly string[]): Promise<void> {
  await client.query(
    `update tenant_moves set state = 'copying', held_until = null
     where tenant_id = any ($1) and state in ('held', 'still')`,
    [tenants],
  )
}

/** The hold ended by itself before the tenant was ready: callers were served again. */
export class HoldEnded extends CellRefused {
  override name = 'HoldEnded'
}

/** A hold of tenants, which ends by itself. */
export class Hold {
  readonly #client: pg.ClientBase
  readonly #tenants: readonly string[]

  constructor(client: pg.ClientBase, tenants: readonly string[]) {
    this.#client = client
    this.#tenants = tenants
  }

  /** Nothing of the tenants is written any more but for their events; resolves when all that was under way has ended. */
  async begin(forMs: number): Promise<void> {
    await this.#client.query(
      `update tenant_moves set state = 'held', held_until = clock_timestamp() + $2 * interval '1 millisecond'
       where tenant_id = any ($1)`,
      [this.#tenants, forMs],
    )
    await this.#barrier()
  }

  /** Nor their events. */
  async still(): Promise<void> {
    await this.#client.query(`update tenant_moves set state = 'still' where tenant_id = any ($1)`, [
      this.#tenants,
    ])
    await this.#barrier()
  }

  /** Waits until this is true. Throws `HoldEnded` when the hold ends before. */
  async until(isDone: () => Promise<boolean>): Promise<void> {
    for (;;) {
      if (await isDone()) return
      await this.require()
      await sleep(10)
    }
  }

  async require(): Promise<void> {
    const lasting = await rowsOf(
      this.#client,
      'select from tenant_moves where tenant_id = any ($1) and held_until > clock_timestamp()',
      [this.#tenants],
    )
    if (lasting.length < this.#tenants.length)
      throw new HoldEnded('The hold ended before everything was moved')
  }

  /** Every transaction that may have written before it could see the hold has its number by now, and ends. */
  async #barrier(): Promise<void> {
    const [now] = await rowsOf<{ end: string }>(
      this.#client,
      'select pg_snapshot_xmax(pg_current_snapshot())::text as end',
    )
    await this.until(async () => {
      const [ended] = await rowsOf<{ all: boolean }>(
        this.#client,
        'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as all',
        [now!.end],
      )
      return ended!.all
    })
  }
}
