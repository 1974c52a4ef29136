import type pg from 'pg'

const SETTINGS = `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit,
  current_setting('synchronous_standby_names') as standbys`
const WITHIN_MS = 5_000

/** The server may lose what it has acknowledged. Its message is for people. */
export class NotDurable extends Error {
  override name = 'NotDurable'
}

/** Whether writes must be on a standby too before they are acknowledged: the setting `REPLICATION`. */
export type Replication = 'optional' | 'required'

/**
 * Throws `NotDurable` when commits of this connection may be lost. Logins and databases have settings of their own, so
 * only the connection itself shows which apply.
 */
export async function requireDurable(client: pg.ClientBase, replication: Replication): Promise<void> {
  const query: pg.QueryConfig & { query_timeout: number } = { text: SETTINGS, query_timeout: WITHIN_MS }
  const { standbys, ...settings } = (await client.query<Record<string, string>>(query)).rows[0]!
  const off = Object.keys(settings).filter((name) => settings[name] === 'off')
  if (off.length > 0)
    throw new NotDurable(
      `This PostgreSQL may lose acknowledged writes: ${off.join(', ')} is off. Switch it on for the server, the database and the login of the service.`,
    )
  if (standbys !== '' && settings['synchronous_commit'] === 'local')
    throw new NotDurable(
      'This PostgreSQL may lose acknowledged writes on failover: synchronous_standby_names is set, but synchronous_commit is local. Set synchronous_commit to on.',
    )
  if (standbys === '' && replication === 'required')
    throw new NotDurable(
      'This PostgreSQL may lose acknowledged writes on failover: REPLICATION=required, but synchronous_standby_names is empty. Set it to the standbys, or let Patroni do so with synchronous_mode and synchronous_mode_strict.',
    )
}
