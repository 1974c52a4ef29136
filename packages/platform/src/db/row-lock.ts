import { type Statement, statement } from './statement.ts'

interface RowLockText {
  /** The columns that the caller reads. */
  readonly select: string
  /** `from … where … order by id`: rows are locked in this order, so that batches cannot deadlock. */
  readonly from: string
  /** Expressions for the row's tenant and its identity. */
  readonly tenant: string
  readonly id: string
  /** The table (or its alias) that is locked. */
  readonly of: string
}

/** One lock written once, as the three statements that a batch may need of it. */
export interface RowLock<Row> {
  /** Waits for rows that others hold, up to the transaction's `lock_timeout`. */
  readonly wait: Statement<Row & Held>
  /** Passes over rows that others hold. */
  readonly skip: Statement<Row & Held>
  /** Which of the rows exist, held or not. */
  readonly present: Statement<Held>
}

export interface Held {
  lock_tenant: string
  lock_id: string
}

/**
 * Always `for no key update`: `for update` on the parent of a foreign key livelocks with those who insert children.
 */
export function rowLock<Row>(name: string, { select, from, tenant, id, of }: RowLockText): RowLock<Row> {
  const identity = `${tenant} as lock_tenant, ${id} as lock_id`
  const locked = `select ${identity}, ${select} ${from} for no key update of ${of}`
  return {
    wait: statement(`${name}_wait`, locked),
    skip: statement(`${name}_skip`, `${locked} skip locked`),
    present: statement(`${name}_present`, `select ${identity} ${from}`),
  }
}
