import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { type Permission, permits, ROLES, rolesWith } from '@svc/console-api/identity/permissions'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { API, Browser, newOperator, OWN, PASSWORD, signedIn } from '../harness/console.ts'
import { asPartner, newPartner, partnerToken } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService, tokenOf } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService({ env: { SIGN_IN_FAILURES_PER_MINUTE: '1000' } })
})
afterAll(() => service.close())

const PROXY_HEADERS =
  'forwarded via x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip x-client-ip x-original-forwarded-for true-client-ip cf-connecting-ip cf-ray x-envoy-external-address x-amzn-trace-id cdn-loop fly-client-ip fastly-client-ip'.split(
    ' ',
  )

const pathOf = (path: string) => path.slice(API.length).replace(/:\w+/g, 'none_0')
const OPERATORS_OWN = CONSOLE_OPERATIONS.filter(({ auth }) => auth === 'operator')

test('every operation requires a session, and every role is rejected where it has no permission', async () => {
  const browsers = await Promise.all(ROLES.map((role) => signedIn(service, role)))
  const outsider = new Browser(service)
  for (const { id, method, path, permission } of OPERATORS_OWN) {
    const nobody = await outsider.send(method, pathOf(path))
    expect([id, nobody.status, nobody.error]).toEqual([id, 401, 'not_signed_in'])
    for (const [i, browser] of browsers.entries()) {
      // These would end the session that the rest of the matrix needs.
      if (id === 'console.signOut') continue
      const needed = permission as Permission
      const allowed = permits(ROLES[i]!, needed)
      // Of those who may, the least and the highest.
      if (allowed && ROLES[i] !== 'admin' && ROLES[i] !== rolesWith(needed)[0]) continue
      const { status, error } = await browser.send(method, pathOf(path))
      if (allowed) expect([401, 403], `${id} as ${ROLES[i]}`).not.toContain(status)
      else expect([id, status, error]).toEqual([id, 403, 'role_too_low'])
    }
  }
})

test('a read-only role changes nothing, and only administrators manage operators', () => {
  const ofOneself = new Set([
    'console.signOut',
    'console.changeOwnPassword',
    'console.startPasskey',
    'console.registerPasskey',
    'console.removePasskey',
    'console.endSession',
    'console.endOtherSessions',
    'console.startSecondFactor',
    'console.confirmSecondFactor',
    'console.renewRecoveryCodes',
    'console.removeOwnSecondFactor',
    'console.stepUp',
    'console.tryAllocation',
    'console.backtestSpendRules',
  ])
  for (const { id, method, path, permission } of OPERATORS_OWN) {
    if (method !== 'GET' && !ofOneself.has(id)) expect([id, permission]).not.toEqual([id, 'view'])
    if (path.startsWith(`${API}/operators`)) expect([id, permission]).toEqual([id, 'administer'])
  }
  expect(ROLES.filter((role) => permits(role, 'administer'))).toEqual(['admin'])
  const open = CONSOLE_OPERATIONS.filter(({ auth }) => auth !== 'operator').map(({ id }) => id)
  expect(open.sort()).toEqual([
    'console.acceptInvitation',
    'console.finishSingleSignOn',
    'console.showAbout',
    'console.showInvitation',
    'console.signIn',
    'console.signInToSandbox',
    'console.signInWithPasskey',
    'console.startPasskeySignIn',
    'console.startSingleSignOn',
  ])
})

test('tokens of merchants and partners are not accepted here, and a session is not accepted by the API', async () => {
  const merchant = await service.newMerchant()
  const partner = await newPartner(service)
  const tokens = [
    await tokenOf(service.client, merchant.apiKey),
    (await partnerToken(service.client, partner)).json.access_token,
  ]
  const browser = new Browser(service)
  for (const { id, method, path } of OPERATORS_OWN)
    for (const token of tokens) {
      const cookie = `svc_console=${String(token).slice(0, 43)}`
      for (const headers of [{ authorization: `Bearer ${token}` }, { cookie }]) {
        const { status, error } = await browser.send(method, pathOf(path), undefined, { ...OWN, ...headers })
        expect([id, status, error]).toEqual([id, 401, 'not_signed_in'])
      }
    }
  const { cookie } = await signedIn(service, 'admin')
  const value = cookie!.split('=')[1]!
  for (const { id, auth, method, path, accepts } of OPERATIONS) {
    if (['none', 'rail', 'bankRail', 'cardRail'].includes(auth)) continue
    const type = accepts?.[0] && { 'content-type': accepts[0] }
    for (const headers of [{ cookie: cookie! }, { cookie: cookie!, authorization: `Bearer ${value}` }]) {
      const response = await service.client.send(method, path.replace(/:\w+/g, 'x'), undefined, {
        ...headers,
        ...type,
      })
      expect([id, response.status, response.error]).toEqual([id, 401, 'invalid_token'])
    }
  }
  await asPartner(service.client, partner)
})

test('a request that another site’s page makes a browser send is rejected, on every operation', async () => {
  const browser = await signedIn(service, 'admin')
  const foreign = [
    {},
    { ...OWN, origin: 'https://evil.example' },
    { ...OWN, origin: 'null' },
    { ...OWN, 'sec-fetch-site': 'cross-site' },
    { ...OWN, 'sec-fetch-site': 'same-site' },
  ]
  for (const { id, method, path } of CONSOLE_OPERATIONS)
    for (const headers of foreign) {
      if (method === 'GET' && !('sec-fetch-site' in headers)) continue
      const { status, error } = await browser.send(method, pathOf(path), undefined, headers)
      expect([id, headers, status, error]).toEqual([id, headers, 403, 'cross_site_request'])
    }
  const own = { ...OWN, origin: service.client.baseUrl, 'sec-fetch-site': 'same-origin' }
  expect((await browser.send('POST', '/audit/verification', undefined, own)).status).toBe(200)
})

test('signing in creates a new session, whatever the browser sent, and ends the previous one', async () => {
  const { name } = await newOperator(service, 'viewer')
  const planted = 'A'.repeat(43)
  const victim = new Browser(service)
  victim.cookie = `svc_console=${planted}`
  const response = await victim.signIn(name)
  // The second one names the device.
  expect([response.headers['set-cookie']].flat()[0]).toMatch(
    /^svc_console=[\w-]{43}; Max-Age=\d+; Path=\/console; HttpOnly; SameSite=Strict$/,
  )
  expect(victim.cookie).not.toContain(planted)
  const first = victim.cookie
  await victim.signIn(name)
  expect(victim.cookie).not.toBe(first)
  const attacker = new Browser(service)
  for (const cookie of [`svc_console=${planted}`, first!]) {
    attacker.cookie = cookie
    expect((await attacker.get('/session')).error).toBe('not_signed_in')
  }
  expect((await victim.get('/session')).json.operator.name).toBe(name)
})

test('over TLS the cookie is Secure and bound to the host', async () => {
  const secure = await openService({ db: service.db, env: { PUBLIC_URL: 'https://pay.example.com' } })
  try {
    const { name } = await newOperator(secure, 'viewer')
    const { headers } = await new Browser(secure).signIn(name)
    const cookies = [headers['set-cookie'] ?? []].flat()
    expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual([
      '__Host-svc_console',
      '__Host-svc_console_device',
    ])
    for (const cookie of cookies)
      expect(cookie).toMatch(/^[\w-]+=[\w.-]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
  } finally {
    await secure.close()
  }
})

test('after signing out the session is no longer valid', async () => {
  const browser = await signedIn(service, 'viewer')
  const { cookie } = browser
  expect((await browser.send('DELETE', '/session')).json).toEqual({ signedOut: true })
  browser.cookie = cookie
  expect((await browser.get('/session')).status).toBe(401)
})

test('disabling, a lower role and a new password end sessions at once, in another process too', async () => {
  const other = await openService({ db: service.db })
  try {
    const admin = await signedIn(service, 'admin')
    for (const [method, path, body] of [
      ['PATCH', '', { disabled: true }],
      ['PATCH', '', { role: 'viewer' }],
      ['PATCH', '', { role: 'finance' }],
      ['POST', '/link', {}],
    ] as const) {
      const { name, operatorId } = await newOperator(service, 'operator')
      const browser = new Browser(other)
      await browser.signIn(name)
      expect((await browser.get('/session')).status).toBe(200)
      const { json, status } = await admin.send(method, `/operators/${operatorId}${path}`, body)
      expect(status).toBe(200)
      if (path === '/link') {
        // The link itself ends nothing: the person may be at work, and may not have asked for it.
        expect((await browser.get('/session')).status).toBe(200)
        const chosen = { token: json.link.split('#')[1], password: 'another long password' }
        expect((await new Browser(other).post('/invitation/accept', chosen)).status).toBe(200)
      }
      expect((await browser.get('/session')).error).toBe('not_signed_in')
    }
  } finally {
    await other.close()
  }
})

test('a session ends after its idle time, and at the latest after its maximum lifetime', async () => {
  const browser = await signedIn(service, 'viewer')
  const minute = 60_000
  service.clock.advance(29 * minute)
  expect((await browser.get('/session')).status).toBe(200)
  service.clock.advance(31 * minute)
  expect((await browser.get('/session')).error).toBe('not_signed_in')
  const busy = await signedIn(service, 'viewer')
  for (let i = 0; i < 28; i++) {
    service.clock.advance(25 * minute)
    expect((await busy.get('/session')).status).toBe(200)
  }
  service.clock.advance(25 * minute)
  expect((await busy.get('/session')).error).toBe('not_signed_in')
})

test('wrong passwords are slowed down, and the correct one is always accepted', async () => {
  const strict = await openService({ db: service.db, env: { SIGN_IN_FAILURES_PER_MINUTE: '2' } })
  try {
    const { name } = await newOperator(strict, 'viewer')
    const browser = new Browser(strict)
    const tries = [await browser.signIn(name, 'wrong'), await browser.signIn(name, 'wrong again')]
    expect(tries.map(({ error }) => error)).toEqual(['wrong_password', 'wrong_password'])
    const slowed = await browser.signIn(name, 'still wrong')
    expect([slowed.status, slowed.error]).toEqual([429, 'too_many_failed_attempts'])
    const unknown = await browser.signIn('nobody.here', 'still wrong')
    expect([unknown.status, unknown.error]).toEqual([429, 'too_many_failed_attempts'])
    expect((await browser.signIn(name)).status).toBe(200)
  } finally {
    await strict.close()
  }
})

test('an unknown name and a wrong password get the same response, and no password is stored or logged', async () => {
  const { name } = await newOperator(service, 'viewer')
  const browser = new Browser(service)
  const [wrong, unknown] = [
    await browser.signIn(name, 'canary-password-1'),
    await browser.signIn('no.one', 'canary-password-1'),
  ]
  const reported = ({ text, headers }: typeof wrong) => text.replaceAll(String(headers['x-request-id']), '')
  expect(reported(wrong)).toBe(reported(unknown))
  await browser.signIn(name)
  const token = browser.cookie!.split('=')[1]!
  const dump = await asSuperuser(service.db.database, async (db) => {
    const rows = []
    for (const table of ['operators', 'operator_sessions', 'audit_log', 'request_log'])
      rows.push(...(await db.query<{ text: string }>(`select t::text as text from ${table} t`)).rows)
    return rows.map(({ text }) => text).join('\n')
  })
  for (const secret of [
    PASSWORD,
    'canary-password-1',
    token,
    Buffer.from(token, 'base64url').toString('hex'),
  ])
    expect(`${dump}${service.logged()}`).not.toContain(secret)
})

test('one click signs in on this machine, in sandbox mode, under a name of this machine', async () => {
  const browser = new Browser(service)
  const click = (headers: Record<string, string> = {}) => browser.post('/session/sandbox', undefined, headers)
  for (const headers of [
    { host: 'evil.example:80' },
    { host: 'localhost.evil.example' },
    ...PROXY_HEADERS.map((name) => ({ [name]: '127.0.0.1' })),
  ]) {
    expect([headers, (await click(headers)).status]).toEqual([headers, 404])
    if (!('host' in headers))
      expect((await browser.get('/about', headers)).json).toMatchObject({ sandboxSignIn: false })
  }
  expect((await click()).json.operator).toMatchObject({ name: 'sandbox', role: 'admin' })
  const live = await openService({ db: service.db, env: { SVC_MODE: 'live' } })
  try {
    const outsider = new Browser(live)
    expect((await outsider.get('/about')).json).toMatchObject({ mode: 'live', sandboxSignIn: false })
    for (const { id, method, path } of CONSOLE_OPERATIONS.filter(({ sandboxOnly }) => sandboxOnly))
      expect([id, (await outsider.send(method, pathOf(path))).error]).toEqual([id, 'route_not_found'])
  } finally {
    await live.close()
  }
})

test('CONSOLE=off serves neither the page nor its API', async () => {
  const without = await openService({ db: service.db, env: { CONSOLE: 'off' } })
  try {
    for (const path of ['/console', '/console/', `${API}/about`])
      expect((await without.client.get(path)).error).toBe('route_not_found')
  } finally {
    await without.close()
  }
})
