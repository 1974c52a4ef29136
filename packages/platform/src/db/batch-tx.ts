import { idsByTenant } from '@svc/kernel/by-tenant'
import { invariant } from '@svc/kernel/invariant'
import type pg from 'pg'
import type { Tracing } from '../tracing.ts'
import { ClientTx } from './client-tx.ts'
import type { RowLock } from './row-lock.ts'
import { type Statement, statement } from './statement.ts'

/** `wait` for locked rows a moment, or `skip` them and leave their tenants to a later batch. */
export type LockMode = 'wait' | 'skip'

/** A transaction that locks rows in its batch's mode and remembers the tenants whose rows were held. */
export class BatchTx extends ClientTx {
  readonly heldTenants = new Set<string>()
  readonly #mode: LockMode
  #queries = 0
  #closed = false

  constructor(client: pg.PoolClient, mode: LockMode, tracing: Tracing | undefined) {
    super(client, tracing)
    this.#mode = mode
  }

  override query<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]> {
    invariant(!this.#closed, 'a statement came after COMMIT')
    this.#queries++
    return super.query(statement, values)
  }

  /** What `work` returns, and the database's time once every statement of it is done. */
  async timed<T>(work: () => Promise<T>): Promise<[result: T, time: Time]> {
    const working = work()
    const queries = this.#queries + 1
    // Most send all their statements at once; then the time travels with them.
    const timeQuery = this.query(NOW)
    timeQuery.catch(() => undefined)
    const result = await working
    const [time] = await (this.#queries === queries ? timeQuery : this.query(NOW))
    return [result, time!]
  }

  /** COMMIT follows: no other statement may. */
  close(): void {
    this.#closed = true
  }

  /** Locks and reads rows; `wanted` is how many distinct rows the parameters name at most. */
  async lock<Row>(lock: RowLock<Row>, values: readonly unknown[], wanted: number): Promise<Row[]> {
    if (this.#mode === 'wait') return this.query(lock.wait, values)
    const rows = await this.query(lock.skip, values)
    if (rows.length < wanted) {
      const got = idsByTenant(
        rows,
        (row) => row.lock_tenant,
        (row) => row.lock_id,
      )
      for (const row of await this.query(lock.present, values))
        if (!got.of(row.lock_tenant).has(row.lock_id)) this.heldTenants.add(row.lock_tenant)
    }
    return rows
  }
}

interface Time {
  readonly now: Date
  readonly epoch: string
}

const NOW = statement<Time>('batch_now', 'select clock_timestamp() as now, epoch from installation')
