import type { Config } from '@svc/contract/config'
import type { Log } from '../log.ts'
import { type Database, isUnavailable } from './database.ts'
import { columns, statement } from './statement.ts'

const LONGER = statement<{ what: string }>(
  'retention_longer',
  `select what from unnest($1::text[], $2::bigint[], $3::bigint[]) as wanted (what, seconds, rows)
     join retention r using (what)
   where r.keep > make_interval(secs => wanted.seconds) or r.rows > wanted.rows order by what`,
)
const STORE = statement(
  'retention_store',
  `update retention r set keep = make_interval(secs => wanted.seconds), rows = wanted.rows
   from unnest($1::text[], $2::bigint[], $3::bigint[]) as wanted (what, seconds, rows)
   where r.what = wanted.what`,
)

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S

/** As `storeShorterRules`; on a database that takes no writes, such as a standby, the stored rules hold. */
export async function storeRetention(database: Database, config: Config, log: Log): Promise<void> {
  try {
    await storeShorterRules(database, config, log)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    log.warn(
      { err: error },
      'the settings of retention are not stored; the next start of a process stores them',
    )
  }
}

/**
 * Stores shorter rules than those in the database: until then nothing younger is deleted (decision X4). Only a process
 * with the operators' login can; another one logs that the stored rules hold.
 */
async function storeShorterRules(database: Database, config: Config, log: Log): Promise<void> {
  const rules = [
    { what: 'idempotency_keys', seconds: config.IDEMPOTENCY_HOURS * HOUR_S },
    { what: 'events', seconds: config.EVENTS_DAYS * DAY_S },
    { what: 'webhook_attempts', seconds: config.WEBHOOK_ATTEMPTS_DAYS * DAY_S },
    { what: 'request_log', seconds: config.REQUEST_LOG_DAYS * DAY_S, rows: config.REQUEST_LOG_ROWS_MAX },
  ]
  const values = columns(
    rules,
    ({ what }) => what,
    ({ seconds }) => seconds,
    ({ rows = null }) => rows,
  )
  const longer = await database.directory(LONGER, values)
  if (longer.length === 0) return
  if (database.hasOperators) await database.operate((tx) => tx.query(STORE, values))
  else
    log.warn(
      { kept: longer.map(({ what }) => what) },
      'the database keeps these rows longer than the settings say; start a process with DATABASE_OPERATOR_URL to store the settings',
    )
}
