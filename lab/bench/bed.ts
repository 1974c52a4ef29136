import { createSecretKey, randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCardAccount, insertCardAccount } from '@svc/core/cards/account/card-account'
import { issueApiKey } from '@svc/core/tenants/api-key'
import { insertCompany } from '@svc/core/tenants/company'
import { issueSharedKey } from '@svc/core/tenants/jwe-keys'
import { createPartner, type Product } from '@svc/core/tenants/partner'
import { type EmbeddedServer, openEmbedded } from '@svc/embedded-postgres/embedded'
import type { JweKey } from '@svc/jwe/keys'
import { paise } from '@svc/kernel/money'
import { Secret } from '@svc/kernel/secret'
import { Keyring } from '@svc/platform/crypto/keyring'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import { Database } from '@svc/platform/db/database'
import { openLog } from '@svc/platform/log'
import pg from 'pg'
import { freePort } from '../../test/harness/free-port.ts'
import { fundCardAccount } from '../../test/harness/fund-card-account.ts'
import { type Ran, runProgram, type ServerProcess, startServer } from './server-process.ts'

/** So many that pgbench's transactions seldom wait for each other's accounts. */
export const MERCHANTS = 256
/** Codes 0 to 1023 are paid; those from 2000 on are cancelled. */
export const PAID_CODES = 1_024
export const CANCEL_FROM = 2_000
export const CANCEL_COUNT = 60_000
export const codeId = (n: number): string => `qr_${String(n).padStart(26, '0')}`
export const trOf = (n: number): string => `SVC${String(n).padStart(26, '0')}`

export interface BenchPartner {
  readonly partnerId: string
  readonly companyId: string
  readonly cardAccountIds: readonly string[]
  readonly sharedKey: JweKey
  /** Header fields of a caller who is logged in. */
  readonly headers: Record<string, string>
}

/** A server with its database, and what its callers need. */
export interface Side {
  readonly service: ServerProcess
  /** PostgreSQL's first process. */
  readonly postmasterPid: number
  readonly admin: pg.Client
  readonly railKey: string
  /** One for each merchant. */
  readonly apiKeys: readonly string[]
}

/** A durable embedded PostgreSQL with merchants and codes in it, and the service in front of it, each processes of their own. */
export interface Bed extends Side {
  readonly host: string
  readonly port: number
  /** Another process of the service on the same database, or on the same server by other means; `node`: the program that runs it. */
  startService(url?: string, node?: string): Promise<ServerProcess>
  /** Runs a command of operators to its end, as the program that ships. */
  runAdmin(args: readonly string[]): Promise<Ran>
  /** A partner whose accounts have all the funds that a benchmark can spend. */
  newPartner(product: Product, accounts: number): Promise<BenchPartner>
  close(): Promise<void>
}

interface Closing {
  close(): Promise<void>
}

const beds = new Set<Closing>()

/** Closes the bed, once, also when the run is interrupted. */
export function closedWithRun<B extends Closing>(bed: B): B {
  let closing: Promise<void> | undefined
  const once = {
    ...bed,
    close: () => (closing ??= bed.close().finally(() => beds.delete(once))),
  }
  beds.add(once)
  return once
}

/** All that are still open: also for a run that is interrupted. */
export const closeBeds = async (): Promise<void> =>
  void (await Promise.all([...beds].map((bed) => bed.close())))

/** What searches of one card read among a million is 1 GB; PostgreSQL's default keeps 128 MB. */
const MEMORY = { shared_buffers: '2GB' }

/** A durable PostgreSQL in a folder of its own, that lets everybody in. */
export async function newServer(
  more: Readonly<Record<string, string>> = {},
): Promise<{ server: EmbeddedServer; dataDir: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  await chmod(dataDir, 0o711)
  const hbaFile = join(dataDir, 'pg_hba.conf')
  await writeFile(hbaFile, 'local all all trust\nhost all all 127.0.0.1/32 trust\n', { mode: 0o644 })
  // TCP too, so that the socket can be compared with it.
  const settings = { listen_addresses: '127.0.0.1', port: String(await freePort()), hba_file: hbaFile }
  return {
    dataDir,
    server: await openEmbedded({
      dataDir,
      settings: { ...MEMORY, max_connections: '200', ...settings, ...more },
    }),
  }
}

export async function makeBed(nodeFlags: readonly string[] = []): Promise<Bed> {
  const { server, dataDir } = await newServer()
  const { host, port } = server
  const root = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await root.connect()
  await root.query('create database svc')
  await root.end()
  const [masterKey, railKey] = [randomBytes(32).toString('base64'), randomBytes(24).toString('hex')]
  const socketUrl = `postgresql://postgres@localhost/svc?host=${encodeURIComponent(host)}&port=${port}`
  const env = {
    DATABASE_URL: socketUrl,
    DATA_DIR: dataDir,
    SVC_MASTER_KEY: masterKey,
    UPI_RAIL_KEYS: railKey,
    CARD_RAIL_KEYS: railKey,
  }
  const startService = (url = socketUrl, node?: string) =>
    startServer({
      ...(node !== undefined && { node }),
      args: [...nodeFlags, 'bin/svc.mjs', 'serve'],
      env: { ...env, PORT: '0', DATABASE_URL: url },
    })
  const service = await startService()
  const admin = new pg.Client({
    host,
    port,
    user: 'postgres',
    database: 'svc',
    options: '-c search_path=svc',
  })
  await admin.connect()
  await seedMerchants(admin)
  const database = new Database({ url: socketUrl, operatorUrl: socketUrl }, 4, openLog('warn'))
  const keyring = await Keyring.open(database, new MasterKeys([new Secret(masterKey)]))
  const apiKeys = await newApiKeys(database, keyring)
  const close = async () => {
    await service.end()
    await database.close()
    await admin.end()
    await server.release()
    await rm(dataDir, { recursive: true, force: true })
  }
  return closedWithRun<Bed>({
    service,
    host,
    port,
    postmasterPid: server.pid,
    admin,
    railKey,
    apiKeys,
    startService,
    runAdmin: (args) => runProgram({ args: [...nodeFlags, 'bin/svc.mjs', 'admin', ...args], env }),
    newPartner: (product, accounts) =>
      onboard({ database, keyring, baseUrl: service.baseUrl }, product, accounts),
    close,
  })
}

/**
 * Drops the events that nobody has numbered yet. pgbench writes more of them than the service's relay can follow, which
 * would number them in the time of the next contender. Behind the relay's own lock, which it passes over.
 */
export async function dropUnnumbered({ admin }: Pick<Side, 'admin'>): Promise<void> {
  // Ids begin with their time: of many partitions only the newest are looked into.
  await admin.query(`begin; select pg_advisory_xact_lock(hashtext('svc relay'));
    with dropped as (delete from unnumbered_events returning tenant_id, event_id)
    delete from outbox o using dropped d where o.tenant_id = d.tenant_id and o.event_id = d.event_id
      and o.event_id >= (select min(event_id) from dropped);
    commit`)
  await admin.query('vacuum outbox')
  await admin.query('vacuum unnumbered_events')
}

export async function newApiKeys(database: Database, keyring: Keyring): Promise<string[]> {
  const maker = { keyring, random: randomBytes, mode: 'test' } as const
  const apiKeys: string[] = []
  for (let m = 0; m < MERCHANTS; m++)
    apiKeys.push(
      (await database.operate((tx) => issueApiKey(tx, maker, `mer_bench${m}`, 'bench'))).secret.reveal(),
    )
  return apiKeys
}

export async function seedMerchants(admin: pg.Client): Promise<void> {
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
      from (select generate_series(0, ${PAID_CODES - 1}) union all
            select generate_series(${CANCEL_FROM}, ${CANCEL_FROM + CANCEL_COUNT - 1})) as codes (n);
    analyze tenants, merchants, ledger_accounts, qr_codes`)
}

export interface Onboarding {
  readonly database: Database
  readonly keyring: Keyring
  readonly baseUrl: string
}

/** A partner with funded accounts, logged in. */
export async function onboard(
  { database, keyring, baseUrl }: Onboarding,
  product: Product,
  accounts: number,
): Promise<BenchPartner> {
  const maker = { keyring, random: randomBytes, mode: 'test' } as const
  const { client, ...partner } = await database.operate(async (tx) => {
    const { partner, client } = await createPartner(tx, maker, { name: 'Bench', products: [product] })
    const { partnerId } = partner
    const companyId = insertCompany(tx, randomBytes, partnerId, 'Acme Industries Private Limited')
    const cardAccountIds: string[] = []
    for (let i = 0; i < accounts; i++) {
      const id = insertCardAccount(tx, randomBytes, {
        partnerId,
        companyId,
        product,
        accountType: product === 'incentive' ? 'GIFT' : 'EMPLOYEE_REWARDS',
        binType: product === 'incentive' ? 'GIFT' : 'REWARD',
        programme: 'Bench',
        denominationPaise: 500_00n,
      })
      cardAccountIds.push(id)
      const books = { random: randomBytes, timeZone: 'Asia/Kolkata' }
      await fundCardAccount(tx, books, (await findCardAccount(tx, id))!, paise(10n ** 14n))
    }
    const shared = await issueSharedKey(tx, maker, partnerId)
    const key = createSecretKey(Buffer.from(shared.k.reveal(), 'base64url'))
    const sharedKey: JweKey = { kid: shared.kid, alg: 'A256KW', enc: 'A256GCM', key }
    return { partnerId, companyId, cardAccountIds, sharedKey, client }
  })
  const response = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.clientId,
      client_secret: client.clientSecret.reveal(),
    }),
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  const cookie = response.headers.getSetCookie()[0]!.split(';')[0]!
  return { ...partner, headers: { authorization: `Bearer ${token}`, partnerid: partner.partnerId, cookie } }
}
