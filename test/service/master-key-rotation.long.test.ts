import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type ApiResponse, Client, type Json, payloadOf } from '../harness/client.ts'
import { freePort } from '../harness/free-port.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService, tokenOf } from '../harness/service.ts'

// Processes start again and again, and a new data key waits until every process has read it.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const PREVIOUS = MASTER_KEY
const NEW = randomBytes(32).toString('base64')

let service: TestService
let dir: string
beforeAll(async () => {
  service = await openService()
  dir = await mkdtemp(join(tmpdir(), 'svc-master-key-'))
})
afterAll(async () => {
  await service.close()
  await rm(dir, { recursive: true, force: true })
})

const envOf = (masterKey: string) => ({
  DATABASE_URL: service.db.url,
  SVC_MASTER_KEY: masterKey,
  DATA_DIR: dir,
})

async function svc(masterKey: string, ...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await runHere(['admin', ...args, '--json'], envOf(masterKey))
  expect(code, `svc ${args.join(' ')}: ${stderr}`).toBe(0)
  return JSON.parse(stdout)
}

/** A process of a fleet behind one address. */
const startOne = async (masterKey: string) =>
  startProcess({ ...envOf(masterKey), PUBLIC_URL: 'http://svc.test', PORT: `${await freePort()}` })

const wrappers = () =>
  asSuperuser(service.db.database, async (admin) => {
    const { rows } = await admin.query('select distinct wrapped_by from keyring')
    return rows.map(({ wrapped_by: by }) => by)
  })

test('the master key is replaced by the steps of the guide while callers work: none of their requests fails', async () => {
  const merchant = await service.newMerchant()
  const fleet: ServiceProcess[] = []
  const failed: ApiResponse[] = []
  let served = 0
  /** A token from one process, used at another; a code created there and read by the first. */
  const work = async () => {
    const [first, second] = await Promise.all(fleet.map(({ baseUrl }) => Client.open(baseUrl)))
    for (const [issuer, user] of [
      [first!, second!],
      [second!, first!],
    ] as const) {
      const authorization = `Bearer ${await tokenOf(issuer, merchant.apiKey)}`
      const created = await user.with({ authorization }).post('/api/v0/qr-code', { qrName: 'Till' })
      const read = await issuer.with({ authorization }).get(`/api/v0/qr-code/${payloadOf(created).qrCodeId}`)
      for (const response of [created, read]) if (response.status !== 200) failed.push(response)
      served += 2
    }
  }
  /** Replaces one process after the other, with work beside each of them. */
  const restart = async (masterKey: string) => {
    for (const at of [0, 1]) {
      const successor = await startOne(masterKey)
      const [previous] = fleet.splice(at, 1, successor)
      await previous?.end('SIGTERM')
      if (fleet.length === 2) await work()
    }
  }
  await restart(PREVIOUS)
  await restart(`${PREVIOUS},${NEW}`)
  // The processes differ in what they wrap with: a data key that one adds serves both.
  const [replaced] = fleet.splice(0, 1, await startOne(`${NEW},${PREVIOUS}`))
  await replaced!.end('SIGTERM')
  const { keyId } = await svc(`${NEW},${PREVIOUS}`, 'keys', 'rotate', 'token_signing')
  expect(await wrappers()).toHaveLength(2)
  await work()
  await restart(`${NEW},${PREVIOUS}`)

  const first = await svc(`${NEW},${PREVIOUS}`, 'keys', 'rewrap')
  expect(first.rewrapped).toBeGreaterThan(10)
  expect(await wrappers()).toEqual([first.masterKey])
  expect(await svc(`${NEW},${PREVIOUS}`, 'keys', 'rewrap')).toEqual({ ...first, rewrapped: 0 })
  await work()
  await restart(NEW)
  const list: Json[] = await svc(NEW, 'keys', 'list')
  expect(list.find((key) => key.keyId === keyId)).toBeDefined()
  expect(failed).toEqual([])
  expect(served).toBeGreaterThan(20)
  for (const process of fleet) await process.end('SIGTERM')
})

test('data that another master key wrapped cannot be read once that key is gone, and the message names the key', async () => {
  const { code, stderr } = await runHere(['admin', 'keys', 'list'], envOf(randomBytes(32).toString('base64')))
  expect(code).toBe(1)
  expect(stderr).toMatch(/wrapped by master key mk_[0-9a-f]{12}/)
})
