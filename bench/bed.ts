import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { issueApiKey } from '../src/access/api-key.ts'
import { Secret } from '../src/kernel/secret.ts'
import { Keyring } from '../src/platform/crypto/keyring.ts'
import { MasterKeys } from '../src/platform/crypto/master-keys.ts'
import { Database } from '../src/platform/db/database.ts'
import { openEmbedded } from '../src/platform/db/embedded.ts'
import { openLog } from '../src/platform/log.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const RAIL_KEY = randomBytes(24).toString('hex')
/** So many that pgbench's transactions seldom wait for each other's accounts. */
export const MERCHANTS = 256
/** Codes 0 to 1023 are paid; those from 2000 on are cancelled. */
export const CANCEL_FROM = 2_000
export const CANCEL_COUNT = 60_000
export const codeId = (n: number): string => `qr_${String(n).padStart(26, '0')}`
export const trOf = (n: number): string => `SVC${String(n).padStart(26, '0')}`

/** A durable PostgreSQL with codes in it, and the service in front of it, as processes of their own. */
export interface Bed {
  readonly baseUrl: string
  readonly host: string
  readonly port: number
  readonly admin: pg.Client
  readonly apiKeys: readonly string[]
  close(): Promise<void>
}

export async function makeBed(): Promise<Bed> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const server = await openEmbedded({ dataDir, settings: { max_connections: '200' } })
  const { host, port } = server
  const root = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await root.connect()
  await root.query('create database svc')
  await root.end()
  const masterKey = randomBytes(32).toString('base64')
  const url = `postgresql://postgres@localhost/svc?host=${encodeURIComponent(host)}&port=${port}`
  const service = await startService({
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    SVC_MASTER_KEY: masterKey,
    UPI_RAIL_KEYS: RAIL_KEY,
  })
  const admin = new pg.Client({
    host,
    port,
    user: 'postgres',
    database: 'svc',
    options: '-c search_path=svc',
  })
  const close = async () => {
    const ended = new Promise((resolve) => service.child.once('exit', resolve))
    service.child.kill('SIGTERM')
    await ended
    await admin.end()
    await server.release()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await admin.connect()
    await seed(admin)
    return { baseUrl: service.baseUrl, host, port, admin, apiKeys: await newApiKeys(url, masterKey), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function newApiKeys(url: string, masterKey: string): Promise<string[]> {
  const database = new Database({ url }, 4, openLog('warn'))
  const keyring = await Keyring.open(database, new MasterKeys([new Secret(masterKey)]))
  const maker = { keyring, random: randomBytes, mode: 'test' } as const
  const apiKeys: string[] = []
  for (let m = 0; m < MERCHANTS; m++)
    apiKeys.push(
      (await database.operate((tx) => issueApiKey(tx, maker, `mer_bench${m}`, 'bench'))).secret.reveal(),
    )
  await database.close()
  return apiKeys
}

async function seed(admin: pg.Client): Promise<void> {
  await admin.query(`
    insert into tenants select 'mer_bench' || n, 'merchant', now() from generate_series(0, ${MERCHANTS - 1}) n;
    insert into merchants select 'mer_bench' || n, 'Corner Shop', 'shop' || n || '@bank', '5411', 'mak_' || n, now()
      from generate_series(0, ${MERCHANTS - 1}) n;
    insert into ledger_accounts (account_id, tenant_id, kind, unit, floor, created_at)
      select kind || ':mer_bench' || n, 'mer_bench' || n, kind, 'INR', case kind when 'upi_clearing' then null else 0 end, now()
      from generate_series(0, ${MERCHANTS - 1}) n, unnest(array['upi_clearing', 'payable', 'upi_refunds']) kind;
    insert into qr_codes (qr_code_id, merchant_id, tr, upi_uri, multiple_use, fixed_amount, status, holds_reference,
        request_hash, created_at, modified_at)
      select 'qr_' || lpad(n::text, 26, '0'), 'mer_bench' || n % ${MERCHANTS}, 'SVC' || lpad(n::text, 26, '0'),
        'upi://pay?pa=shop@bank&pn=Corner%20Shop&tr=SVC' || lpad(n::text, 26, '0') || '&mc=5411&mode=01&cu=INR',
        true, false, 'ACTIVE', false, '\\x00', now(), now()
      from (select generate_series(0, 1023) union all
            select generate_series(${CANCEL_FROM}, ${CANCEL_FROM + CANCEL_COUNT - 1})) as codes (n);
    analyze`)
}

async function startService(env: Record<string, string>): Promise<{ child: ChildProcess; baseUrl: string }> {
  const { PATH = '', HOME = '', SVC_NODE_OPTIONS = '' } = process.env
  const flags = SVC_NODE_OPTIONS.split(' ').filter(Boolean)
  const child = spawn(process.execPath, [...flags, '--import', 'tsx', 'src/cli.ts', 'serve'], {
    cwd: ROOT,
    env: { PATH, HOME, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the service did not start')))
    createInterface(child.stdout).on('line', (line) => {
      const entry = JSON.parse(line) as { msg: string; baseUrl: string; level: number }
      if (entry.msg === 'ready') resolve(entry.baseUrl)
      else if (entry.level >= 40) console.error(line)
    })
  })
  return { child, baseUrl }
}
