import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Authenticator } from '../harness/authenticator.ts'
import { API, Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { codeOf } from '../harness/one-time-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const PUBLIC_URL = 'https://console.example.com'
let service: TestService
let strict: TestService
beforeAll(async () => {
  service = await openService({ env: { PUBLIC_URL } })
  strict = await openService({ db: service.db, env: { PUBLIC_URL, CONSOLE_SECOND_FACTOR: 'money' } })
})
afterAll(async () => {
  await strict.close()
  await service.close()
})

const passwordSession = async (name: string, at = service) => {
  const browser = new Browser(at)
  const { json, status } = await browser.signIn(name)
  expect(status).toBe(200)
  return { browser, secondFactorNeeded: json.secondFactorNeeded as boolean }
}

async function addPasskey(browser: Browser): Promise<Authenticator> {
  const authenticator = new Authenticator(PUBLIC_URL)
  const { options } = (await browser.post('/session/passkeys/options')).json
  const credential = authenticator.create(options)
  expect((await browser.post('/session/passkeys', { name: 'Laptop', credential })).status).toBe(200)
  return authenticator
}

async function addApp(browser: Browser): Promise<string> {
  const { secret } = (await browser.post('/session/second-factor')).json
  const { status } = await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })
  expect(status).toBe(200)
  return secret
}

async function withPasskey(role: 'operator' | 'admin' = 'admin') {
  const operator = await newOperator(service, role)
  const { browser } = await passwordSession(operator.name)
  return { ...operator, browser, authenticator: await addPasskey(browser) }
}

async function usePasskey(browser: Browser, authenticator: Authenticator) {
  const { options } = (await browser.post('/session/passkey/options')).json
  return browser.post('/session/passkey', { credential: authenticator.use(options) })
}

/** Every operation of an operator, with some value in each place of its path. */
const OF_OPERATORS = CONSOLE_OPERATIONS.filter(({ auth }) => auth === 'operator').map((operation) => ({
  ...operation,
  at: operation.path.slice(API.length).replaceAll(/:\w+/g, 'none'),
}))

test('a password-only session of an operator with a passkey reaches only the own account, whatever the settings', async () => {
  const { name, authenticator } = await withPasskey()
  const { browser, secondFactorNeeded } = await passwordSession(name)
  expect(secondFactorNeeded).toBe(true)
  for (const { id, method, at, beforeSecondFactor } of OF_OPERATORS) {
    if (id === 'console.signOut') continue
    const { error } = await browser.send(method, at, method === 'GET' ? undefined : {})
    expect([id, error === 'second_factor_needed']).toEqual([id, !beforeSecondFactor])
  }
  const proved = await usePasskey(browser, authenticator)
  expect([proved.status, proved.json.secondFactorNeeded]).toEqual([200, false])
  expect((await browser.get('/merchants')).status).toBe(200)
})

test('a stolen password adds no factor beside a passkey, changes no password, and does not count for a step-up', async () => {
  const { name, authenticator, browser: own } = await withPasskey()
  const { browser: thief } = await passwordSession(name)
  const foreign = new Authenticator(PUBLIC_URL).create(
    (await own.post('/session/passkeys/options')).json.options,
  )
  for (const [path, body] of [
    ['/session/second-factor', undefined],
    ['/session/second-factor/confirm', { code: '123456' }],
    ['/session/passkeys/options', undefined],
    ['/session/passkeys', { name: 'Key of a thief', credential: foreign }],
    ['/session/password', { password: PASSWORD, newPassword: 'a password of a thief' }],
  ] as const) {
    const { error } = await thief.post(path, body)
    expect([path, error]).toEqual([path, 'second_factor_required'])
  }
  for (const browser of [thief, own])
    expect((await browser.post('/session/step-up', { password: PASSWORD })).error).toBe(
      'second_factor_needed',
    )
  // One who proves the passkey adds others.
  const fresh = new Browser(service)
  await usePasskey(fresh, authenticator)
  await addPasskey(fresh)
  const secret = await addApp(fresh)
  const withCode = { name, password: PASSWORD, code: codeOf(secret, 1) }
  expect((await new Browser(service).post('/session', withCode)).json.secondFactorNeeded).toBe(false)
})

test('an app whose setup began with the password alone is not confirmed once there is a passkey', async () => {
  const { name } = await newOperator(service, 'operator')
  const [{ browser: thief }, { browser: own }] = [await passwordSession(name), await passwordSession(name)]
  const { secret } = (await thief.post('/session/second-factor')).json
  await addPasskey(own)
  const confirmed = await thief.post('/session/second-factor/confirm', { code: codeOf(secret) })
  expect(confirmed.error).toBe('second_factor_required')
  expect((await own.get('/session/second-factor')).json.isOn).toBe(false)
})

test('the first factor is set up with the password, and its session continues at once where one is required', async () => {
  for (const add of [addPasskey, addApp]) {
    const { name } = await newOperator(strict, 'admin')
    const { browser, secondFactorNeeded } = await passwordSession(name, strict)
    expect([secondFactorNeeded, (await browser.get('/merchants')).error]).toEqual([
      true,
      'second_factor_needed',
    ])
    await add(browser)
    expect((await browser.get('/session')).json.secondFactorNeeded).toBe(false)
    expect((await browser.get('/merchants')).status).toBe(200)
  }
})

test('password-only sessions are no longer enough when a second factor is set up, until it is verified', async () => {
  const { name } = await newOperator(service, 'operator')
  const { browser: before } = await passwordSession(name)
  const secret = await addApp((await passwordSession(name)).browser)
  expect((await before.get('/merchants')).error).toBe('second_factor_needed')
  const proof = { password: PASSWORD, code: codeOf(secret, 1) }
  expect((await before.post('/session/step-up', proof)).json.secondFactorNeeded).toBe(false)
  expect((await before.get('/merchants')).status).toBe(200)
})

test('registering a passkey does not make the sign-in a recent one', async () => {
  const { operatorId, browser } = await withPasskey()
  const age = (minutes: number) =>
    asSuperuser(service.db.database, (admin) =>
      admin.query(
        `update operator_sessions set authenticated_at = authenticated_at - $2 * interval '1 minute' where operator_id = $1`,
        [operatorId, minutes],
      ),
    )
  await age(4)
  await addPasskey(browser)
  await age(2)
  expect((await browser.post('/session/second-factor')).error).toBe('step_up_required')
})

test('after an administrator has removed the passkeys the password is enough, and sets up the next factor', async () => {
  const { name, operatorId } = await withPasskey('operator')
  expect((await passwordSession(name)).secondFactorNeeded).toBe(true)
  const admin = await signedIn(service, 'admin')
  expect((await admin.send('DELETE', `/operators/${operatorId}/passkeys`)).json).toEqual({ removed: true })
  const { browser, secondFactorNeeded } = await passwordSession(name)
  expect([secondFactorNeeded, (await browser.get('/merchants')).status]).toEqual([false, 200])
  await addPasskey(browser)
})
