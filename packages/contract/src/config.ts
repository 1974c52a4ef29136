import { isAbsolute, resolve } from 'node:path'
import { ALERT_SETTINGS, alertErrors } from './alert-settings.ts'
import { CARD_SETTINGS } from './card-settings.ts'
import { CELL_SETTINGS } from './cell-settings.ts'
import { CONSOLE_SETTINGS } from './console-settings.ts'
import { DISPUTE_SETTINGS, disputeErrors } from './dispute-settings.ts'
import { type Environment, givenSecret, isGiven } from './given-secret.ts'
import { INTERPRETATION_SETTINGS } from './interpretations.ts'
import { PAYOUT_SETTINGS, supplierErrors } from './payout-settings.ts'
import { PROCESS_SETTINGS, processErrors } from './process-settings.ts'
import {
  adapters,
  address,
  amountCaps,
  BadSetting,
  database,
  hidden,
  masterKeys,
  networks,
  oneOf,
  railKeys,
  type Setting,
  text,
  timeZone,
  trustedProxies,
  whole,
} from './setting.ts'
import { SIGN_IN_SETTINGS, signInErrors } from './sign-in-settings.ts'
import { TRACING_SETTINGS } from './tracing-settings.ts'
import { VAULT_SETTINGS } from './vault-settings.ts'

export type { AmountCaps, Network, TrustedProxies } from './setting.ts'

/** Of the hosts of a URL, the one that accepts writes. */
const PRIMARY = ['read-write', 'primary']

/** Every setting of the service, in the order of the reference. `config.ts` is the only reader of the environment. */
export const SETTINGS = {
  SVC_MODE: oneOf(
    ['sandbox', 'live'],
    'sandbox',
    '`sandbox`: demo tenants, simulated UPI switch, embedded database. `live`: none of these; needs `DATABASE_URL` and `SVC_MASTER_KEY`.',
  ),
  HOST: text('127.0.0.1', 'Address to listen on.'),
  PORT: whole(8080, 0, 65_535, 'Port to listen on; 0 takes a free one.'),
  ...PROCESS_SETTINGS,
  PUBLIC_URL: address(
    ['http:', 'https:'],
    'Address at which callers reach the service, also the issuer of its tokens: the same for all processes of one installation. In live mode `https:`, but for this very machine. By default made from `HOST` and `PORT`.',
  ),
  TLS_CERT_FILE: text(
    undefined,
    'Certificate chain in PEM, the service’s own first. With `TLS_KEY_FILE` the service itself speaks TLS (1.2 and 1.3) on `PORT`; without both it speaks plain HTTP, for a proxy in front. Changed files are put to use within seconds, without a restart.',
  ),
  TLS_KEY_FILE: text(undefined, 'Private key of `TLS_CERT_FILE` in PEM.'),
  RAIL_CLIENT_CA_FILE: text(
    undefined,
    'Certificates in PEM of the clients that may call `/rails/*`, or of the authorities that issue them. With it a request to a rail needs one of these client certificates besides its signature; other requests need none. Needs `TLS_CERT_FILE`: the service itself must speak TLS.',
  ),
  DATA_DIR: text('data', 'Directory of the embedded database, `sandbox.json` and the sandbox’s master key.'),
  DATABASE_URL: database(
    PRIMARY,
    'PostgreSQL 15 or later. Several hosts, such as `postgresql://user:password@h1,h2,h3/svc?target_session_attrs=read-write`: the one that accepts writes is used, also after a failover. Without it an embedded PostgreSQL under `DATA_DIR` is used (sandbox mode only).',
  ),
  DATABASE_OPERATOR_URL: database(
    PRIMARY,
    'The same database with the login of operators: the console, reports and the command line. Required in live mode for these; in sandbox mode `DATABASE_URL` by default.',
  ),
  DATABASE_RAIL_URL: database(
    PRIMARY,
    'The same database with the login that stores what the bank and the card network signed: only for processes that serve `/rails/*`. Required in live mode for these; in sandbox mode `DATABASE_URL` by default.',
  ),
  DATABASE_OWNER_URL: database(
    PRIMARY,
    'The same database with the login that owns the schema: migrations, backup, restore, and `--as-owner`, only. By default `DATABASE_URL`.',
  ),
  DATABASE_READ_URL: database(
    ['standby', 'read-only', 'prefer-standby', 'any'],
    'Standbys of the same database, with the login of operators where there is one, else the service’s. Reports, console lists, `svc admin reconcile` and whole-account searches are read there; everything else, and all of it while no standby is up to date, on the primary.',
  ),
  DATABASE_READ_WAIT_MS: whole(
    1_000,
    0,
    60_000,
    'How long a read of `DATABASE_READ_URL` waits until the standby has all that was committed before the read. Then the primary is read.',
  ),
  REPLICATION: oneOf(
    ['optional', 'required'],
    'optional',
    '`required`: in live mode, connections are refused on which `synchronous_standby_names` is empty, so that no acknowledged write is lost in a failover.',
  ),
  ...CELL_SETTINGS,
  DATABASE_POOL_SIZE: whole(12, 4, 500, 'Connections to the database per process.'),
  SVC_MASTER_KEY: masterKeys,
  ...VAULT_SETTINGS,
  LOG_LEVEL: oneOf(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Least level that is logged.',
  ),
  ...TRACING_SETTINGS,
  METRICS_TOKEN: hidden(
    text(
      undefined,
      'Bearer token for `/metrics`. Requests without it, or with another one, get 404. When it is not set, `/metrics` is open in sandbox mode and absent in live mode.',
    ),
  ),
  TRUST_PROXY: trustedProxies,
  BUSINESS_TIME_ZONE: timeZone,
  TOKEN_TTL_SECONDS: whole(3_600, 30, 86_400, 'Life of an access token.'),
  UPI_RAIL_KEYS: railKeys(
    'Keys with which the UPI rail signs its notices; two while one replaces the other. Without one, live mode takes no notices; sandbox mode makes its own.',
  ),
  RAIL_ADAPTERS: adapters,
  RAIL_GRACE_SECONDS: whole(
    120,
    0,
    86_400,
    'For so long after its expiry a QR code accepts a credit that the payer’s bank dates before it.',
  ),
  ...PAYOUT_SETTINGS,
  QR_AMOUNT_CAPS: amountCaps,
  ...INTERPRETATION_SETTINGS,
  ...CARD_SETTINGS,
  BULK_ROWS_MAX: whole(50_000, 1, 200_000, 'Orders in one bulk upload.'),
  BULK_WAITING_ROWS_MAX: whole(
    1_000_000,
    1,
    100_000_000,
    'Orders of one partner that may wait in bulk jobs; an upload beyond it gets 503.',
  ),
  BULK_CHUNK_ROWS: whole(
    32,
    1,
    256,
    'Orders of a bulk job that a process carries out at a time; few, so that single orders pass between.',
  ),
  BULK_LEASE_MS: whole(
    30_000,
    1_000,
    600_000,
    'How long orders of a bulk job wait for a process that died with them, before another takes them.',
  ),
  IDEMPOTENCY_HOURS: whole(48, 24, 8_760, 'How long the response of an `Idempotency-Key` is kept.'),
  WEBHOOK_TIMEOUT_MS: whole(
    10_000,
    500,
    60_000,
    'Time in which an endpoint must accept a webhook, from the lookup of its name to its whole response.',
  ),
  WEBHOOK_ALLOWED_NETWORKS: networks,
  EVENTS_DAYS: whole(
    400,
    4,
    36_500,
    'How long events stay in the feed. Requests for older ones get `events_forgotten`.',
  ),
  WEBHOOK_ATTEMPTS_DAYS: whole(30, 4, 3_650, 'How long the attempts to deliver webhooks can be looked at.'),
  RATE_LIMIT_PER_SECOND: whole(
    1_000,
    0,
    1_000_000,
    'Requests a second per credential in live mode; 0 for no limit.',
  ),
  RATE_LIMIT_BURST: whole(2_000, 1, 1_000_000, 'Requests that a credential may send at once in live mode.'),
  RATE_LIMIT_URL: hidden(
    address(
      ['redis:', 'rediss:'],
      'Redis or Valkey that counts requests for all processes. Without it, or while it does not respond, each process counts for itself.',
    ),
  ),
  FAILED_ATTEMPTS_PER_MINUTE: whole(
    100,
    1,
    100_000,
    'Wrong secrets per minute, for each address and each key prefix, before they get 429.',
  ),
  FAILED_REQUESTS_PER_SECOND: whole(
    500,
    0,
    1_000_000,
    'Failed requests a second of one address without an authenticated caller, in live mode. Over it, failed requests of that address get 429; valid tokens, sessions in use and signed messages of rails are accepted. 0 for no limit.',
  ),
  ...CONSOLE_SETTINGS,
  ...ALERT_SETTINGS,
  ...DISPUTE_SETTINGS,
  ...SIGN_IN_SETTINGS,
  BODY_BYTES_MAX: whole(65_536, 1_024, 16_777_216, 'Largest request body in bytes.'),
  HEADER_BYTES_MAX: whole(16_384, 4_096, 131_072, 'Largest header block in bytes.'),
  HEADERS_TIMEOUT_MS: whole(5_000, 500, 60_000, 'Time for the headers of a request to arrive.'),
  REQUEST_TIMEOUT_MS: whole(15_000, 1_000, 300_000, 'Time for a whole request to arrive.'),
  STREAM_IDLE_MS: whole(
    30_000,
    1_000,
    600_000,
    'Longest time that the reader of a streamed response may pause.',
  ),
  COMMAND_TIMEOUT_MS: whole(
    10_000,
    1_000,
    120_000,
    'Longest time in which a caller gets a response, whatever the database does. A transaction that a request waits for has half of it, then its connection is closed and another one is tried.',
  ),
  TENANT_QUEUE_MAX: whole(1_000, 10, 100_000, 'Commands of one tenant that may wait; one more gets 503.'),
  REQUESTS_MAX: whole(
    256,
    50,
    100_000,
    'Requests that a process carries out at the same time; beyond it, callers with more than their share get 503.',
  ),
  DRAIN_DELAY_MS: whole(
    3_000,
    0,
    300_000,
    'Live mode: after SIGTERM, time in which `/readyz` says 503 while requests are still accepted, so that a load balancer stops sending them.',
  ),
  DRAIN_TIMEOUT_MS: whole(
    20_000,
    1_000,
    300_000,
    'After SIGTERM and `DRAIN_DELAY_MS`, time to complete accepted requests.',
  ),
} satisfies Record<string, Setting<unknown, string | undefined>>

type Settings = typeof SETTINGS
type Name = keyof Settings
type Read<S> = S extends { read: (text: string) => infer T } ? T : never
export type Config = {
  readonly [N in Name]: Read<Settings[N]> | (Settings[N]['default'] extends string ? never : undefined)
}

/** All invalid settings at once, one a line. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The settings are invalid:\n${problems.map((f) => `  ${f}`).join('\n')}`)
    this.problems = problems
  }
}

/** An address over plain HTTP that leads to another machine than this one. */
function isPlainElsewhere(address: string | undefined): boolean {
  if (address === undefined) return false
  const { hostname, protocol } = new URL(address)
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** Reads the settings from the environment. An empty value counts as absent. Throws `ConfigError`. */
export function readConfig(environment: Environment): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(SETTINGS) as [Name, Setting<unknown, string | undefined>][]) {
    try {
      const given = setting.secret ? givenSecret(environment, name) : { text: environment[name]?.trim() }
      const value = given.text || setting.default
      if (value === undefined) continue
      values[name] = setting.read(value, given.again)
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error
      problems.push(`${name} ${error.message}`)
    }
  }
  const config = values as unknown as Config
  if (config.SVC_MODE === 'live') {
    if (!isGiven(environment, 'DATABASE_URL'))
      problems.push('DATABASE_URL is needed in live mode, such as postgresql://user:password@host/database')
    if (!isGiven(environment, 'SVC_MASTER_KEY') && !isGiven(environment, 'SVC_MASTER_KEY_WRAPPED'))
      problems.push('SVC_MASTER_KEY is needed in live mode; make one with: openssl rand -base64 32')
    if (isPlainElsewhere(config.PUBLIC_URL))
      problems.push(
        'PUBLIC_URL must begin with https: in live mode: over http, passwords, cookies and keys can be read on the way',
      )
  }
  if (isGiven(environment, 'SVC_MASTER_KEY_WRAPPED')) {
    if (isGiven(environment, 'SVC_MASTER_KEY'))
      problems.push('SVC_MASTER_KEY must not be set beside SVC_MASTER_KEY_WRAPPED')
    for (const name of ['VAULT_ADDR', 'VAULT_TOKEN'])
      if (!isGiven(environment, name)) problems.push(`${name} is needed with SVC_MASTER_KEY_WRAPPED`)
  }
  if ((config.TLS_CERT_FILE === undefined) !== (config.TLS_KEY_FILE === undefined))
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together')
  if (config.RAIL_CLIENT_CA_FILE !== undefined && config.TLS_CERT_FILE === undefined)
    problems.push(
      'RAIL_CLIENT_CA_FILE needs TLS_CERT_FILE and TLS_KEY_FILE: the service itself must speak TLS',
    )
  const isSet = (name: string) => isGiven(environment, name)
  problems.push(
    ...signInErrors(config, isSet),
    ...alertErrors(config, isSet),
    ...disputeErrors(config, isSet),
    ...processErrors(config),
    ...supplierErrors(config),
  )
  if (problems.length > 0) throw new ConfigError(problems)
  const dataDir = config.DATA_DIR
  return Object.freeze({ ...config, DATA_DIR: isAbsolute(dataDir) ? dataDir : resolve(dataDir) })
}

/** Live mode stores what rails sign by a login of their own, which a process needs that serves a rail with keys: throws `ConfigError`. */
export function requireRailUrl(config: Config): void {
  const { SVC_MODE, ROLES, DATABASE_RAIL_URL, UPI_RAIL_KEYS, BANK_RAIL_KEYS, CARD_RAIL_KEYS } = config
  if (
    SVC_MODE === 'live' &&
    ROLES.includes('api') &&
    DATABASE_RAIL_URL === undefined &&
    (UPI_RAIL_KEYS || BANK_RAIL_KEYS || CARD_RAIL_KEYS)
  )
    throw new ConfigError([
      'DATABASE_RAIL_URL is required in live mode where a rail has keys: the database stores what is signed from that login alone. docs/guides/operate.md shows how to create it',
    ])
}

/** Live mode has no operators without their login, which the roles of a process may need: throws `ConfigError`. */
export function requireOperatorUrlOfRoles(config: Config): void {
  const { CONSOLE, ROLES } = config
  if (ROLES.includes('console') && CONSOLE === 'on')
    requireOperatorUrl(config, 'for the console; or set CONSOLE=off')
  // A process of everything may do without what is due for operators; one for jobs alone would leave it undone.
  if (ROLES.includes('jobs') && !ROLES.includes('api'))
    requireOperatorUrl(config, 'for jobs, which send alerts, issue invoices and prepare payouts')
}

/** Live mode has no operators without their login: throws `ConfigError`, naming what needs it. */
export function requireOperatorUrl({ SVC_MODE, DATABASE_OPERATOR_URL }: Config, purpose: string): void {
  if (SVC_MODE === 'live' && DATABASE_OPERATOR_URL === undefined)
    throw new ConfigError([
      `DATABASE_OPERATOR_URL is required in live mode ${purpose}. docs/guides/operate.md shows how to create its login`,
    ])
}
