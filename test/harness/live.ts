import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Receiver } from '../../lab/chaos/receiver.ts'
import { DatabaseServer } from '../../lab/chaos/server.ts'
import type { Json } from './client.ts'
import { Collector } from './collector.ts'
import { freePort } from './free-port.ts'
import { guideStatements } from './guide-logins.ts'
import { runCli } from './processes.ts'
import { REDIS, RedisServer } from './redis.ts'

export const RAIL_KEY = 'rail-key-of-the-built-program-0123456789'
export const CARD_RAIL_KEY = 'card-rail-key-of-the-built-program-01234'
export const BANK_RAIL_KEY = 'bank-rail-key-of-the-built-program-01234'
export const ALERT_WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
export const METRICS_TOKEN = 'figures-0123456789'

/** What a production has: a PostgreSQL with separate logins, a store for rate limits, somebody who takes webhooks. */
export interface Live {
  readonly server: DatabaseServer
  readonly receiver: Receiver
  readonly collector: Collector
  /** A directory for files of the test. */
  readonly folder: string
  /** Every setting, once. */
  readonly settings: Readonly<Record<string, string>>
  /** Runs a command of the command line with the same settings; returns the JSON that it prints. */
  svc(args: readonly string[], input?: string, settings?: Readonly<Record<string, string>>): Promise<Json>
  close(): Promise<void>
}

/** The logins and the database, by the statements of docs/guides/operate.md; their URLs. */
async function createLogins(server: DatabaseServer): Promise<Record<string, string>> {
  for (const statement of await guideStatements()) await onMaintenance(server, statement)
  const url = (login: string) =>
    `postgresql://${login}@localhost/svc?host=${encodeURIComponent(server.host)}&port=${server.port}`
  return {
    DATABASE_URL: url('svc_app:choose-another'),
    DATABASE_OWNER_URL: url('svc_migrator:choose-one'),
    DATABASE_OPERATOR_URL: url('svc_console:choose-a-third'),
    DATABASE_RAIL_URL: url('svc_notices:choose-a-fourth'),
    // The same server: it has all that was committed, as a standby that caught up does.
    DATABASE_READ_URL: url('svc_console:choose-a-third'),
  }
}

async function onMaintenance(server: DatabaseServer, statement: string): Promise<void> {
  const client = await server.connect('postgres')
  await client.query(statement)
  await client.end()
}

/** An installation in live mode, its schema made and its roles granted, that nothing serves yet. */
export async function openLive(): Promise<Live> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-live-'))
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const server = await DatabaseServer.open(join(folder, 'postgresql'))
    undo.push(() => server.close())
    const logins = await createLogins(server)
    const store = REDIS && (await RedisServer.open())
    if (store) undo.push(() => store.kill())
    const receiver = await Receiver.open(folder)
    undo.push(() => receiver.close())
    receiver.expect('alerts', ALERT_WEBHOOK_SECRET)
    const collector = await Collector.open()
    undo.push(() => collector.close())
    const settings = {
      ...CHOSEN,
      ...logins,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ALERT_WEBHOOK_URL: receiver.url('alerts'),
      PORT: `${await freePort()}`,
      DATA_DIR: join(folder, 'data'),
      SVC_MASTER_KEY: [1, 2].map(() => randomBytes(32).toString('base64')).join(),
      // Without a store the setting is given all the same: the service must do with one that is never there.
      RATE_LIMIT_URL: `redis://127.0.0.1:${store ? store.port : await freePort()}`,
    }
    const svc: Live['svc'] = async (args, input = '', others = {}) => {
      const { code, stdout, stderr } = await runCli(
        [...args, '--json'],
        { ...settings, ...others },
        { input },
      )
      expect(code, `svc ${args.join(' ')}\n${stderr}${stdout}`).toBe(0)
      return JSON.parse(stdout) as Json
    }
    await svc(['admin', 'migrate'])
    return { server, receiver, collector, folder, settings, svc, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Settings that need an installation of another kind, and the tests that give them. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  TLS_CERT_FILE: 'test/service/tls.test.ts',
  TLS_KEY_FILE: 'test/service/tls.test.ts',
  RAIL_CLIENT_CA_FILE: 'test/built/rail-tls.test.ts',
  SVC_MASTER_KEY_WRAPPED: 'test/service/vault.test.ts',
  VAULT_ADDR: 'test/service/vault.test.ts',
  VAULT_TOKEN: 'test/service/vault.test.ts',
  VAULT_NAMESPACE: 'test/service/vault.test.ts',
  VAULT_TRANSIT_MOUNT: 'test/service/vault.test.ts',
  VAULT_TRANSIT_KEY: 'test/service/vault.test.ts',
  VAULT_CHECK_SECONDS: 'test/service/vault.test.ts',
  CELL_DATABASE_URLS: 'test/service/cells.test.ts',
  CELL_URLS: 'test/service/tenant-move.test.ts',
  ROLES: 'test/built/roles.test.ts',
  WORKERS: 'test/built/workers.test.ts',
}

/** A value for each setting that is not an address of this very installation: where it can be, another than the default. */
const CHOSEN: Readonly<Record<string, string>> = {
  SVC_MODE: 'live',
  HOST: '127.0.0.1',
  PUBLIC_URL: 'https://svc.example.com',
  DATABASE_POOL_SIZE: '8',
  DATABASE_READ_WAIT_MS: '2000',
  REPLICATION: 'optional',
  LOG_LEVEL: 'debug',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20dXNlcjpw+w==, x-tenant=svc%20live',
  OTEL_SERVICE_NAME: 'svc-live',
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.25',
  METRICS_TOKEN,
  TRUST_PROXY: '1',
  BUSINESS_TIME_ZONE: 'Asia/Dubai',
  TOKEN_TTL_SECONDS: '1800',
  UPI_RAIL_KEYS: `${RAIL_KEY},the-next-rail-key-0123456789-0123456789`,
  CARD_RAIL_KEYS: `${CARD_RAIL_KEY},the-next-card-rail-key-0123456789-0123456789`,
  BANK_RAIL_KEYS: `${BANK_RAIL_KEY},the-next-bank-rail-key-0123456789-0123456789`,
  VIRTUAL_ACCOUNT_PREFIX: 'ACME',
  FUNDING_IFSC: 'HDFC0000001',
  FUNDING_BENEFICIARY: 'Acme Payments Escrow',
  FUNDING_BANK_NAME: 'HDFC Bank',
  JWE_MAX_AGE_SECONDS: '600',
  CARD_REPEAT_SECONDS: '2',
  CARD_UNCLAIMED_DAYS: '730',
  CARD_RETURN_WAIT_DAYS: '3',
  CARD_HOLD_DAYS: '5',
  USER_RETENTION_DAYS: '400',
  CARD_OVER_CAPTURE_PERCENT: '15',
  CARD_TRANSACTION_MAX_RUPEES: '5000',
  CARD_DAY_MAX_RUPEES: '6000',
  CARD_MONTH_MAX_RUPEES: '20000',
  RAIL_GRACE_SECONDS: '60',
  RAIL_ADAPTERS: '{}',
  REFUNDS_BEYOND_BALANCE: 'allow',
  PAYOUT_REQUIRES_SETTLEMENT: 'false',
  BUSINESS_DAY_CUTOFF: '23:30',
  GST_RATES: '2017-07-01=18,2024-04-01=18.5',
  GST_STATE: '29',
  SUPPLIER_NAME: 'Example Payments Private Limited',
  SUPPLIER_ADDRESS: '1 MG Road, Bengaluru 560001',
  SUPPLIER_GSTIN: '29AAGCB7383J1Z4',
  INVOICE_SERIES: 'SV',
  INVOICE_SAC: '997159',
  APPROVAL_ABOVE_RUPEES: '250000',
  APPROVAL_HOURS: '24',
  // The operators of this installation were all created by one account.
  APPROVER_COOLING_DAYS: '0',
  SVC_OPERATOR: 'asha',
  SVC_OPERATOR_PASSWORD: 'correct horse battery staple',
  SVC_OPERATOR_CODE: '123456',
  CONSOLE_SECOND_FACTOR: 'optional',
  PORTAL_SECOND_FACTOR: 'optional',
  CONSOLE_STEP_UP_MINUTES: '10',
  ACCESS_KEY_ALONE: 'accept',
  CARD_AMOUNTS: 'exact',
  COIN_CLAWBACK: 'wallet',
  COIN_LOT_ORDER: 'fifo',
  COIN_EXPIRY_NOTICE_DAYS: '3',
  COIN_LOOKUP_TOKEN: 'partner',
  EXPIRED_STATUS: 'CANCELLED',
  SEARCH_COOKIE: 'token',
  SECOND_CANCEL: 'conflict',
  SUCCESS_RESULT_CODE: '200',
  TOKEN_EXPIRY: 'duration',
  UNKNOWN_FIELDS: 'ignore',
  QR_AMOUNT_CAPS: 'default=50000,5411=200000',
  CARD_BIN: '99991234',
  CARD_LOAD_MAX_RUPEES: '5000',
  CARD_LOAD_LIMITS: 'default=10000/10000/10000/10000,RELOADABLE_GPR=20000/50000/100000/200000',
  CARD_VALIDITY_MONTHS: '24',
  BULK_ROWS_MAX: '1000',
  BULK_WAITING_ROWS_MAX: '10000',
  BULK_CHUNK_ROWS: '8',
  BULK_LEASE_MS: '20000',
  IDEMPOTENCY_HOURS: '24',
  WEBHOOK_TIMEOUT_MS: '5000',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  EVENTS_DAYS: '30',
  WEBHOOK_ATTEMPTS_DAYS: '7',
  RATE_LIMIT_PER_SECOND: '500',
  RATE_LIMIT_BURST: '1000',
  FAILED_ATTEMPTS_PER_MINUTE: '50',
  FAILED_REQUESTS_PER_SECOND: '1000',
  CONSOLE: 'on',
  PORTAL: 'on',
  ALERT_WEBHOOK_SECRET,
  ALERT_WEBHOOK_NETWORKS: '127.0.0.0/8',
  ALERT_SUSPENSE_HOURS: '48',
  ALERT_STATEMENT_HOUR: '13',
  ALERT_STATEMENT_UNMATCHED_DAYS: '2',
  ALERT_BATCH_UNCONFIRMED_DAYS: '2',
  ALERT_SHORTFALL_RUPEES: '1',
  ALERT_UNEXPLAINED_RUPEES: '1',
  ALERT_REFUND_LATE_DAYS: '2',
  ALERT_MERCHANT_REFUND_UNSENT_DAYS: '2',
  ALERT_MERCHANT_REFUND_UNANSWERED_DAYS: '4',
  ALERT_PAYOUT_LATE_HOURS: '12',
  ALERT_DISPUTE_DUE_HOURS: '24',
  // Nothing listens there: evidence goes in files.
  DISPUTE_EVIDENCE_URL: 'https://127.0.0.1:9/evidence',
  DISPUTE_EVIDENCE_NETWORKS: '127.0.0.0/8',
  DISPUTE_EVIDENCE_TIMEOUT_MS: '30000',
  DISPUTE_ATTACHMENT_DAYS: '90',
  ALERT_INVOICE_MISSING_DAY: '6',
  ALERT_GST_DUE_DAY: '19',
  ALERT_BATCH_INCOMPLETE_DAYS: '2',
  ALERT_SETTLEMENT_LATE_DAYS: '2',
  ALERT_CLOSE_LATE_DAY: '12',
  CONSOLE_SESSION_HOURS: '8',
  CONSOLE_IDLE_MINUTES: '15',
  SIGN_IN_FAILURES_PER_MINUTE: '5',
  // Nothing listens there: operators sign in with passwords all the same.
  OIDC_ISSUER: 'http://127.0.0.1:9',
  OIDC_CLIENT_ID: 'svc-console',
  OIDC_CLIENT_SECRET: 'a secret of the console',
  OIDC_NAME_CLAIM: 'preferred_username',
  CONSOLE_PASSWORDS: 'on',
  REQUEST_LOG_DAYS: '3',
  REQUEST_LOG_ROWS_MAX: '10000',
  REQUEST_LOG_PER_SECOND: '100',
  REQUEST_LOG_READ_SAMPLE: '1',
  BODY_BYTES_MAX: '32768',
  HEADER_BYTES_MAX: '8192',
  HEADERS_TIMEOUT_MS: '4000',
  REQUEST_TIMEOUT_MS: '10000',
  STREAM_IDLE_MS: '10000',
  COMMAND_TIMEOUT_MS: '8000',
  TENANT_QUEUE_MAX: '500',
  REQUESTS_MAX: '100',
  DRAIN_DELAY_MS: '1500',
  DRAIN_TIMEOUT_MS: '15000',
}
