import { KnownDevices } from '@svc/console-api/identity/known-devices'
import { hashPassword, isPassword } from '@svc/console-api/identity/password'
import { SignInGate } from '@svc/console-api/identity/sign-in-gate'
import type { Failure } from '@svc/contract/errors'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, PORTAL_API, signedIn } from '../harness/console.ts'
import { invite, memberBrowser } from '../harness/portal.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService({ env: { SIGN_IN_FAILURES_PER_MINUTE: '1000', TRUST_PROXY: '1' } })
})
afterAll(() => service.close())

const audited = async (of: TestService, query: string): Promise<Json[]> =>
  (await (await signedIn(of, 'viewer')).get(`/audit?limit=500&${query}`)).json.data

/** Everything that the audit holds, as it is stored. */
async function wholeAudit({ db }: TestService): Promise<string> {
  const { rows } = await asSuperuser(db.database, (admin) =>
    admin.query<{ content: string }>('select content from audit_log order by sequence'),
  )
  return rows.map(({ content }) => content).join('\n')
}

const from = (address: string) => ({ 'x-forwarded-for': address })
const attempt = (browser: Browser, name: string, password: string, address: string) =>
  browser.post('/session', { name, password }, from(address))

test('a failed sign-in is audited with its address, and with the name if an operator has it', async () => {
  const admin = await signedIn(service, 'admin')
  const [known, left] = [await newOperator(service, 'operator'), await newOperator(service, 'operator')]
  await admin.send('PATCH', `/operators/${left.operatorId}`, { disabled: true })
  const outsider = new Browser(service)
  for (const [name, address] of [
    [known.name, '203.0.113.1'],
    [left.name, '203.0.113.2'],
    ['Hunter2-typed-as-name', '2001:db8::3'],
  ] as const)
    expect((await attempt(outsider, name, 'Hunter2-is-wrong', address)).error).toBe('wrong_password')

  const entries = await audited(service, 'action=operator.sign_in_failed')
  expect(entries.map(({ actor, details, target }) => ({ actor, details, target })).toReversed()).toEqual([
    {
      actor: 'anonymous',
      target: known.operatorId,
      details: { address: '203.0.113.1', reason: 'wrong_password', name: known.name },
    },
    {
      actor: 'anonymous',
      target: left.operatorId,
      details: { address: '203.0.113.2', reason: 'disabled', name: left.name },
    },
    { actor: 'anonymous', target: 'unknown', details: { address: '2001:db8::3', reason: 'unknown_name' } },
  ])
  expect(entries.every(({ requestId }) => requestId.startsWith('req_'))).toBe(true)
  // People type their password into the field of the name.
  expect(await wholeAudit(service)).not.toMatch(/hunter2/i)
})

test('a sign-in is audited with its address and its factors', async () => {
  const { name, operatorId } = await newOperator(service, 'viewer')
  const browser = new Browser(service)
  expect((await attempt(browser, name, 'correct horse battery staple', '203.0.113.9')).status).toBe(200)
  expect(await audited(service, `action=operator.signed_in&target=${operatorId}`)).toMatchObject([
    { actor: `operator ${name}`, details: { address: '203.0.113.9', factors: 'password' } },
  ])
})

test('a password change with a wrong current password is audited', async () => {
  const { name, operatorId } = await newOperator(service, 'viewer')
  const browser = new Browser(service)
  await browser.signIn(name)
  const body = { password: 'Hunter2-is-wrong', newPassword: 'a long enough password' }
  const refused = await browser.post('/session/password', body, from('203.0.113.7'))
  expect(refused.error).toBe('wrong_password')
  expect(await audited(service, `action=operator.password_change_failed`)).toMatchObject([
    { actor: `operator ${name}`, target: operatorId, details: { address: '203.0.113.7', name } },
  ])
})

test('a sign-in counts when it comes: of many at once few are checked at once, and those that passed count no more', async () => {
  const gate = new SignInGate(2)
  const arrival = { address: '192.0.2.1', name: 'asha' }
  for (let n = 0; n < 5; n++) await (await gate.enter(arrival)).passed()
  const entered: number[] = []
  const begun = performance.now()
  const all = Array.from({ length: 5 }, async () => {
    await gate.enter(arrival)
    entered.push(performance.now() - begun)
  })
  await Promise.all(all)
  // Two at once, three one a second: it waits at least so long, however slow the machine is.
  expect(entered).toHaveLength(5)
  expect(entered.slice(2).every((after, n) => after >= 990 * (n + 1))).toBe(true)
})

/** A person whose browser has signed in before, and how others try to be that person. */
const KNOWN = [
  {
    who: 'operator',
    face: 'console',
    async person(of: TestService) {
      const { name } = await newOperator(of, 'operator')
      const browser = new Browser(of)
      await browser.signIn(name)
      return { name, browser }
    },
    other: async (of: TestService, _name: string) => signedIn(of, 'operator'),
    outsider: (of: TestService) => new Browser(of),
  },
  {
    who: 'member',
    face: 'portal',
    async person(of: TestService) {
      const browser = await memberBrowser(of, (await of.newMerchant()).merchantId, 'operator')
      return { name: browser.memberName, browser }
    },
    /** A person of the same name, of another tenant: with a password that the attacker knows. */
    async other(of: TestService, name: string) {
      const { token } = await invite(of, (await of.newMerchant()).merchantId, 'admin', { name })
      const browser = new Browser(of, PORTAL_API)
      await browser.post('/link/password', { token, password: 'four lazy herons wade' })
      return browser
    },
    outsider: (of: TestService) => new Browser(of, PORTAL_API),
  },
] as const

test.each(KNOWN)(
  '$who: attempts from many addresses, and from the same one, lock no known device out; its cookie alone gives nothing',
  async ({ face, person, other, outsider }) => {
    const LIMIT = 3
    const attacked = await openService({
      env: { SIGN_IN_FAILURES_PER_MINUTE: String(LIMIT), TRUST_PROXY: '1' },
    })
    try {
      const [home, elsewhere] = ['203.0.113.1', '203.0.113.77']
      const { name, browser } = await person(attacked)
      const same = await other(attacked, name)
      await browser.send('DELETE', '/session')
      const flood = Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          attempt(outsider(attacked), name, 'wrong', n < 8 ? home : `198.51.100.${n}`),
        ),
      )
      await expect
        .poll(async () => (await attempt(outsider(attacked), name, PASSWORD, home)).error)
        .toBe('too_many_failed_attempts')
      // In the middle of it, at the very address of the attacker.
      expect((await attempt(browser, name, PASSWORD, home)).status).toBe(200)
      await flood

      // The thief of the cookie has no session, and as few attempts as any other.
      await browser.send('DELETE', '/session')
      const thief = outsider(attacked)
      thief.cookie = browser.cookie
      expect((await thief.get('/session')).error).toBe('not_signed_in')
      for (let tries = 0; tries <= LIMIT; tries++)
        expect((await attempt(thief, name, 'wrong', elsewhere)).error).toBe(
          tries < LIMIT ? 'wrong_password' : 'too_many_failed_attempts',
        )
      // One that was changed is none, and the place of a person of the same name is that person's alone.
      const devices = new KnownDevices(attacked.app.services, face)
      const isKnown = (cookie = '') => devices.find({ headers: { cookie } }, name) !== undefined
      expect(isKnown(browser.cookie)).toBe(true)
      expect(isKnown(browser.cookie!.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')))).toBe(false)
      expect(isKnown(same.cookie)).toBe(face === 'portal')
      const error = (await attempt(same, name, PASSWORD, home)).error
      if (face === 'portal') expect(error).toBe('wrong_password')
    } finally {
      await attacked.close()
    }
  },
  60_000,
)

test('while too many passwords wait to be checked, one of a known device is checked, before the others', async () => {
  const hash = await hashPassword(PASSWORD)
  const others = Array.from({ length: 70 }, () =>
    isPassword(hash, 'wrong').catch((error: unknown) => (error as Failure).code),
  )
  const known = isPassword(hash, PASSWORD, true)
  const first = await Promise.race([known.then(() => 'known'), Promise.all(others).then(() => 'others')])
  expect([first, await known]).toEqual(['known', true])
  expect(new Set(await Promise.all(others))).toEqual(new Set([false, 'overloaded']))
})

test('a flood of failed sign-ins adds few entries to the audit, and no attempt is lost', async () => {
  const env = { SIGN_IN_FAILURES_PER_MINUTE: '3', TRUST_PROXY: '1' }
  const flooded = await openService({ env })
  const { name } = await newOperator(flooded, 'operator')
  const ATTEMPTS = 160
  const ADDRESSES = 80
  try {
    const outsider = new Browser(flooded)
    const refused = await Promise.all(
      Array.from({ length: ATTEMPTS }, async (_, i) => {
        const address = i % 2 === 0 ? '203.0.113.1' : `198.51.100.${i % ADDRESSES}`
        return (await attempt(outsider, name, 'wrong', address)).error
      }),
    )
    expect(refused.filter((error) => error === undefined)).toEqual([])
  } finally {
    await flooded.close()
  }
  const again = await openService({ db: flooded.db, env })
  try {
    const single = await audited(again, 'action=operator.sign_in_failed')
    const ofOne = single.filter(({ details }) => details.address === '203.0.113.1')
    expect(ofOne.length).toBeLessThanOrEqual(3)
    expect(single.length).toBeLessThanOrEqual(100)
    const summaries = await audited(again, 'action=operator.sign_ins_failed')
    expect(summaries.length).toBeGreaterThan(0)
    expect(summaries.length).toBeLessThan(10)
    const counted = summaries.reduce((sum, { details }) => sum + details.attempts, 0)
    expect(single.length + counted).toBe(ATTEMPTS)
    expect(summaries[0]).toMatchObject({ actor: 'service', target: 'several' })
    expect(summaries.map(({ details }) => details.mostFrom).join()).toContain('203.0.113.1: ')
  } finally {
    await again.close()
  }
})

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

/** A browser of this operator, signed in from an address. */
async function signedInFrom(name: string, address: string, userAgent: string): Promise<Browser> {
  const browser = new Browser(service)
  const body = { name, password: 'correct horse battery staple' }
  const headers = { ...from(address), 'user-agent': userAgent }
  expect((await browser.post('/session', body, headers)).status).toBe(200)
  return browser
}

test('operators list their own sessions with address, browser and last use, without digest or cookie', async () => {
  const { name } = await newOperator(service, 'viewer')
  const phone = await signedInFrom(name, '203.0.113.20', SAFARI)
  service.clock.advance(120_000)
  const desk = await signedInFrom(name, '2001:db8::20', FIREFOX)
  await signedIn(service, 'admin')
  const { text, json } = await desk.get('/sessions')
  expect(json.data).toMatchObject([
    { isCurrent: true, address: '2001:db8::20', browser: 'Firefox on Linux', factors: ['password'] },
    { isCurrent: false, address: '203.0.113.20', browser: 'Safari on iOS', factors: ['password'] },
  ])
  expect(json.data[1].lastUsedOn).toBe(json.data[1].signedInOn)
  for (const { cookie } of [desk, phone]) expect(text).not.toContain(String(cookie?.split('=')[1]))
  await phone.get('/session')
  const [used] = (await phone.get('/sessions')).json.data
  expect(Date.parse(used.lastUsedOn) - Date.parse(used.signedInOn)).toBeGreaterThanOrEqual(120_000)
})

test('an ended or idle session is not listed', async () => {
  const { name } = await newOperator(service, 'viewer')
  const gone = await signedInFrom(name, '203.0.113.21', FIREFOX)
  await signedInFrom(name, '203.0.113.22', FIREFOX)
  await gone.send('DELETE', '/session')
  service.clock.advance(31 * 60_000)
  const current = await signedInFrom(name, '203.0.113.23', 'curl/8.14.1')
  expect((await current.get('/sessions')).json.data).toMatchObject([
    { isCurrent: true, address: '203.0.113.23', browser: 'Unknown browser' },
  ])
})

test('a session is ended by its operator alone, one or all others, at once in every process, and this is audited', async () => {
  const { name, operatorId } = await newOperator(service, 'operator')
  const [current, second, third] = await Promise.all(
    ['203.0.113.30', '203.0.113.31', '203.0.113.32'].map((address) => signedInFrom(name, address, FIREFOX)),
  )
  const { data } = (await current!.get('/sessions')).json
  const idOf = (address: string) => data.find((each: Json) => each.address === address).sessionId
  const other = await openService({ db: service.db })
  try {
    const outsider = await signedIn(service, 'admin')
    const foreign = await outsider.send('DELETE', `/sessions/${idOf('203.0.113.31')}`)
    expect([foreign.status, foreign.error]).toEqual([404, 'session_not_found'])
    const elsewhere = new Browser(other)
    elsewhere.cookie = second!.cookie
    expect((await elsewhere.get('/session')).status).toBe(200)
    expect((await current!.send('DELETE', `/sessions/${idOf('203.0.113.31')}`)).json).toEqual({ ended: true })
    expect((await elsewhere.get('/session')).error).toBe('not_signed_in')
    expect((await third!.get('/session')).status).toBe(200)
    expect((await current!.send('DELETE', '/sessions')).json).toEqual({ ended: 1 })
    expect((await third!.get('/session')).error).toBe('not_signed_in')
    expect((await current!.get('/session')).status).toBe(200)
    expect((await outsider.get('/session')).status).toBe(200)
  } finally {
    await other.close()
  }
  const actions = (await audited(service, `target=${operatorId}`)).map(({ action }) => action)
  expect(actions).toEqual(expect.arrayContaining(['operator.session_ended', 'operator.other_sessions_ended']))
})

test('requests that a page sends by itself keep no session alive, of an operator or of a member', async () => {
  const { merchantId } = await service.newMerchant()
  const ways = [() => signedIn(service, 'viewer'), () => memberBrowser(service, merchantId)]
  for (const signIn of ways) {
    const browser = await signIn()
    const requestAfter = (minutesLater: number, idleMinutes: number) => {
      service.clock.advance(minutesLater * 60_000)
      return browser.get('/session', { 'x-svc-idle-seconds': String(idleMinutes * 60) })
    }
    expect((await requestAfter(20, 20)).status).toBe(200)
    // The person did something 20 minutes after the sign-in: the limit of 30 minutes counts from there.
    expect((await requestAfter(5, 5)).status).toBe(200)
    expect((await requestAfter(20, 25)).status).toBe(200)
    expect((await requestAfter(6, 31)).error).toBe('not_signed_in')
  }
})

test('an administrator sees where operators are signed in, and ends a session, which is audited; others do not', async () => {
  const admin = await signedIn(service, 'admin')
  const { name, operatorId } = await newOperator(service, 'finance')
  const signedInHere = new Browser(service)
  await signedInHere.signIn(name)
  expect((await signedInHere.get('/operators/sessions')).status).toBe(403)
  const { data } = (await admin.get('/operators/sessions')).json
  expect(data.filter(({ isCurrent }: Json) => isCurrent)).toHaveLength(1)
  const theirs = data.find((session: Json) => session.operatorId === operatorId)
  expect(theirs).toMatchObject({ operatorName: name, factors: ['password'], isCurrent: false })
  const path = `/operators/sessions/${theirs.sessionId}`
  expect((await admin.send('DELETE', path)).json).toEqual({ ended: true })
  expect((await signedInHere.get('/session')).status).toBe(401)
  expect((await admin.send('DELETE', path)).error).toBe('session_not_found')
  expect(await audited(service, `target=${operatorId}&action=operator.session_ended`)).toHaveLength(1)
})
