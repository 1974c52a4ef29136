import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ENCRYPTED_ROWS } from '@svc/app/encrypted-rows'
import type { Tx } from '@svc/platform/db/database'
import type { Statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, PORTAL_API } from '../harness/console.ts'
import { codeOf } from '../harness/one-time-codes.ts'
import { memberBrowser } from '../harness/portal.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

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

const svc = (...args: string[]) =>
  runHere(args, {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: dataDir,
    COMMAND_TIMEOUT_MS: '1000',
  })

/** Sets up an app with the code of now: its next one is `codeOf(secret, 1)`. */
async function addApp(browser: Browser): Promise<string> {
  const { secret } = (await browser.post('/session/second-factor')).json
  const { status } = await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })
  expect(status).toBe(200)
  return secret
}

const keysOf = async (purpose: string): Promise<Json[]> => {
  const { stdout } = await svc('admin', 'keys', 'list', '--json')
  return JSON.parse(stdout).filter((key: Json) => key.purpose === purpose)
}

test('authenticator codes of operators and members work after the key of their secrets is rotated, retired and gone; before, it cannot be retired', async () => {
  const { keyring, database } = service.app.services
  const operator = await newOperator(service, 'operator')
  const atConsole = new Browser(service)
  await atConsole.signIn(operator.name)
  const atPortal = await memberBrowser(service, (await service.newMerchant()).merchantId, 'admin')
  const people = [
    { api: undefined, name: operator.name, secret: await addApp(atConsole) },
    { api: PORTAL_API, name: atPortal.memberName, secret: await addApp(atPortal) },
  ] as const
  const [previous] = await keysOf('operator_totp')
  expect(previous).toMatchObject({ state: 'encrypts', rows: 2 })
  await database.write([], (tx) => keyring.add(tx, 'operator_totp', 0, randomBytes(32)))

  const early = await svc('admin', 'keys', 'retire', previous.keyId)
  expect(early.code).toBe(1)
  expect(early.stderr).toContain(`2 rows are still encrypted with ${previous.keyId}`)

  const rotated = await svc('admin', 'keys', 'rotate', 'operator_totp', '--json')
  expect(JSON.parse(rotated.stdout), rotated.stderr).toMatchObject({
    reencrypted: 2,
    retired: previous.keyId,
    kept: '',
  })
  await asSuperuser(service.db.database, (admin) =>
    admin.query('delete from keyring where key_id = $1', [previous.keyId]),
  )
  await keyring.refresh()
  for (const { api, name, secret } of people) {
    const signedIn = await new Browser(service, api).post('/session', {
      name,
      password: PASSWORD,
      code: codeOf(secret, 1),
    })
    expect(signedIn.status, signedIn.text).toBe(200)
  }
})

/** Bytes that no data key encrypts: digests and hashes, signed messages and files of banks as they came, public keys, and data keys themselves. */
const NOT_ENCRYPTED =
  /[._](?:digest|hash|notice|body)$|^members\.waiting_link$|^feed_(?:tiles\.hashes|commitments\.salt)$|^(?:operator|member)_passkeys\.(?:credential_id|public_key)$|^keyring\.wrapped$|^bank_files\.content$/

test('every column that data keys encrypt is counted when a key is rotated or retired', async () => {
  const texts: string[] = []
  const counting = {
    query: async ({ text }: Statement) => {
      texts.push(text)
      return [{ rows: 0n }]
    },
  } as unknown as Tx
  for (const rows of ENCRYPTED_ROWS) await rows.count(counting, [Buffer.from('dk_\0')])
  const columns = await asSuperuser(
    service.db.database,
    async (admin) =>
      (
        await admin.query<{ table: string; column: string }>(
          `select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
           where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
             and a.atttypid = 'bytea'::regtype and a.attnum > 0 and not a.attisdropped`,
        )
      ).rows,
  )
  const uncounted = columns
    .filter(({ table, column }) => {
      const counts = (text: string) =>
        text.includes(`from ${table}`) && new RegExp(`\\b${column}\\b`).test(text)
      return !texts.some(counts)
    })
    .map(({ table, column }) => `${table}.${column}`)
    .filter((name) => !NOT_ENCRYPTED.test(name))
  // Encrypted together with the response beside them, whose key is counted.
  expect(uncounted).toEqual(['idempotency_keys.response_headers'])
})
