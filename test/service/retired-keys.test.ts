import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nameOf } from '@svc/console-api/identity/second-factor'
import { Secret } from '@svc/kernel/secret'
import { Keyring } from '@svc/platform/crypto/keyring'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD } from '../harness/console.ts'
import { codeOf, forgetUsedCodes } from '../harness/one-time-codes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const PURPOSE = 'operator_totp'
const OTHER_MASTER_KEY = Buffer.alloc(32, 9).toString('base64')

let service: TestService
let dataDir: string
beforeAll(async () => {
  service = await openService()
  dataDir = await mkdtemp(join(tmpdir(), 'svc-cli-'))
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
})

const sql = <T = Json>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])
const svc = async (...args: string[]): Promise<Json> => {
  const { stdout, stderr } = await runHere([...args, '--json'], {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: dataDir,
    COMMAND_TIMEOUT_MS: '1000',
  })
  expect(stdout, stderr).not.toBe('')
  return JSON.parse(stdout)
}
const keyOf = async (keyId: string): Promise<Json> =>
  (await svc('admin', 'keys', 'list')).find((key: Json) => key.keyId === keyId)
const finding = async (): Promise<Json> =>
  (await svc('admin', 'doctor')).findings.find(({ check }: Json) => check === 'retired_keys')
const masterKeys = (...keys: string[]) => new MasterKeys(keys.map((key) => new Secret(key)))
/** Ends the wait of a rotation: the new key takes effect at once. */
const addKey = () =>
  service.app.services.database.write([], (tx) =>
    service.app.services.keyring.add(tx, PURPOSE, 0, randomBytes(32)),
  )

test('a row encrypted by a cut-off process with a key retired by then stays readable; the doctor fails until the next rotation re-encrypts it', async () => {
  const { database, keyring } = service.app.services
  const operator = await newOperator(service, 'operator')
  const browser = new Browser(service)
  await browser.signIn(operator.name)
  const { secret } = (await browser.post('/session/second-factor')).json
  await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })
  const cutOff = await Keyring.open(database, masterKeys(MASTER_KEY))
  const previous = cutOff.newest(PURPOSE).keyId
  // A code counts once.
  const signIn = async (): Promise<number> => {
    await forgetUsedCodes(service.db.database)
    const body = { name: operator.name, password: PASSWORD, code: codeOf(secret) }
    return (await new Browser(service).post('/session', body)).status
  }

  await addKey()
  expect(await svc('admin', 'keys', 'rotate', PURPOSE)).toMatchObject({ reencrypted: 1, retired: previous })
  expect(await finding()).toMatchObject({ status: 'PASS' })
  await sql(`update keyring set retired_at = now() - interval '400 days' where key_id = $1`, [previous])
  await keyring.refresh()
  const [row] = await sql<{ operator_id: string; secret_encrypted: Buffer }>(
    'select operator_id, secret_encrypted from operator_totp',
  )
  const name = nameOf([row!.operator_id])
  const late = cutOff.encrypt(PURPOSE, keyring.open(PURPOSE, row!.secret_encrypted, name), name)
  expect(late.toString('latin1')).toContain(previous)
  await sql('update operator_totp set secret_encrypted = $1', [late])

  expect(await signIn()).toBe(200)
  expect(await keyOf(previous)).toMatchObject({ state: 'retired', rows: 1 })
  expect(await finding()).toMatchObject({
    status: 'FAIL',
    detail: expect.stringContaining('1 rows are encrypted with a retired operator_totp key'),
  })
  await addKey()
  expect(await svc('admin', 'keys', 'rotate', PURPOSE)).toMatchObject({ reencrypted: 1 })
  expect(await keyOf(previous)).toMatchObject({ state: 'retired', rows: 0 })
  expect(await finding()).toMatchObject({ status: 'PASS' })
  await keyring.refresh()
  expect(await signIn()).toBe(200)
}, 120_000)

test('a retired key of a master key that no longer exists does not keep a process from starting', async () => {
  const [other] = await sql<{ wrapped: Buffer }>(`select wrapped from keyring where purpose = 'bulk_row'`)
  await sql(
    `insert into keyring (key_id, purpose, wrapped, wrapped_by, effective_at, retired_at)
     values ('dk_lost', 'bulk_row', $1, $2, now() - interval '2 years', now() - interval '1 year')`,
    [other!.wrapped, masterKeys(OTHER_MASTER_KEY).currentId],
  )
  const opened = await Keyring.open(service.app.services.database, masterKeys(MASTER_KEY))
  expect(opened.all('bulk_row').map(({ keyId }) => keyId)).not.toContain('dk_lost')
})
