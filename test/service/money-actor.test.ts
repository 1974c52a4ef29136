import { signInGate } from '@svc/cli/sign-in-gate'
import { OPERATOR_PASSKEYS } from '@svc/console-api/identity/passkey-store'
import { statement } from '@svc/platform/db/statement'
import { takeTurn } from '@svc/platform/db/turn'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runHere } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { codeOf } from '../harness/one-time-codes.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let merchantId: string
beforeAll(async () => {
  service = await openService({ background: false })
  merchantId = (await service.newMerchant()).merchantId
})
afterAll(() => service.close())

/** Changes a fee in the name of this operator. */
const as = (name: string, settings: Readonly<Record<string, string>> = {}) =>
  runHere(['admin', 'payout', 'fee', merchantId, '--percent', '1.5'], {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    SVC_OPERATOR: name,
    SVC_OPERATOR_PASSWORD: PASSWORD,
    ...settings,
  })

const failuresOf = async (operatorId: string): Promise<Json[]> =>
  (
    await (
      await signedIn(service, 'viewer')
    ).get(`/audit?action=operator.sign_in_failed&target=${operatorId}`)
  ).json.data

test('the command line requires a second factor where the console does', async () => {
  const strict = { CONSOLE_SECOND_FACTOR: 'money' }
  const { name } = await newOperator(service, 'finance')
  expect((await as(name)).code).toBe(0)
  const refused = await as(name, strict)
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('A password alone is not enough'),
  ])
  const browser = new Browser(service)
  await browser.signIn(name)
  const { secret } = (await browser.post('/session/second-factor')).json
  await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })
  expect((await as(name)).stderr).toContain('Set SVC_OPERATOR_CODE to a code of')
  expect((await as(name, { ...strict, SVC_OPERATOR_CODE: codeOf(secret, 1) })).code).toBe(0)
})

test('on the command line the password alone of an operator with a passkey moves no money', async () => {
  const { name, operatorId } = await newOperator(service, 'finance')
  const { database, random } = service.app.services
  const key = { credentialId: Buffer.from(name), publicKey: Buffer.from('key'), signCount: 0, transports: [] }
  const passkey = { owner: [operatorId], ...key, name: 'Laptop', createdAt: new Date() }
  await database.operate((tx) => OPERATOR_PASSKEYS.insert(tx, random, passkey))
  const { code, stderr } = await as(name)
  expect([code, stderr]).toEqual([1, expect.stringContaining('the command line cannot use passkeys')])
})

test('where passwords are off, the command line moves no money and points to the console', async () => {
  const { name } = await newOperator(service, 'finance')
  const { code, stderr } = await as(name, {
    CONSOLE_PASSWORDS: 'off',
    OIDC_ISSUER: 'https://login.example.com',
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'secret',
  })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/CONSOLE_PASSWORDS is off.*in the console/)])
})

test('wrong passwords and codes on the command line are audited as failed sign-ins', async () => {
  const { name, operatorId } = await newOperator(service, 'finance')
  const wrong = await as(name, { SVC_OPERATOR_PASSWORD: 'not this one, surely' })
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('fit no active operator')])
  const browser = new Browser(service)
  await browser.signIn(name)
  const { secret } = (await browser.post('/session/second-factor')).json
  const code = codeOf(secret)
  await browser.post('/session/second-factor/confirm', { code })
  // A code works once.
  const used = await as(name, { SVC_OPERATOR_CODE: code })
  expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('is not a code of')])
  const details = { address: 'command line', name }
  expect(await failuresOf(operatorId)).toMatchObject([
    { actor: expect.stringMatching(/^cli /), details: { ...details, reason: 'wrong_code' } },
    { actor: expect.stringMatching(/^cli /), details: { ...details, reason: 'wrong_password' } },
  ])
})

test('after too many wrong passwords the next attempts wait a second each, and a correct one is accepted', async () => {
  const { name } = await newOperator(service, 'finance')
  const slow = { SIGN_IN_FAILURES_PER_MINUTE: '2' }
  for (let tries = 0; tries < 2; tries++)
    expect((await as(name, { ...slow, SVC_OPERATOR_PASSWORD: 'not this one, surely' })).code).toBe(1)
  const { config, database } = service.app.services
  const gate = signInGate(
    { config: { ...config, SIGN_IN_FAILURES_PER_MINUTE: 2 }, database },
    'cli asha@host',
  )
  const before = performance.now()
  await Promise.all([gate.enter({ address: '', name }), gate.enter({ address: '', name })])
  expect(performance.now() - before).toBeGreaterThan(2_000)
  expect((await as(name, slow)).code).toBe(0)
})

const WAITERS = statement<{ waiters: number }>(
  'waiters_of_turns',
  `select count(*)::int as waiters from pg_locks
   where locktype = 'advisory' and not granted
     and database = (select oid from pg_database where datname = current_database())`,
)

test('attempts under one operator’s name wait for each other, in all processes', async () => {
  const { name } = await newOperator(service, 'finance')
  const { run } = await service.app.services.database.operate(async (tx) => {
    await takeTurn(tx, `sign-in of ${name}`)
    const run = as(name)
    const waits = async () => expect((await tx.query(WAITERS))[0]!.waiters).toBe(1)
    await vi.waitFor(waits, { timeout: 20_000, interval: 100 })
    return { run }
  })
  expect((await run).code).toBe(0)
})
