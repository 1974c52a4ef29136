import { parseDatabaseUrl } from '@svc/kernel/database-url'
import pg from 'pg'
import { KEEPALIVE_AFTER_MS, limitedSocket } from './connection-pool.ts'
import { type LocatedConfig, ServerLocator } from './server-locator.ts'

/** How to reach a database: a URL for each login, or the socket of the embedded server. */
export type DatabaseAddress =
  | {
      readonly url: string
      readonly operatorUrl?: string
      /** The login that stores what the bank and the card network signed. */
      readonly railUrl?: string
      readonly ownerUrl?: string
      /** Standbys, with a login that may take the roles that read there. */
      readonly replicaUrl?: string
    }
  | { readonly host: string; readonly port: number; readonly database: string }

export type Role = 'svc_service' | 'svc_operator'
/** Whose URL is used: a role's own, or that of the standbys. */
export type Login = Role | 'svc_rail' | 'replica'

/** Which setting has the URL of a login; `undefined` is the owner's. */
export const settingOf = (login: Login | undefined): string =>
  login === 'svc_service'
    ? 'DATABASE_URL'
    : login === 'svc_operator'
      ? 'DATABASE_OPERATOR_URL'
      : login === 'svc_rail'
        ? 'DATABASE_RAIL_URL'
        : login === 'replica'
          ? 'DATABASE_READ_URL'
          : 'DATABASE_OWNER_URL'

const INT8 = 20
const INT8_ARRAY = 1016
const types = new pg.TypeOverrides()
types.setTypeParser(INT8, BigInt)
types.setTypeParser(INT8_ARRAY, (text: string) =>
  text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt),
)

/** Design: at most 2 s for a lock, 5 s idle in a transaction; never a transaction left open by a lost process. */
const SESSION =
  '-c search_path=svc -c lock_timeout=2000 -c idle_in_transaction_session_timeout=5000 -c statement_timeout=30000 -c timezone=UTC'

/** The server gives up a client that vanished, and its locks, within 15 s; ignored on Unix sockets (decision R8). */
const SERVER_GIVES_UP =
  '-c tcp_user_timeout=10000 -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3'

/**
 * Plans that were made while a table was small stay with a connection: without this, a service that began on an empty
 * database reads its tables from end to end until their statistics are made, each statement slower than the one before.
 * Everything that the service asks, and every foreign key, has an index; pages are in memory or on what has no moving
 * head. Before PostgreSQL 18 a scan that cannot be helped looks dear enough to be compiled, which takes longer than it.
 */
const SERVICE =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c random_page_cost=1.1 -c jit=off'

const sessionOf = (role: Role): string =>
  role === 'svc_service' ? `${SESSION} ${SERVER_GIVES_UP} ${SERVICE}` : `${SESSION} ${SERVER_GIVES_UP}`

type Urls = Extract<DatabaseAddress, { url: string }>

function urlOf({ url, operatorUrl, ownerUrl, railUrl, replicaUrl }: Urls, login: Login | undefined): string {
  if (login === undefined) return ownerUrl ?? url
  if (login === 'replica') {
    if (replicaUrl === undefined) throw new Error('DATABASE_READ_URL is not set')
    return replicaUrl
  }
  if (login === 'svc_service') return url
  // Without it the database refuses what is signed: this process is not one of the rails.
  if (login === 'svc_rail') return railUrl ?? url
  // Never the owner's or the service's: neither may act for operators.
  if (operatorUrl === undefined) throw new Error('DATABASE_OPERATOR_URL is not set')
  return operatorUrl
}

/** `application_name`: whose connection it is, and of a process that serves also what the process does (`ROLES`). */
const nameOf = (role: Role | undefined, processRoles: readonly string[]): string =>
  ['svc', role ?? 'setup', processRoles.join()].filter(Boolean).join(' ')

/**
 * The roles of all processes that are connected to the database, by the names of their connections, which every login
 * may read. A process always has one: it reads from the database twice a second (`watchEpoch`).
 */
export const CONNECTED_ROLES = `select distinct role from pg_stat_activity,
  regexp_split_to_table(substring(application_name from '^svc svc_service (.+)$'), ',') as role
  where datname = current_database()`

/**
 * Connection settings for one role, of the login that has it by default; without a role they are the owner's. With a
 * URL, its login sets the role (and must be a member of it). `processRoles`: of a process that serves.
 */
export function connectionOptions(
  address: DatabaseAddress,
  role: Role | undefined,
  login: Login | undefined = role,
  processRoles: readonly string[] = [],
): LocatedConfig {
  const common = {
    application_name: nameOf(role, processRoles),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
    stream: limitedSocket,
    types,
  }
  if ('url' in address) {
    const parsed = parseDatabaseUrl(urlOf(address, login))
    if (!parsed) throw new Error('malformed database URL')
    const url = new URL(parsed.url)
    // pg lets a URL's own `options` replace ours, and the role of the session, hence row-level security, is in ours.
    const own = url.searchParams.get('options') ?? ''
    if (own) url.searchParams.delete('options')
    // So it would the name, by which processes know of each other.
    url.searchParams.delete('application_name')
    const config = {
      ...common,
      connectionString: url.href,
      options: role ? `${own} -c role=${role} ${sessionOf(role)}` : own,
    }
    if (parsed.hosts.length === 1) return config
    const wanted = login === 'replica' ? 'standby' : 'primary'
    return { ...config, locator: new ServerLocator(parsed.hosts, wanted, config) }
  }
  // Of the embedded server's logins only the superuser is a member of other roles.
  const isOwn = role !== undefined && role === login
  return {
    ...common,
    host: address.host,
    port: address.port,
    database: address.database,
    user: isOwn ? role : 'postgres',
    options: role ? `${isOwn ? '' : `-c role=${role} `}${sessionOf(role)}` : '',
  }
}
