import { MEMBERS, OPERATORS } from '@svc/console-api/identity/audience'
import { Challenges } from '@svc/console-api/identity/challenges'
import { isCopied } from '@svc/console-api/identity/passkey-store'
import { relyingPartyOf } from '@svc/console-api/identity/passkeys'
import type { Tx } from '@svc/platform/db/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Authenticator, type Spoiled } from '../harness/authenticator.ts'
import type { Json } from '../harness/client.ts'
import { API, Browser, newOperator, PASSWORD, PORTAL_API, signedIn } from '../harness/console.ts'
import { memberBrowser } from '../harness/portal.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const PUBLIC_URL = 'https://console.example.com'
// Each failure is audited by itself; the clock leaps.
const env = { PUBLIC_URL, SIGN_IN_FAILURES_PER_MINUTE: '1000', CONSOLE_STEP_UP_MINUTES: '0' }
let service: TestService
let other: TestService
/** Of the console, and of the tenant whose members the tests are about. */
let admin: Browser
let manager: Browser
let tenantId: string
beforeAll(async () => {
  service = await openService({ env })
  other = await openService({ db: service.db, env })
  admin = await signedIn(service, 'admin')
  tenantId = (await service.newMerchant()).merchantId
  manager = await memberBrowser(service, tenantId)
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

interface SignedIn {
  readonly browser: Browser
  readonly personId: string
  readonly name: string
}

/** Who signs in, where, and who decides about them. */
const AUDIENCES = [
  {
    who: 'operator',
    audience: OPERATORS,
    api: API,
    platform: <T>(work: (tx: Tx) => Promise<T>): Promise<T> => service.app.services.database.operate(work),
    async signedIn(): Promise<SignedIn> {
      const { name, operatorId: personId } = await newOperator(service, 'operator')
      const browser = new Browser(service)
      await browser.signIn(name)
      return { browser, name, personId }
    },
    disable: (id: string, disabled: boolean) => admin.send('PATCH', `/operators/${id}`, { disabled }),
    removeAll: (id: string) => admin.send('DELETE', `/operators/${id}/passkeys`),
    removed: { removed: true },
    deleted: 'passkey.deleted',
  },
  {
    who: 'member',
    audience: MEMBERS,
    api: PORTAL_API,
    platform: <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
      service.app.services.database.write(['house'], work),
    async signedIn(of = tenantId, role: 'operator' | 'admin' = 'operator'): Promise<SignedIn> {
      const browser = await memberBrowser(service, of, role)
      return { browser, name: browser.memberName, personId: browser.memberId }
    },
    disable: (id: string, disabled: boolean) => manager.send('PATCH', `/members/${id}`, { disabled }),
    removeAll: (id: string) => manager.send('DELETE', `/members/${id}/second-factor`),
    removed: { removed: true },
    deleted: 'member_passkey.deleted',
  },
] as const

/** Adds a passkey to an account. */
async function addPasskey(browser: Browser) {
  const authenticator = new Authenticator(PUBLIC_URL)
  const credential = authenticator.create((await optionsFor(browser, '/session/passkeys/options')) as never)
  const { json, status } = await browser.post('/session/passkeys', { name: 'Laptop', credential })
  expect([status, json.name]).toEqual([200, 'Laptop'])
  return { authenticator, passkeyId: String(json.passkeyId) }
}

for (const { who, audience, api, ...people } of AUDIENCES) {
  const fresh = (at = service) => new Browser(at, api)

  /** A person who is signed in and has a passkey. */
  async function withPasskey() {
    const person = await people.signedIn()
    return { ...person, ...(await addPasskey(person.browser)) }
  }

  /** Signs in with a passkey and nothing else, from a browser that was never here. */
  async function signInWith(authenticator: Authenticator, spoiled: Spoiled = {}, at = service) {
    const browser = fresh(at)
    const credential = authenticator.use(
      (await optionsFor(browser, '/session/passkey/options')) as never,
      spoiled,
    )
    return { browser, credential, ...(await browser.post('/session/passkey', { credential })) }
  }

  test(`${who}: a passkey alone signs in, in any process, and the account shows when it was used`, async () => {
    const { name, personId, authenticator, browser, passkeyId } = await withPasskey()
    for (const at of [service, other]) {
      const { json, status, browser: signedInNow } = await signInWith(authenticator, {}, at)
      expect([status, json[who]]).toMatchObject([200, { name, role: 'operator' }])
      expect((await signedInNow.get('/session')).json[who].name).toBe(name)
    }
    const [signedInBy] = (await admin.get(`/audit?action=${who}.signed_in&target=${personId}`)).json.data
    expect(signedInBy.details.factors).toBe('passkey')
    const [listed] = (await browser.get('/session/passkeys')).json.data
    expect(listed).toMatchObject({ passkeyId, name: 'Laptop', lastUsedOn: expect.any(String) })
  })

  test(`${who}: too many started sign-ins lock no person out: the oldest of all are dropped`, async () => {
    const { clock: real, keyring, random } = service.app.services
    let passedMs = 0
    const clock = { ...real, now: () => real.now() + passedMs++ }
    const challenges = new Challenges({ clock, keyring, random }, audience, 3)
    const used = await people.platform(async (tx: Tx) => {
      const issued: string[] = []
      while (issued.length < 6) issued.push(await challenges.issue(tx, 'passkey_sign_in'))
      return Promise.all(issued.map((challenge) => challenges.use(tx, 'passkey_sign_in', challenge)))
    })
    expect(used.slice(0, 2)).toEqual([false, false])
    expect(used.at(-1)).toBe(true)
  })

  test(`${who}: a challenge is valid once, for ten minutes, and only for what it was issued for`, async () => {
    const { authenticator, browser } = await withPasskey()
    const { credential, status } = await signInWith(authenticator)
    expect(status).toBe(200)
    const replay = await fresh(other).post('/session/passkey', { credential })
    expect([replay.status, replay.error]).toEqual([401, 'passkey_refused'])
    const anonymous = fresh()
    const late = await optionsFor(anonymous, '/session/passkey/options')
    const forRegistration = await optionsFor(browser, '/session/passkeys/options')
    service.clock.advance(600_000)
    const tooLate = await anonymous.post('/session/passkey', { credential: authenticator.use(late as never) })
    expect(tooLate.error).toBe('passkey_refused')
    const crossed = authenticator.use({ ...late, challenge: forRegistration.challenge } as never)
    expect((await anonymous.post('/session/passkey', { credential: crossed })).error).toBe('passkey_refused')
  })

  test(`${who}: a response belongs to the browser that asked: from another one, or without its cookie, it is rejected`, async () => {
    const { name, authenticator, browser } = await withPasskey()
    const mine = fresh()
    const credential = authenticator.use((await optionsFor(mine, '/session/passkey/options')) as never)
    const other = fresh()
    await optionsFor(other, '/session/passkey/options')
    for (const elsewhere of [other, fresh()])
      expect((await elsewhere.post('/session/passkey', { credential })).error).toBe('passkey_refused')
    expect((await mine.post('/session/passkey', { credential })).json[who].name).toBe(name)
    // A registration belongs to the session that began it.
    const options = (await optionsFor(browser, '/session/passkeys/options')) as never
    const again = fresh()
    again.cookie = mine.cookie
    const created = new Authenticator(PUBLIC_URL).create(options)
    const registered = await again.post('/session/passkeys', { name: 'Key', credential: created })
    expect(registered.error).toBe('passkey_refused')
  })

  test(`${who}: a response for another origin or address, of no recognized person, of another kind or key is rejected`, async () => {
    const { authenticator } = await withPasskey()
    for (const spoiled of [
      { origin: 'https://console.example.com.evil.example' },
      { rpId: 'evil.example' },
      { verified: false },
      { type: 'webauthn.create' },
      { challenge: 'A'.repeat(43) },
      {
        userHandle: Buffer.from(who === 'operator' ? 'opr_another' : `${tenantId} mem_another`).toString(
          'base64url',
        ),
      },
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

  test(`${who}: a counter that does not rise is rejected and audited, and one that never counts is accepted`, async () => {
    const { name, authenticator } = await withPasskey()
    authenticator.counter = 40
    expect((await signInWith(authenticator)).status).toBe(200)
    for (const counter of [40, 7]) {
      authenticator.counter = counter - 1
      expect((await signInWith(authenticator)).error).toBe('passkey_refused')
    }
    const [failed] = (await admin.get(`/audit?action=${who}.sign_in_failed`)).json.data
    expect([failed.details.reason, failed.details.name ?? failed.actor]).toEqual([
      'passkey_copied',
      who === 'operator' ? name : `member ${name}`,
    ])
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
        db.query(`update ${who}_passkeys set sign_count = sign_count where sign_count > 0`),
      ),
    ).rejects.toThrow('the counter of a passkey rises')
  })

  test(`${who}: a registration is valid for the person who began it, needs a recognized person, and the same passkey is not registered twice`, async () => {
    const [one, two] = [await withPasskey(), await withPasskey()]
    const register = (browser: Browser, credential: unknown) =>
      browser.post('/session/passkeys', { name: 'Key', credential })
    const options = (await optionsFor(one.browser, '/session/passkeys/options')) as never
    expect((await register(two.browser, one.authenticator.create(options))).error).toBe('passkey_refused')
    for (const spoiled of [
      { verified: false },
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
    ]) {
      const next = (await optionsFor(one.browser, '/session/passkeys/options')) as never
      expect((await register(one.browser, one.authenticator.create(next, spoiled))).error).toBe(
        'passkey_refused',
      )
    }
    const next = await optionsFor(one.browser, '/session/passkeys/options')
    expect(next.excludeCredentials).toHaveLength(1)
    expect(next.authenticatorSelection).toMatchObject({
      residentKey: 'required',
      userVerification: 'required',
    })
  })

  test(`${who}: a removed passkey no longer signs in, and only an administrator removes those of others`, async () => {
    const [one, two] = [await withPasskey(), await withPasskey()]
    const remove = (browser: Browser, passkeyId: string) =>
      browser.send('DELETE', `/session/passkeys/${passkeyId}`)
    expect((await remove(two.browser, one.passkeyId)).error).toBe('passkey_not_found')
    expect((await remove(one.browser, one.passkeyId)).json).toEqual({ removed: true })
    expect((await signInWith(one.authenticator)).error).toBe('passkey_refused')
    expect((await people.removeAll(two.personId)).json).toEqual(people.removed)
    expect((await two.browser.get('/session')).error).toBe('not_signed_in')
    expect((await signInWith(two.authenticator)).error).toBe('passkey_refused')
    const [deleted] = (await admin.get(`/audit?target=${two.passkeyId}`)).json.data
    expect(deleted.action).toBe(people.deleted)
  })

  test(`${who}: the passkey of a disabled person is rejected`, async () => {
    const { personId, authenticator } = await withPasskey()
    await people.disable(personId, true)
    expect((await signInWith(authenticator)).error).toBe('passkey_refused')
    await people.disable(personId, false)
    expect((await signInWith(authenticator)).status).toBe(200)
  })

  test(`${who}: with a passkey the password alone reaches the own account, adds no factor and changes no password, until the passkey is used`, async () => {
    const { authenticator, browser, name, passkeyId } = await withPasskey()
    const password = fresh()
    expect((await password.signIn(name)).json.secondFactorNeeded).toBe(true)
    const elsewhere = who === 'operator' ? '/merchants' : '/members'
    const refused: readonly [string, ReturnType<Browser['send']>][] = [
      ['second_factor_needed', password.get(elsewhere)],
      ['second_factor_needed', password.send('DELETE', `/session/passkeys/${passkeyId}`)],
      ['second_factor_required', password.post('/session/passkeys/options')],
      ['second_factor_required', password.post('/session/second-factor')],
      [
        'second_factor_required',
        password.post('/session/password', { password: PASSWORD, newPassword: 'quiet otters swim north' }),
      ],
      ['second_factor_needed', password.post('/session/step-up', { password: PASSWORD })],
    ]
    for (const [error, request] of refused) expect((await request).error).toBe(error)
    expect((await signInWith(authenticator)).json.secondFactorNeeded).toBe(false)
    // The session that added it has proved it.
    expect((await browser.get(elsewhere)).status).toBe(200)
    expect((await browser.post('/session/second-factor')).status).toBe(200)
  })
}

test('an operator’s passkey opens no portal, a member’s no console and no other tenant, whomever its response names', async () => {
  const theirs = (await service.newMerchant()).merchantId
  const [operator, here, there] = await Promise.all([
    AUDIENCES[0].signedIn(),
    AUDIENCES[1].signedIn(),
    AUDIENCES[1].signedIn(theirs),
  ])
  const keys: (Awaited<ReturnType<typeof addPasskey>> & Pick<SignedIn, 'personId'>)[] = []
  for (const { browser, personId } of [operator, here, there])
    keys.push({ ...(await addPasskey(browser)), personId })
  const attempt = async (
    { authenticator }: (typeof keys)[number],
    api: typeof API | typeof PORTAL_API,
    handle?: string,
  ) => {
    const browser = new Browser(service, api)
    const options = (await optionsFor(browser, '/session/passkey/options')) as never
    const userHandle = handle && Buffer.from(handle).toString('base64url')
    const credential = authenticator.use(options, userHandle === undefined ? {} : { userHandle })
    return (await browser.post('/session/passkey', { credential })).error
  }
  const [opener, mine, other] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]]
  for (const [key, api, handle] of [
    [opener, PORTAL_API],
    [opener, PORTAL_API, `${tenantId} ${mine.personId}`],
    [mine, API],
    [mine, API, opener.personId],
    [mine, PORTAL_API, `${theirs} ${other.personId}`],
    [mine, PORTAL_API, `${theirs} ${mine.personId}`],
    [mine, PORTAL_API, `${tenantId} ${other.personId}`],
    [mine, PORTAL_API, 'house mem_1'],
    [mine, PORTAL_API, ''],
  ] as const)
    expect([handle, await attempt(key, api, handle)]).toEqual([handle, 'passkey_refused'])
  for (const [key, api] of [
    [opener, API],
    [mine, PORTAL_API],
    [other, PORTAL_API],
  ] as const)
    expect(await attempt(key, api)).toBeUndefined()
})

test('a challenge of single sign-on signs no passkey in, and one of the console none of the portal', async () => {
  const operator = await AUDIENCES[0].signedIn()
  const { authenticator } = await addPasskey(operator.browser)
  const challenges = new Challenges(service.app.services, OPERATORS)
  const challenge = await service.app.services.database.operate((tx) => challenges.issue(tx, 'oidc'))
  const browser = new Browser(service)
  const options = (await optionsFor(browser, '/session/passkey/options')) as never
  const credential = authenticator.use(options, { challenge })
  expect((await browser.post('/session/passkey', { credential })).error).toBe('passkey_refused')
  const member = await AUDIENCES[1].signedIn()
  const key = await addPasskey(member.browser)
  const portal = new Browser(service, PORTAL_API)
  portal.cookie = browser.cookie!.replace('svc_console', 'svc_portal')
  const crossed = key.authenticator.use((await optionsFor(browser, '/session/passkey/options')) as never)
  expect((await portal.post('/session/passkey', { credential: crossed })).error).toBe('passkey_refused')
})

test('a link hands over nothing to a member with a passkey, who would not have used it', async () => {
  const person = await AUDIENCES[1].signedIn(tenantId, 'admin')
  await addPasskey(person.browser)
  const renewed = await manager.post(`/members/${person.personId}/link`, {})
  const token = String(renewed.json.link).split('#')[1]
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `insert into handovers (tenant_id, member_id, shared_key, created_at, created_by) values ($1, $2, false, now(), 'operator asha')`,
      [tenantId, person.personId],
    ),
  )
  const opened = await new Browser(service, PORTAL_API).post('/link/password', { token, password: PASSWORD })
  expect(opened.error).toBe('second_factor_needed')
  // Without a second factor it does.
  await AUDIENCES[1].removeAll(person.personId)
  const { json } = await new Browser(service, PORTAL_API).post('/link/password', {
    token,
    password: PASSWORD,
  })
  expect(json.handover).toBeDefined()
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
