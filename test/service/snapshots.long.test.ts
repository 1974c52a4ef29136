import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { Client, type Json, payloadOf } from '../harness/client.ts'
import { startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase, tokenOf } from '../harness/service.ts'

test('a snapshot is loaded and the sandbox reset while the service runs: it keeps working, and nothing from before is accepted', async () => {
  const db = await newDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-snapshots-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const env = { DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: dataDir }
  const process = await startProcess(env)
  const client = await Client.open(process.baseUrl)
  const sandbox = async (): Promise<Json> => JSON.parse(await readFile(join(dataDir, 'sandbox.json'), 'utf8'))
  const login = async () =>
    client.with({ authorization: `Bearer ${await tokenOf(client, (await sandbox()).merchant.apiKey)}` })
  const run = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await runHere(['sandbox', ...args, '--json'], env)
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const make = (caller: Client) =>
    caller.post('/api/v0/qr-code', { referenceNumber: 'same' }, { 'idempotency-key': 'k' })

  const first = await login()
  await run('snapshot', 'save', 'one')
  const made = payloadOf(await make(first))
  expect(await run('snapshot', 'load', 'one')).toMatchObject({ service: 'runs on it' })
  expect((await make(first)).status).toBe(401)
  const second = await login()
  expect((await second.get(`/api/v0/qr-code/${made.qrCodeId}`)).error).toBe('qr_code_not_found')
  // The stored answer is gone with its code.
  const anew = payloadOf(await make(second))
  expect(anew.qrCodeId).not.toBe(made.qrCodeId)
  const feed = async (caller: Client) => payloadOf(await caller.get('/api/v0/events')).data
  for (let events = await feed(second); ; events = await feed(second)) {
    if (!events.some(({ data }: Json) => data.qrCodeId === anew.qrCodeId)) continue
    expect(events.map(({ sequence }: Json) => sequence)).toEqual(events.map((_: Json, i: number) => i + 1))
    expect(events.some(({ data }: Json) => data.qrCodeId === made.qrCodeId)).toBe(false)
    break
  }
  const previousKey = (await sandbox()).merchant.apiKey
  expect(await run('reset')).toMatchObject({ demoTenants: 'made again' })
  expect((await second.get('/api/v0/events')).status).toBe(401)
  expect((await client.post('/api/v0/merchant/token', undefined, { 'api-key': previousKey })).status).toBe(
    401,
  )
  payloadOf(await make(await login()))
  expect((await run('snapshot', 'list')).map(({ name }: Json) => name)).toEqual(['one'])
  expect((await process.end('SIGTERM')).code).toBe(0)

  const live = await runHere(['sandbox', 'reset'], { ...env, SVC_MODE: 'live' })
  expect(live.stderr).toContain('sandbox only')
}, 240_000)
