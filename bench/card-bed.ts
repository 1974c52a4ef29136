import { spawn } from 'node:child_process'
import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { createPartner, type Product } from '../src/access/partner.ts'
import { issueSharedKey } from '../src/access/seal-keys.ts'
import {
  createCardAccount,
  createCompany,
  findCardAccount,
  fundCardAccount,
} from '../src/cards/card-account.ts'
import { paise } from '../src/kernel/money.ts'
import { Secret } from '../src/kernel/secret.ts'
import { Keyring } from '../src/platform/crypto/keyring.ts'
import { MasterKeys } from '../src/platform/crypto/master-keys.ts'
import type { SealKey } from '../src/platform/crypto/seal-keys.ts'
import { Database } from '../src/platform/db/database.ts'
import { openEmbedded } from '../src/platform/db/embedded.ts'
import { openLog } from '../src/platform/log.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface BenchPartner {
  readonly partnerId: string
  readonly companyId: string
  readonly cardAccountIds: readonly string[]
  readonly sharedKey: SealKey
  /** Header fields of a caller who is logged in. */
  readonly headers: Record<string, string>
}

/** A durable embedded PostgreSQL with the service in front of it, each a process of its own. */
export interface CardBed {
  readonly baseUrl: string
  readonly host: string
  readonly port: number
  /** Of the service. */
  readonly pid: number
  readonly admin: pg.Client
  /** A partner whose accounts have all the funds that a benchmark can spend. */
  newPartner(product: Product, accounts: number): Promise<BenchPartner>
  close(): Promise<void>
}

export async function makeCardBed(nodeFlags: readonly string[] = []): Promise<CardBed> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const server = await openEmbedded({ dataDir, settings: { max_connections: '200' } })
  const { host, port } = server
  const root = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await root.connect()
  await root.query('create database svc')
  await root.end()
  const masterKey = randomBytes(32).toString('base64')
  const url = `postgresql://postgres@localhost/svc?host=${encodeURIComponent(host)}&port=${port}`
  const { baseUrl, pid, end } = await startService(nodeFlags, {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    SVC_MASTER_KEY: masterKey,
  })
  const admin = new pg.Client({
    host,
    port,
    user: 'postgres',
    database: 'svc',
    options: '-c search_path=svc',
  })
  await admin.connect()
  const database = new Database({ url }, 4, openLog('warn'))
  const keyring = await Keyring.open(database, new MasterKeys([new Secret(masterKey)]))
  return {
    baseUrl,
    host,
    port,
    pid,
    admin,
    newPartner: (product, accounts) => onboard({ database, keyring, baseUrl }, product, accounts),
    async close() {
      await end()
      await database.close()
      await admin.end()
      await server.release()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function startService(nodeFlags: readonly string[], env: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [...nodeFlags, '--import', 'tsx', 'src/cli.ts', 'serve'], {
    cwd: ROOT,
    env: { PATH, HOME, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the service did not start')))
    createInterface(child.stdout).on('line', (line) => {
      const entry = JSON.parse(line) as { msg: string; baseUrl: string; level: number }
      if (entry.msg === 'ready') resolve(entry.baseUrl)
      else if (entry.level >= 40) console.error(line)
    })
  })
  const end = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { baseUrl, pid: child.pid!, end }
}

interface Onboarding {
  readonly database: Database
  readonly keyring: Keyring
  readonly baseUrl: string
}

async function onboard(
  { database, keyring, baseUrl }: Onboarding,
  product: Product,
  accounts: number,
): Promise<BenchPartner> {
  const maker = { keyring, random: randomBytes, mode: 'test' } as const
  const made = await database.operate(async (tx) => {
    const { partner, client } = await createPartner(tx, maker, { name: 'Bench', products: [product] })
    const { partnerId } = partner
    const companyId = await createCompany(tx, randomBytes, partnerId, 'Acme Industries Private Limited')
    const cardAccountIds: string[] = []
    for (let i = 0; i < accounts; i++) {
      const id = await createCardAccount(tx, randomBytes, {
        partnerId,
        companyId,
        product,
        accountType: product === 'incentive' ? 'GIFT' : 'EMPLOYEE_REWARDS',
        binType: product === 'incentive' ? 'GIFT' : 'REWARD',
        programme: 'Bench',
        denominationPaise: 500_00n,
      })
      cardAccountIds.push(id)
      await fundCardAccount(tx, randomBytes, (await findCardAccount(tx, id))!, paise(10n ** 14n))
    }
    const shared = await issueSharedKey(tx, maker, partnerId)
    const key = createSecretKey(Buffer.from(shared.k.reveal(), 'base64url'))
    const sharedKey: SealKey = { kid: shared.kid, alg: 'A256KW', enc: 'A256GCM', key }
    return { partnerId, companyId, cardAccountIds, sharedKey, client }
  })
  const { client, ...rest } = made
  const answer = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.clientId,
      client_secret: client.clientSecret.reveal(),
    }),
  })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!
  return { ...rest, headers: { authorization: `Bearer ${token}`, partnerid: rest.partnerId, cookie } }
}

/** Resident memory of a process in MB, as Linux counts it; undefined elsewhere. */
export async function residentMb(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kb === undefined ? undefined : Number(kb) / 1_024
}

export const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!
