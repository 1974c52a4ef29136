import { createHash } from 'node:crypto'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { atProvider } from '../harness/at-provider.ts'
import type { Json } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { type ForgingProvider, openForgingProvider, unsigned } from '../harness/forging-provider.ts'
import { CLIENT, openIdentityProvider, type TestIdentityProvider } from '../harness/identity-provider.ts'
import { openService, type TestService } from '../harness/service.ts'

let provider: TestIdentityProvider
let forger: ForgingProvider
/** Signs operators in with `oidc-provider`. */
let service: TestService
/** Signs operators in with the provider that forges tokens. */
let deceived: TestService
let admin: Browser

beforeAll(async () => {
  ;[provider, forger] = await Promise.all([
    openIdentityProvider(() => `${service.client.baseUrl}/console/oidc`),
    openForgingProvider(),
  ])
  service = await openService({ env: { ...provider.env, SIGN_IN_FAILURES_PER_MINUTE: '1000' } })
  deceived = await openService({ db: service.db, env: forger.env })
  admin = await signedIn(service, 'admin')
})
afterAll(async () => {
  await deceived.close()
  await service.close()
  await Promise.all([provider.close(), forger.close()])
})
beforeEach(() => {
  provider.refuses = false
  forger.fails = undefined
})

let people = 0
function newPerson(sub = `subject-${people}`) {
  return { sub, email: `Person.${people++}@example.com`, email_verified: true }
}
const nameOf = ({ email }: { email: string }) => email.toLowerCase()

const finish = (browser: Browser, response: string) => browser.post('/session/oidc', { response })

async function signInWith(person: TestIdentityProvider['account'], browser = new Browser(service)) {
  provider.account = person
  const { json, status } = await browser.post('/session/oidc/start')
  expect(status).toBe(200)
  return { browser, ...(await finish(browser, await atProvider(json.url))) }
}

async function invite(name: string, role = 'operator'): Promise<string> {
  return (await admin.post('/operators/invitations', { name, role })).json.invitationId
}

test('an invited person signs in with the provider alone, and by the subject from then on', async () => {
  const person = newPerson()
  await invite(nameOf(person))
  const first = await signInWith(person)
  expect([first.status, first.json.operator]).toMatchObject([200, { name: nameOf(person), role: 'operator' }])
  expect((await first.browser.get('/session')).json.operator.name).toBe(nameOf(person))
  const renamed = await signInWith({ ...person, email: 'married.name@example.com' })
  expect(renamed.json.operator).toEqual(first.json.operator)
  expect((await new Browser(service).signIn(nameOf(person))).error).toBe('wrong_password')
  const signIns = await admin.get(`/audit?action=operator.signed_in&target=${first.json.operator.operatorId}`)
  expect(signIns.json.data[0].details.factors).toBe('oidc')
  const [{ actor, action }] = (
    await admin.get(`/audit?target=${first.json.operator.operatorId}&action=operator_identity.created`)
  ).json.data
  expect([actor, action]).toEqual([`operator ${nameOf(person)}`, 'operator_identity.created'])
})

test('an operator with a password is linked by the name, and can use both', async () => {
  const { name } = await newOperator(service, 'viewer')
  const forged = await openSession({ sub: 'viewer-one', email: name, email_verified: true })
  expect([forged.status, forged.json.operator.name]).toEqual([200, name])
  expect((await new Browser(service).signIn(name)).status).toBe(200)
})

/** Signs in at the service whose provider returns what a test makes. */
async function openSession(
  claims: Record<string, unknown>,
  token?: (claims: Json) => Promise<string> | string,
) {
  const browser = new Browser(deceived)
  const { json } = await browser.post('/session/oidc/start')
  const sent = new URL(json.url).searchParams
  const now = Math.floor(Date.now() / 1_000)
  const whole = {
    iss: forger.issuer,
    aud: CLIENT.id,
    iat: now,
    auth_time: now,
    exp: now + 60,
    nonce: sent.get('nonce'),
    ...claims,
  }
  forger.idToken = await (token ?? ((each) => forger.signed(each)))(whole)
  return { browser, sent, ...(await finish(browser, `code=any&state=${sent.get('state')}`)) }
}

test('unknown people, unverified addresses and disabled operators get no session, and the response states which name has no access', async () => {
  const outsider = await signInWith({ ...newPerson(), email: 'stranger@example.com' })
  expect([outsider.status, outsider.error]).toEqual([403, 'not_an_operator'])
  expect(outsider.text).toContain('stranger@example.com has no access')
  const unverified = newPerson()
  await invite(nameOf(unverified))
  expect((await signInWith({ ...unverified, email_verified: false })).error).toBe('not_an_operator')
  const { json } = await signInWith(unverified)
  await admin.send('PATCH', `/operators/${json.operator.operatorId}`, { disabled: true })
  expect((await signInWith(unverified)).error).toBe('not_an_operator')
  const failed = (await admin.get('/audit?action=operator.sign_in_failed')).json.data
  expect(failed[0].details).toMatchObject({ reason: 'disabled', name: nameOf(unverified) })
})

test('another person with the address of an operator is rejected until an administrator unlinks it', async () => {
  const person = newPerson()
  await invite(nameOf(person))
  const { browser, json } = await signInWith(person)
  const successor = { ...person, sub: 'another subject' }
  expect((await signInWith(successor)).error).toBe('not_an_operator')
  const removed = await admin.send('DELETE', `/operators/${json.operator.operatorId}/identity`)
  expect(removed.json).toEqual({ removed: true })
  expect((await browser.get('/session')).error).toBe('not_signed_in')
  expect((await signInWith(successor)).json.operator).toEqual(json.operator)
  expect((await signInWith(person)).error).toBe('not_an_operator')
})

test('a revoked invitation is not accepted', async () => {
  const person = newPerson()
  await admin.send('DELETE', `/operators/invitations/${await invite(nameOf(person))}`)
  expect((await signInWith(person)).error).toBe('not_an_operator')
})

test('the response of the provider is accepted once, in the browser that began, also through another process', async () => {
  const person = newPerson()
  await invite(nameOf(person))
  provider.account = person
  const [victim, attacker] = [new Browser(service), new Browser(service)]
  const { json } = await attacker.post('/session/oidc/start')
  const response = await atProvider(json.url)
  // Login CSRF: a link with the attacker's own response, opened by another person.
  expect((await finish(victim, response)).error).toBe('single_sign_on_failed')
  await victim.post('/session/oidc/start')
  expect((await finish(victim, response)).error).toBe('single_sign_on_failed')
  const other = await openService({
    db: service.db,
    env: { ...provider.env, PUBLIC_URL: service.client.baseUrl },
  })
  try {
    const elsewhere = new Browser(other)
    elsewhere.cookie = attacker.cookie
    expect((await finish(elsewhere, response)).status).toBe(200)
  } finally {
    await other.close()
  }
  expect((await finish(attacker, response)).error).toBe('single_sign_on_failed')
})

test('a code of another sign-in is rejected, because its code verifier differs', async () => {
  const person = newPerson()
  await invite(nameOf(person))
  provider.account = person
  const [victim, attacker] = [new Browser(service), new Browser(service)]
  const stolen = new URLSearchParams(await atProvider((await victim.post('/session/oidc/start')).json.url))
  const own = new URLSearchParams(await atProvider((await attacker.post('/session/oidc/start')).json.url))
  own.set('code', String(stolen.get('code')))
  expect((await finish(attacker, own.toString())).error).toBe('single_sign_on_failed')
})

test('wrong state, a wrong issuer and a second state parameter are rejected, and use the attempt up', async () => {
  for (const spoil of [
    (query: URLSearchParams) => query.set('state', 'A'.repeat(43)),
    (query: URLSearchParams) => query.delete('state'),
    (query: URLSearchParams) => query.append('state', String(query.get('state'))),
    (query: URLSearchParams) => query.set('iss', 'https://evil.example'),
    (query: URLSearchParams) => query.delete('code'),
  ]) {
    const person = newPerson()
    await invite(nameOf(person))
    provider.account = person
    const browser = new Browser(service)
    const query = await atProvider((await browser.post('/session/oidc/start')).json.url)
    const spoiled = new URLSearchParams(query)
    spoil(spoiled)
    expect((await finish(browser, spoiled.toString())).error).toBe('single_sign_on_failed')
    expect((await finish(browser, query)).error).toBe('single_sign_on_failed')
  }
})

test('a forged id token is rejected: unsigned, of another key, by the client secret, for another client, with a foreign nonce, expired', async () => {
  const { name } = await newOperator(service, 'admin')
  const person = { sub: 'forged', email: name, email_verified: true }
  const byHmac = (claims: Json) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.secret))
  const byOtherKey = async (claims: Json) => {
    const other = await openForgingProvider()
    await other.close()
    return other.signed(claims)
  }
  const broken = async (claims: Json) => (await forger.signed(claims)).replace(/.{8}$/, 'AAAAAAAA')
  for (const [what, claims, token] of [
    ['unsigned', {}, unsigned],
    ['by the client secret', {}, byHmac],
    ['of another key', {}, byOtherKey],
    ['with a broken signature', {}, broken],
    ['for another client', { aud: 'another' }, undefined],
    ['of another issuer', { iss: 'https://evil.example' }, undefined],
    ['with a foreign nonce', { nonce: 'another' }, undefined],
    ['of a sign-in long ago', { auth_time: Math.floor(Date.now() / 1_000) - 3_600 }, undefined],
    ['without the time of the sign-in', { auth_time: undefined }, undefined],
    ['expired', { exp: Math.floor(Date.now() / 1_000) - 3_600 }, undefined],
  ] as const) {
    const { error } = await openSession({ ...person, ...claims }, token)
    expect([what, error]).toEqual([what, 'single_sign_on_failed'])
  }
  expect((await openSession(person)).json.operator.name).toBe(name)
})

test('a sign-in at the provider counts from its own time, also when the provider’s clock is ahead', async () => {
  const { name } = await newOperator(service, 'admin')
  const now = Math.floor(Date.now() / 1_000)
  const person = { sub: 'remembered', email: name, email_verified: true }
  const invited = async (browser: Browser) =>
    (await browser.post('/operators/invitations', { name: `guest.${people++}`, role: 'viewer' })).error
  const remembered = await openSession({ ...person, auth_time: now - 290 })
  expect(await invited(remembered.browser)).toBeUndefined()
  deceived.clock.advance(20_000)
  expect(await invited(remembered.browser)).toBe('step_up_required')
  const ahead = await openSession({ ...person, auth_time: now + 120 })
  expect(await invited(ahead.browser)).toBeUndefined()
  deceived.clock.advance(301_000)
  expect(await invited(ahead.browser)).toBe('step_up_required')
})

test('the request to the provider has PKCE, state, nonce and this console’s own address, whatever the Host header contains', async () => {
  const browser = new Browser(deceived)
  const { json, headers } = await browser.post('/session/oidc/start', undefined, { host: 'evil.example' })
  const sent = new URL(json.url).searchParams
  expect(Object.fromEntries(sent)).toMatchObject({
    response_type: 'code',
    client_id: CLIENT.id,
    redirect_uri: `${deceived.client.baseUrl}/console/oidc`,
    code_challenge_method: 'S256',
    max_age: '300',
    scope: expect.stringContaining('openid'),
  })
  expect(String(headers['set-cookie'])).toMatch(
    /^svc_console_oidc=[\w-]{43}; Max-Age=600; Path=\/console; HttpOnly; SameSite=Strict$/,
  )
  await finish(browser, `code=any&state=${sent.get('state')}`)
  const verifier = String(forger.tokenRequest.get('code_verifier'))
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(sent.get('code_challenge'))
  for (const secret of [verifier, browser.cookie!.split('=')[1]!, CLIENT.secret])
    expect(`${deceived.logged()}${service.logged()}`).not.toContain(secret)
})

test('a rejection by the provider and a failing provider are distinguished, and passwords work throughout', async () => {
  provider.refuses = true
  expect((await signInWith(newPerson())).error).toBe('single_sign_on_failed')
  for (const fails of [500, 200, 0]) {
    forger.fails = fails
    expect((await openSession({ sub: 'any' })).error).toBe('identity_provider_unavailable')
  }
  const env = { ...provider.env, OIDC_ISSUER: 'http://127.0.0.1:9' }
  const alone = await openService({ db: service.db, env })
  try {
    const browser = new Browser(alone)
    const start = await browser.post('/session/oidc/start')
    expect([start.status, start.error]).toEqual([503, 'identity_provider_unavailable'])
    expect((await browser.get('/about')).json).toMatchObject({ singleSignOn: '127.0.0.1:9', passwords: true })
    expect((await browser.signIn((await newOperator(alone, 'viewer')).name)).status).toBe(200)
  } finally {
    await alone.close()
  }
})

test('CONSOLE_PASSWORDS=off rejects passwords, and without OIDC_ISSUER there is no single sign-on', async () => {
  const strict = await openService({ db: service.db, env: { ...forger.env, CONSOLE_PASSWORDS: 'off' } })
  const plain = await openService({ db: service.db })
  try {
    const { name } = await newOperator(strict, 'viewer')
    const browser = new Browser(strict)
    expect((await browser.signIn(name)).error).toBe('passwords_off')
    expect(
      (await browser.post('/invitation/accept', { token: 'A'.repeat(43), password: PASSWORD })).error,
    ).toBe('passwords_off')
    expect((await browser.get('/about')).json).toMatchObject({ passwords: false })
    const without = new Browser(plain)
    for (const call of [without.post('/session/oidc/start'), finish(without, 'code=a&state=b')])
      expect((await call).error).toBe('single_sign_on_off')
  } finally {
    await strict.close()
    await plain.close()
  }
})
