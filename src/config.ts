import { isIP } from 'node:net'
import { isAbsolute, resolve } from 'node:path'
import { type Paise, parseRupees } from './kernel/money.ts'
import { Secret } from './kernel/secret.ts'

interface Setting<T> {
  readonly type: string
  /** As an operator would write it; `undefined` when there is none. */
  readonly default: string | undefined
  readonly meaning: string
  readonly read: (text: string) => T
}

class BadSetting extends Error {}
const bad = (rule: string): never => {
  throw new BadSetting(rule)
}

const text = (fallback: string | undefined, meaning: string): Setting<string> => ({
  type: 'text',
  default: fallback,
  meaning,
  read: (value) => value,
})

function oneOf<const T extends string>(choices: readonly T[], fallback: T, meaning: string): Setting<T> {
  return {
    type: choices.map((choice) => `\`${choice}\``).join(', '),
    default: fallback,
    meaning,
    read: (value) =>
      choices.find((choice) => choice === value) ?? bad(`must be one of ${choices.join(', ')}`),
  }
}

function whole(fallback: number, min: number, max: number, meaning: string): Setting<number> {
  return {
    type: `whole number, ${min} to ${max}`,
    default: String(fallback),
    meaning,
    read(value) {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      return number >= min && number <= max ? number : bad(`must be a whole number from ${min} to ${max}`)
    },
  }
}

const digits = (min: number, max: number, fallback: string, meaning: string): Setting<string> => ({
  type: `${min} to ${max} digits`,
  default: fallback,
  meaning,
  read: (value) =>
    /^\d+$/.test(value) && value.length >= min && value.length <= max
      ? value
      : bad(`must be ${min} to ${max} digits`),
})

const flag = (fallback: boolean, meaning: string): Setting<boolean> => ({
  type: '`true`, `false`',
  default: String(fallback),
  meaning,
  read: (value) => (value === 'true' ? true : value === 'false' ? false : bad('must be true or false')),
})

function address(protocols: readonly string[], meaning: string): Setting<string> {
  return {
    type: 'URL',
    default: undefined,
    meaning,
    read(value) {
      const scheme = URL.canParse(value) ? new URL(value).protocol : ''
      return protocols.includes(scheme)
        ? value.replace(/(?<!\/)\/+$/, '')
        : bad(`must be a URL with ${protocols.join(' or ')}`)
    },
  }
}

const hidden = (setting: Setting<string>): Setting<Secret> => ({
  ...setting,
  read: (value) => new Secret(setting.read(value)),
})

const masterKeys: Setting<Secret[]> = {
  type: '32 bytes in base64, comma-separated',
  default: undefined,
  meaning:
    'Wraps every key that the database holds. The first one wraps, all of them unwrap, so that it can be rotated. Needed in live mode; in sandbox mode made on first start and kept in `DATA_DIR/master.key`. Make one with `openssl rand -base64 32`.',
  read: (value) =>
    value.split(',').map((part) => {
      const key = part.trim()
      return /^[A-Za-z0-9+/_-]{43}=?$/.test(key)
        ? new Secret(key)
        : bad('must be 32 bytes in base64 (44 characters)')
    }),
}

const railKeys: Setting<Secret[]> = {
  type: 'text of 32 characters or more, comma-separated',
  default: undefined,
  meaning:
    'Keys with which the UPI rail signs its notices; two while one replaces the other. Without one, live mode takes no notices; sandbox mode makes its own.',
  read: (value) =>
    value
      .split(',')
      .map((part) =>
        part.trim().length >= 32 ? new Secret(part.trim()) : bad('each key must have 32 characters or more'),
      ),
}

/** A network in CIDR notation. */
export interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/** Largest amount of one QR code by merchant category; `default` for the others. */
export type AmountCaps = ReadonlyMap<string, Paise>

const amountCaps: Setting<AmountCaps> = {
  type: '`category=rupees`, comma-separated',
  default: 'default=100000',
  meaning:
    'Largest amount of a QR code and of a payment to it, by merchant category code; `default` for all others.',
  read(value) {
    const caps = new Map<string, Paise>()
    for (const part of value.split(',')) {
      const [category = '', rupees = ''] = part.trim().split('=')
      const amount = parseRupees(rupees)
      if (!/^(?:default|\d{4})$/.test(category) || amount === undefined || amount <= 0n)
        bad('must look like default=100000,5411=200000')
      else caps.set(category, amount)
    }
    return caps.has('default') ? caps : bad('must have a default')
  },
}

const networks: Setting<readonly Network[]> = {
  type: '`address/prefix`, comma-separated',
  default: 'none',
  meaning:
    'Networks that webhooks may go to although they are private, such as `10.20.0.0/16,fd00::/8`. Sandbox mode allows loopback besides. Without it only public addresses are reached.',
  read: (value) =>
    value === 'none'
      ? []
      : value.split(',').map((part) => {
          const [, address = '', prefix = ''] = /^([^/]+)\/(\d{1,3})$/.exec(part.trim()) ?? []
          const family = isIP(address)
          if (family === 0 || Number(prefix) > (family === 4 ? 32 : 128))
            bad('must look like 10.20.0.0/16,fd00::/8')
          return { address, prefix: Number(prefix), family: family === 4 ? 'ipv4' : 'ipv6' }
        }),
}

const timeZone: Setting<string> = {
  type: 'IANA time zone',
  default: 'Asia/Kolkata',
  meaning: 'Business zone: dates without a zone, day and month limits.',
  read(value) {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone
    } catch {
      return bad('must be an IANA time zone such as Asia/Kolkata')
    }
  },
}

/** Every setting of the service, in the order of the reference. `config.ts` is the only reader of the environment. */
export const SETTINGS = {
  SVC_MODE: oneOf(
    ['sandbox', 'live'],
    'sandbox',
    '`sandbox`: demo tenants, simulated UPI switch, embedded database. `live`: none of these; needs `DATABASE_URL` and `SVC_MASTER_KEY`.',
  ),
  HOST: text('127.0.0.1', 'Address to listen on.'),
  PORT: whole(8080, 0, 65_535, 'Port to listen on; 0 takes a free one.'),
  PUBLIC_URL: address(
    ['http:', 'https:'],
    'Address at which callers reach the service, also the issuer of its tokens: the same for all processes of one installation. By default made from `HOST` and `PORT`.',
  ),
  DATA_DIR: text('data', 'Directory of the embedded database, `sandbox.json` and the sandbox’s master key.'),
  DATABASE_URL: hidden(
    address(
      ['postgres:', 'postgresql:'],
      'PostgreSQL 15 or later. Without it an embedded PostgreSQL under `DATA_DIR` is used (sandbox mode only).',
    ),
  ),
  DATABASE_OWNER_URL: hidden(
    address(
      ['postgres:', 'postgresql:'],
      'The same database as a role that may create tables and roles; used by migrations only. By default `DATABASE_URL`.',
    ),
  ),
  DATABASE_POOL_SIZE: whole(12, 4, 500, 'Connections to the database per process.'),
  SVC_MASTER_KEY: masterKeys,
  LOG_LEVEL: oneOf(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Least level that is logged.',
  ),
  METRICS_TOKEN: hidden(
    text(
      undefined,
      'Bearer token for `/metrics`. Without it `/metrics` is open in sandbox mode and absent in live mode.',
    ),
  ),
  TRUST_PROXY: flag(
    false,
    'Take the caller’s address from `X-Forwarded-For`. Only behind a proxy that sets it.',
  ),
  BUSINESS_TIME_ZONE: timeZone,
  TOKEN_TTL_SECONDS: whole(3_600, 30, 86_400, 'Life of an access token.'),
  UPI_RAIL_KEYS: railKeys,
  QR_AMOUNT_CAPS: amountCaps,
  CARD_BIN: digits(
    6,
    8,
    '999912',
    'Leading digits of the card numbers that are issued (BIN); by default a range of no network.',
  ),
  CARD_LOAD_MAX_RUPEES: whole(
    10_000,
    1,
    1_000_000,
    'Largest load of a gift card, in rupees (the regulator’s limit by default).',
  ),
  CARD_VALIDITY_MONTHS: whole(36, 12, 240, 'Months that a new card is valid.'),
  BULK_ROWS_MAX: whole(50_000, 1, 200_000, 'Orders in one bulk upload.'),
  BULK_WAITING_ROWS_MAX: whole(
    1_000_000,
    1,
    100_000_000,
    'Orders of one partner that may wait in bulk jobs; an upload beyond is answered 503.',
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
  IDEMPOTENCY_HOURS: whole(48, 24, 8_760, 'How long the answer of an `Idempotency-Key` is kept.'),
  WEBHOOK_TIMEOUT_MS: whole(
    10_000,
    500,
    60_000,
    'Time in which an endpoint must take a webhook, from the look-up of its name to its whole answer.',
  ),
  WEBHOOK_ALLOWED_NETWORKS: networks,
  EVENTS_DAYS: whole(
    400,
    4,
    36_500,
    'How long events stay in the feed. Who asks for older ones is told so (`events_forgotten`).',
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
      'Redis or Valkey that counts requests for all processes. Without it, or while it does not answer, each process counts for itself.',
    ),
  ),
  FAILED_ATTEMPTS_PER_MINUTE: whole(
    100,
    1,
    100_000,
    'Wrong secrets per minute, for each address and each key prefix, before they are answered 429.',
  ),
  CONSOLE: oneOf(
    ['on', 'off'],
    'on',
    'Whether this process serves the operators’ console at `/console`. In live mode operators sign in with a password; make the first with `svc operator create`.',
  ),
  CONSOLE_SESSION_HOURS: whole(12, 1, 168, 'Longest time that an operator stays signed in to the console.'),
  CONSOLE_IDLE_MINUTES: whole(
    30,
    5,
    1_440,
    'An operator who asks for nothing for so long is signed out of the console.',
  ),
  SIGN_IN_FAILURES_PER_MINUTE: whole(
    10,
    1,
    10_000,
    'Wrong passwords per minute, for each address and each name, before every further attempt waits its turn, one a second for an address.',
  ),
  REQUEST_LOG_DAYS: whole(7, 1, 365, 'How long the console’s request log is kept.'),
  REQUEST_LOG_ROWS_MAX: whole(
    2_000_000,
    1_000,
    1_000_000_000,
    'Most rows of the request log; older ones go first.',
  ),
  REQUEST_LOG_PER_SECOND: whole(
    500,
    0,
    100_000,
    'Most requests that a process enters in the request log in a second, failures first; 0 for none. What is beyond is counted in `svc_request_log_dropped_total`.',
  ),
  REQUEST_LOG_READ_SAMPLE: whole(
    100,
    1,
    1_000_000,
    'Of so many successful reads one is entered in the request log.',
  ),
  BODY_BYTES_MAX: whole(65_536, 1_024, 16_777_216, 'Largest request body in bytes.'),
  HEADER_BYTES_MAX: whole(16_384, 4_096, 131_072, 'Largest header block in bytes.'),
  HEADERS_TIMEOUT_MS: whole(5_000, 500, 60_000, 'Time for the headers of a request to arrive.'),
  REQUEST_TIMEOUT_MS: whole(15_000, 1_000, 300_000, 'Time for a whole request to arrive.'),
  STREAM_IDLE_MS: whole(
    30_000,
    1_000,
    600_000,
    'Longest time that the reader of a streamed answer may stand still.',
  ),
  COMMAND_TIMEOUT_MS: whole(
    10_000,
    1_000,
    120_000,
    'Longest wait of a command for rows that others hold, or for the database to return.',
  ),
  TENANT_QUEUE_MAX: whole(
    1_000,
    10,
    100_000,
    'Commands of one tenant that may wait; one more is answered 503.',
  ),
  REQUESTS_MAX: whole(
    256,
    50,
    100_000,
    'Requests that a process carries out at the same time; beyond it, whoever has more than its share of them is answered 503.',
  ),
  DRAIN_DELAY_MS: whole(
    3_000,
    0,
    300_000,
    'Live mode: after SIGTERM, time in which `/readyz` says 503 while requests are still taken, so that a load balancer turns away before they are refused.',
  ),
  DRAIN_TIMEOUT_MS: whole(
    20_000,
    1_000,
    300_000,
    'After SIGTERM and `DRAIN_DELAY_MS`, time for accepted requests to be answered.',
  ),
} satisfies Record<string, Setting<unknown>>

type Read<S> = S extends { default: string; read: (text: string) => infer T }
  ? T
  : S extends Setting<infer T>
    ? T
    : never
type Name = keyof typeof SETTINGS
type Optional =
  | 'PUBLIC_URL'
  | 'DATABASE_URL'
  | 'DATABASE_OWNER_URL'
  | 'SVC_MASTER_KEY'
  | 'METRICS_TOKEN'
  | 'UPI_RAIL_KEYS'
export type Config = { readonly [N in Exclude<Name, Optional>]: Read<(typeof SETTINGS)[N]> } & {
  readonly [N in Optional]: Read<(typeof SETTINGS)[N]> | undefined
}

/** All faults of the settings at once, one a line. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `The settings have ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((f) => `  ${f}`).join('\n')}`,
    )
    this.faults = faults
  }
}

/** Reads the settings from the environment. An empty value counts as absent. Throws `ConfigError`. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(SETTINGS) as [Name, Setting<unknown>][]) {
    const given = environment[name]?.trim()
    const value = given === undefined || given === '' ? setting.default : given
    if (value === undefined) continue
    try {
      values[name] = setting.read(value)
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error
      faults.push(`${name} ${error.message}`)
    }
  }
  const config = values as unknown as Config
  if (config.SVC_MODE === 'live') {
    if (!environment['DATABASE_URL']?.trim())
      faults.push('DATABASE_URL is needed in live mode, such as postgresql://user:password@host/database')
    if (!environment['SVC_MASTER_KEY']?.trim())
      faults.push('SVC_MASTER_KEY is needed in live mode; make one with: openssl rand -base64 32')
  }
  if (faults.length > 0) throw new ConfigError(faults)
  const dataDir = config.DATA_DIR
  return Object.freeze({ ...config, DATA_DIR: isAbsolute(dataDir) ? dataDir : resolve(dataDir) })
}
