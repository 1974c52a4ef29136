import { Challenges } from '@svc/console-api/identity/challenges'
import { isCopied } from '@svc/console-api/identity/passkey-store'
import { relyingPartyOf } from '@svc/console-api/identity/passkeys'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Authenticator, type Spoiled } from '../harness/authenticator.ts'
import type { Json } from '../harness/client.ts'
import { Browser, newOperator, signedIn } from '../harness/console.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const PUBLIC_URL = 'https://console.example.com'
// Each failure is audited by itself; the clock leaps.
const env = { PUBLIC_URL, SIGN_IN_FAILURES_PER_MINUTE: '1000', CONSOLE_STEP_UP_MINUTES: '0' }
let service: TestService
let other: TestService
let admin: Browser
beforeAll(async () => {
  service = await openService({ env })
  other = await openService({ db: service.db, env })
  admin = await signedIn(service, 'admin')
})
afterAll(async () => {
  await other.close()
  await service.close()
})

const optionsFor = async (browser: Browser, path: string): Promise<Json> => {
  const { json, status } = await browser.post(path)
  expect(status).toBe(200)
  return json.options
}

/** An operator who is signed in and has a passkey. */
async function withPasskey() {
  const operator = await newOperator(service, 'operator')
  const browser = new Browser(service)
  await browser.signIn(operator.name)
  const authenticator = new Authenticator(PUBLIC_URL)
  const credential = authenticator.create(await optionsFor(browser, '/session/passkeys/options'))
  const { json, status } = await browser.post('/session/passkeys', { name: 'Laptop', credential })
  expect([status, json.name]).toEqual([200, 'Laptop'])
  return { ...operator, browser, authenticator, passkeyId: String(json.passkeyId) }
}

/** Signs in with a passkey and nothing else, from a browser that was never here. */
async function signInWith(authenticator: Authenticator, spoiled: Spoiled = {}, at = service) {
  const browser = new Browser(at)
  const credential = authenticator.use(await optionsFor(browser, '/session/passkey/options'), spoiled)
  return { browser, credential, ...(await browser.post('/session/passkey', { credential })) }
}

test('a passkey alone signs in, in any process, and the account shows when it was used', async () => {
  const { name, operatorId, authenticator, browser, passkeyId } = await withPasskey()
  for (const at of [service, other]) {
    const { json, status, browser: fresh } = await signInWith(authenticator, {}, at)
    expect([status, json.operator]).toMatchObject([200, { name, role: 'operator' }])
    expect((await fresh.get('/session')).json.operator.name).toBe(name)
  }
  const [signedInBy] = (await admin.get(`/audit?action=operator.signed_in&target=${operatorId}`)).json.data
  expect(signedInBy.details.factors).toBe('passkey')
  const [listed] = (await browser.get('/session/passkeys')).json.data
  expect(listed).toMatchObject({ passkeyId, name: 'Laptop', lastUsedOn: expect.any(String) })
})

test('too many started sign-ins lock out no operator: the oldest of all are dropped', async () => {
  const { clock: real, database, keyring, random } = service.app.services
  let passedMs = 0
  const clock = { ...real, now: () => real.now() + passedMs++ }
  const challenges = new Challenges({ clock, keyring, random }, 3)
  const used = await database.operate(async (tx) => {
    const issued: string[] = []
    while (issued.length < 6) issued.push(await challenges.issue(tx, 'passkey_sign_in'))
    return Promise.all(issued.map((challenge) => challenges.use(tx, 'passkey_sign_in', challenge)))
  })
  // `null`: issued to nobody in particular; `undefined`: given way.
  expect(used.slice(0, 2)).toEqual([undefined, undefined])
  expect(used.at(-1)).toBe(null)
})

test('a challenge is valid once, for ten minutes, and only for what it was issued for', async () => {
  const { authenticator, browser } = await withPasskey()
  const { credential, status } = await signInWith(authenticator)
  expect(status).toBe(200)
  const replay = await new Browser(other).post('/session/passkey', { credential })
  expect([replay.status, replay.error]).toEqual([401, 'passkey_refused'])
  const { database } = service.app.services
  const challenges = new Challenges(service.app.services)
  const ofOidc = await database.operate((tx) => challenges.issue(tx, 'oidc'))
  expect((await signInWith(authenticator, { challenge: ofOidc })).error).toBe('passkey_refused')
  const anonymous = new Browser(service)
  const late = await optionsFor(anonymous, '/session/passkey/options')
  const forRegistration = await optionsFor(browser, '/session/passkeys/options')
  service.clock.advance(600_000)
  const tooLate = await anonymous.post('/session/passkey', { credential: authenticator.use(late as never) })
  expect(tooLate.error).toBe('passkey_refused')
  const crossed = authenticator.use({ ...late, challenge: forRegistration.challenge } as never)
  expect((await anonymous.post('/session/passkey', { credential: crossed })).error).toBe('passkey_refused')
})

test('a response belongs to the browser that asked: from another one, or without its cookie, it is rejected', async () => {
  const { name, authenticator, browser } = await withPasskey()
  const mine = new Browser(service)
  const credential = authenticator.use((await optionsFor(mine, '/session/passkey/options')) as never)
  const other = new Browser(service)
  await optionsFor(other, '/session/passkey/options')
  for (const elsewhere of [other, new Browser(service)])
    expect((await elsewhere.post('/session/passkey', { credential })).error).toBe('passkey_refused')
  expect((await mine.post('/session/passkey', { credential })).json.operator.name).toBe(name)
  // A registration belongs to the session that began it.
  const options = (await optionsFor(browser, '/session/passkeys/options')) as never
  const again = new Browser(service)
  again.cookie = mine.cookie
  const created = new Authenticator(PUBLIC_URL).create(options)
  const registered = await again.post('/session/passkeys', { name: 'Key', credential: created })
  expect(registered.error).toBe('passkey_refused')
})

test('a response for another origin or address, of no recognized person, of another kind or key is rejected', async () => {
  const { authenticator } = await withPasskey()
  for (const spoiled of [
    { origin: 'https://console.example.com.evil.example' },
    { rpId: 'evil.example' },
    { verified: false },
    { type: 'webauthn.create' },
    { challenge: 'A'.repeat(43) },
    { userHandle: Buffer.from('opr_another').toString('base64url') },
  ]) {
    const { error } = await signInWith(authenticator, spoiled)
    expect([spoiled, error]).toEqual([spoiled, 'passkey_refused'])
  }
  const outsider = new Authenticator(PUBLIC_URL)
  const { browser } = await withPasskey()
  outsider.create((await optionsFor(browser, '/session/passkeys/options')) as never)
  expect((await signInWith(outsider)).error).toBe('passkey_refused')
  expect((await signInWith(authenticator)).status).toBe(200)
})

test('a counter that does not rise is rejected and audited, and one that never counts is accepted', async () => {
  const { name, authenticator } = await withPasskey()
  authenticator.counter = 40
  expect((await signInWith(authenticator)).status).toBe(200)
  for (const counter of [40, 7]) {
    authenticator.counter = counter - 1
    expect((await signInWith(authenticator)).error).toBe('passkey_refused')
  }
  const [failed] = (await admin.get('/audit?action=operator.sign_in_failed')).json.data
  expect(failed.details).toMatchObject({ reason: 'passkey_copied', name })
  authenticator.counter = 41
  expect((await signInWith(authenticator)).status).toBe(200)
  expect([isCopied(0, 0), isCopied(0, 1), isCopied(5, 6), isCopied(5, 5), isCopied(5, 0)]).toEqual([
    false,
    false,
    false,
    true,
    true,
  ])
  await expect(
    asSuperuser(service.db.database, (db) =>
      db.query('update operator_passkeys set sign_count = sign_count where sign_count > 0'),
    ),
  ).rejects.toThrow('the counter of a passkey rises')
})

test('a registration is valid for the operator who began it, needs a recognized person, and the same passkey is not registered twice', async () => {
  const [one, two] = [await withPasskey(), await withPasskey()]
  const register = (browser: Browser, credential: unknown) =>
    browser.post('/session/passkeys', { name: 'Key', credential })
  const options = (await optionsFor(one.browser, '/session/passkeys/options')) as never
  expect((await register(two.browser, one.authenticator.create(options))).error).toBe('passkey_refused')
  for (const spoiled of [{ verified: false }, { origin: 'https://evil.example' }, { rpId: 'evil.example' }]) {
    const next = (await optionsFor(one.browser, '/session/passkeys/options')) as never
    expect((await register(one.browser, one.authenticator.create(next, spoiled))).error).toBe(
      'passkey_refused',
    )
  }
  const next = await optionsFor(one.browser, '/session/passkeys/options')
  expect(next.excludeCredentials).toHaveLength(1)
  expect(next.authenticatorSelection).toMatchObject({ residentKey: 'required', userVerification: 'required' })
})

test('a removed passkey no longer signs in, and only an administrator removes those of others', async () => {
  const [one, two] = [await withPasskey(), await withPasskey()]
  const remove = (browser: Browser, passkeyId: string) =>
    browser.send('DELETE', `/session/passkeys/${passkeyId}`)
  expect((await remove(two.browser, one.passkeyId)).error).toBe('passkey_not_found')
  expect((await remove(one.browser, one.passkeyId)).json).toEqual({ removed: true })
  expect((await signInWith(one.authenticator)).error).toBe('passkey_refused')
  const removed = await admin.send('DELETE', `/operators/${two.operatorId}/passkeys`)
  expect(removed.json).toEqual({ removed: 1 })
  expect((await two.browser.get('/session')).error).toBe('not_signed_in')
  expect((await signInWith(two.authenticator)).error).toBe('passkey_refused')
  const acts = (await admin.get(`/audit?target=${two.operatorId}`)).json.data.map(
    ({ action }: Json) => action,
  )
  expect(acts).toContain('operator.passkeys_removed')
  const [deleted] = (await admin.get(`/audit?target=${two.passkeyId}`)).json.data
  expect(deleted.action).toBe('passkey.deleted')
})

test('the passkey of a disabled operator is rejected', async () => {
  const { operatorId, authenticator } = await withPasskey()
  await admin.send('PATCH', `/operators/${operatorId}`, { disabled: true })
  expect((await signInWith(authenticator)).error).toBe('passkey_refused')
  await admin.send('PATCH', `/operators/${operatorId}`, { disabled: false })
  expect((await signInWith(authenticator)).status).toBe(200)
})

test('passkeys are offered where browsers allow them: for a host name, over TLS or on this machine', async () => {
  expect((await admin.get('/about')).json.passkeys).toBe(true)
  for (const [url, id] of [
    ['https://pay.example.com/svc', 'pay.example.com'],
    ['http://localhost:8080', 'localhost'],
    ['http://pay.example.com', undefined],
    ['http://127.0.0.1:8080', undefined],
    ['https://10.0.0.5', undefined],
    ['https://[::1]', undefined],
  ] as const)
    expect([url, relyingPartyOf(url)?.id]).toEqual([url, id])
})
