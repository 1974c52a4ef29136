import type { Clock } from '@svc/kernel/time'
import type { Database, Tx } from './database.ts'
import { statement } from './statement.ts'

type Ahead = Pick<Clock, 'offsetMs'>

/**
 * SQL: the instant that is `$parameter` milliseconds ahead of the database's time. Work that is due with time goes by it:
 * the clock of one process may be wrong (decision X35).
 */
export const timeAhead = (parameter: number): string =>
  `clock_timestamp() + $${parameter} * interval '1 millisecond'`

const NOW = statement<{ now: Date }>('database_now', `select ${timeAhead(1)} as now`)

/** What a clock shows whose database is right. */
export const databaseTime = async (database: Pick<Database, 'directory'>, clock: Ahead): Promise<Date> =>
  (await database.directory(NOW, [clock.offsetMs()]))[0]!.now

/** The same once the statements before it are done, such as those that lock rows. */
export const transactionTime = async (tx: Pick<Tx, 'query'>, clock: Ahead): Promise<Date> =>
  (await tx.query(NOW, [clock.offsetMs()]))[0]!.now
