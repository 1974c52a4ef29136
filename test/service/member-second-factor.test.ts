import { PORTAL_OPERATIONS } from '@svc/console-api/portal/portal-operations'
import { Secret } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { Browser, PASSWORD, PORTAL_API, signedIn } from '../harness/console.ts'
import { codeOf } from '../harness/one-time-codes.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { ageMember, invite, memberBrowser } from '../harness/portal.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let tenantId: string
beforeAll(async () => {
  const env = { SIGN_IN_FAILURES_PER_MINUTE: '1000' }
  service = await openService({ env })
  other = await openService({ db: service.db, env })
  tenantId = (await service.newMerchant()).merchantId
})
afterAll(async () => {
  await other.close()
  await service.close()
})

/** A member who has set up an app with the code of now: their next one is `codeOf(secret, 1)`. */
async function withApp(role: 'viewer' | 'operator' | 'admin' = 'admin') {
  const browser = await memberBrowser(service, tenantId, role)
  const { secret } = (await browser.post('/session/second-factor')).json
  const used = codeOf(secret)
  const { json, status } = await browser.post('/session/second-factor/confirm', { code: used })
  expect(status).toBe(200)
  const { memberId, memberName: name } = browser
  return {
    browser,
    memberId,
    name,
    secret: String(secret),
    used,
    recoveryCodes: json.recoveryCodes as string[],
  }
}

const outsider = (at: TestService) => new Browser(at, PORTAL_API)
const signIn = (at: TestService, name: string, code?: string) =>
  outsider(at).post('/session', { name, password: PASSWORD, ...(code !== undefined && { code }) })

const wrongCode = (secret: string) => (codeOf(secret) === '000000' ? '111111' : '000000')
const lockOut = async ({ name, secret }: { name: string; secret: string }) => {
  for (let tries = 0; tries < 5; tries++)
    expect((await signIn([service, other][tries % 2]!, name, wrongCode(secret))).error).toBe('wrong_code')
}

test('with an authenticator app a password alone is not enough, and each code is accepted once across all processes', async () => {
  const { memberId, name, secret, used, recoveryCodes } = await withApp()
  expect((await signIn(service, name)).error).toBe('second_factor_required')
  expect((await signIn(service, name, used)).error).toBe('wrong_code')
  const both = (code: string) => Promise.all([service, other].map((at) => signIn(at, name, code)))
  for (const code of [codeOf(secret, 1), recoveryCodes[0]!.toUpperCase()])
    expect((await both(code)).map(({ status }) => status).sort()).toEqual([200, 401])
  const admin = await signedIn(service, 'admin')
  const entries = async (action: string): Promise<Json[]> =>
    (await admin.get(`/audit?action=${action}&target=${memberId}`)).json.data
  expect((await entries('member.signed_in')).map(({ details }) => details.factors)).toEqual([
    'password recovery',
    'password totp',
    'password',
  ])
  expect((await entries('member.sign_in_failed')).map(({ details }) => details.reason)).toEqual(
    Array<string>(3).fill('wrong_code'),
  )
})

test('after five wrong codes in a row even a correct one is rejected in every process, until an administrator of the tenant resets', async () => {
  const locked = await withApp()
  await lockOut(locked)
  for (const at of [service, other]) {
    const { error, headers } = await signIn(at, locked.name, codeOf(locked.secret, 1))
    expect(error).toBe('second_factor_locked')
    expect(Number(headers['retry-after'])).toBeGreaterThan(800)
  }
  const path = `/members/${locked.memberId}/second-factor`
  const operator = await memberBrowser(service, tenantId, 'operator')
  expect((await operator.send('DELETE', path)).error).toBe('role_too_low')
  expect((await locked.browser.send('DELETE', path)).error).toBe('own_membership')
  const outsider = await memberBrowser(service, (await service.newMerchant()).merchantId)
  expect((await outsider.send('DELETE', path)).error).toBe('member_not_found')
  const colleague = await memberBrowser(service, tenantId)
  const found = async () =>
    (await colleague.get('/members')).json.data.find((one: Json) => one.memberId === locked.memberId)
  expect((await found()).hasSecondFactor).toBe(true)
  expect((await colleague.send('DELETE', path)).json).toEqual({ removed: true })
  expect((await colleague.send('DELETE', path)).error).toBe('second_factor_not_found')
  expect((await found()).hasSecondFactor).toBe(false)
  expect((await locked.browser.get('/session')).error).toBe('not_signed_in')
  expect((await signIn(service, locked.name)).status).toBe(200)
})

test('an operator of the console resets the second factor of a member for whom no other member can', async () => {
  const locked = await withApp()
  await lockOut(locked)
  const path = `/tenants/${tenantId}/members/${locked.memberId}/second-factor`
  expect((await (await signedIn(service, 'viewer')).send('DELETE', path)).error).toBe('role_too_low')
  expect((await (await signedIn(service, 'operations')).send('DELETE', path)).json).toEqual({ removed: true })
  expect((await signIn(other, locked.name)).status).toBe(200)
})

test('a link replaces the password, never the second factor', async () => {
  const { browser, memberId, secret } = await withApp()
  const colleague = await memberBrowser(service, tenantId)
  const { link } = (await colleague.post(`/members/${memberId}/link`, {})).json
  const use = (code?: string) =>
    outsider(service).post('/link/password', {
      token: link.split('#')[1],
      password: PASSWORD,
      ...(code && { code }),
    })
  expect((await use()).error).toBe('second_factor_required')
  expect((await use(wrongCode(secret))).error).toBe('wrong_code')
  expect((await browser.get('/session')).status).toBe(200)
  expect((await use(codeOf(secret, 1))).status).toBe(200)
  expect((await browser.get('/session')).error).toBe('not_signed_in')
})

test('new recovery codes replace the old ones, and a removed app is no longer asked for', async () => {
  const { name, browser, recoveryCodes } = await withApp('viewer')
  const renewed = (await browser.post('/session/second-factor/recovery-codes')).json.recoveryCodes as string[]
  expect(new Set([...recoveryCodes, ...renewed]).size).toBe(20)
  expect((await signIn(service, name, recoveryCodes[0])).error).toBe('wrong_code')
  const { json } = await browser.get('/session/second-factor')
  expect(json).toMatchObject({ isOn: true, recoveryCodesLeft: 10 })
  expect((await browser.post('/session/second-factor')).error).toBe('second_factor_is_on')
  expect((await browser.send('DELETE', '/session/second-factor')).json).toEqual({ removed: true })
  expect((await signIn(service, name)).status).toBe(200)
})

test('the secret of an app and recovery codes are nowhere in the database in plain text', async () => {
  const { secret, recoveryCodes } = await withApp()
  const { rows } = await asSuperuser(service.db.database, (admin) =>
    admin.query<{ text: string }>(
      `select t::text as text from member_totp t union all select c::text from member_recovery_codes c
       union all select a::text from audit_log a`,
    ),
  )
  const all = rows.map(({ text }) => text).join('\n')
  const bytes = Buffer.from(Secret.fromBase32(secret).buffer).toString('hex')
  for (const hidden of [secret, bytes, ...recoveryCodes]) expect(all).not.toContain(hidden)
})

/** Every operation of a merchant's member, with some value in each place of its path. */
const OF_MEMBERS = PORTAL_OPERATIONS.filter(({ auth }) =>
  ['member', 'merchant', 'tenant'].includes(auth),
).map((operation) => ({
  ...operation,
  at: operation.path.slice(PORTAL_API.length).replaceAll(/:\w+/g, 'none'),
}))

test('where the role requires a second factor, only the user’s own account works before it is set up', async () => {
  const strict = await openService({ db: service.db, env: { PORTAL_SECOND_FACTOR: 'money' } })
  try {
    for (const role of ['operator', 'admin'] as const) {
      const browser = outsider(strict)
      const { token } = await invite(strict, tenantId, role)
      const begun = await browser.post('/link/password', { token, password: PASSWORD })
      expect(begun.json.secondFactorNeeded).toBe(true)
      for (const { id, method, at, beforeSecondFactor, role: least } of OF_MEMBERS) {
        if (id === 'portal.signOut' || (least === 'admin' && role !== 'admin')) continue
        const { error } = await browser.send(method, at, method === 'GET' ? undefined : {})
        expect([id, error === 'second_factor_needed']).toEqual([id, !beforeSecondFactor])
      }
      const { secret } = (await browser.post('/session/second-factor')).json
      await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })
      expect((await browser.get('/payments')).status).toBe(200)
    }
    const { token } = await invite(strict, tenantId, 'viewer')
    const viewer = outsider(strict)
    const looking = await viewer.post('/link/password', { token, password: PASSWORD })
    expect([looking.json.secondFactorNeeded, (await viewer.get('/payments')).status]).toEqual([false, 200])
  } finally {
    await strict.close()
  }
})

test('operations that move money or change rights require a sign-in within the last minutes; the password, with a code, renews it', async () => {
  const { memberId, browser, secret } = await withApp()
  await ageMember(service, memberId)
  for (const { id, method, at, stepUp } of OF_MEMBERS) {
    if (id === 'portal.signOut') continue
    const { error } = await browser.send(method, at, method === 'GET' ? undefined : {})
    expect([id, error === 'step_up_required']).toEqual([id, stepUp === true])
  }
  const again = (body: object) => browser.post('/session/step-up', body)
  expect((await again({ password: 'not this one, surely' })).error).toBe('wrong_password')
  expect((await again({ password: PASSWORD })).error).toBe('second_factor_required')
  expect((await again({ password: PASSWORD, code: codeOf(secret, 1) })).status).toBe(200)
  expect((await browser.post('/members', { name: 'next.one', role: 'viewer' })).status).toBe(200)
})

test('setting up an app, however often, does not make the sign-in a recent one', async () => {
  const { memberId, browser } = await withApp()
  const begin = async (): Promise<string> => (await browser.post('/session/second-factor')).json.secret
  const confirm = async (secret: string) =>
    (await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })).error
  await ageMember(service, memberId, 4)
  expect((await browser.send('DELETE', '/session/second-factor')).json).toEqual({ removed: true })
  expect(await confirm(await begin())).toBeUndefined()
  expect((await browser.send('DELETE', '/session/second-factor')).json).toEqual({ removed: true })
  const secret = await begin()
  await ageMember(service, memberId, 2)
  expect(await confirm(secret)).toBe('step_up_required')
  expect((await browser.post('/session/second-factor')).error).toBe('step_up_required')
  expect((await browser.post('/session/step-up', { password: PASSWORD })).status).toBe(200)
  expect(await confirm(secret)).toBeUndefined()
})

test('a session of the password alone is no longer enough when an app is set up, until a code is entered', async () => {
  const before = await memberBrowser(service, tenantId)
  const browser = outsider(service)
  await browser.post('/session', { name: before.memberName, password: PASSWORD })
  const { secret } = (await browser.post('/session/second-factor')).json
  await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })
  expect((await before.get('/payments')).error).toBe('second_factor_needed')
  const change = { password: PASSWORD, newPassword: 'a password of a thief' }
  expect((await before.post('/session/password', change)).error).toBe('second_factor_required')
  const proof = { password: PASSWORD, code: codeOf(secret, 1) }
  expect((await before.post('/session/step-up', proof)).json.secondFactorNeeded).toBe(false)
  expect((await before.get('/payments')).status).toBe(200)
})

test('operations that move money, cannot be undone, or change members, keys, webhooks and second factors require a recent sign-in', () => {
  expect(
    PORTAL_OPERATIONS.filter(({ stepUp }) => stepUp)
      .map(({ id }) => id)
      .sort(),
  ).toEqual([
    'acceptDispute',
    'allocateCoins',
    'cancelQrCode',
    'confirmCoinAllocation',
    'createRefund',
    'createWebhookEndpoint',
    'deleteWebhookEndpoint',
    'eraseUser',
    'loadCard',
    'portal.changeMember',
    'portal.confirmSecondFactor',
    'portal.inviteMember',
    'portal.issueCard',
    'portal.issueCredential',
    'portal.issueEncryptionKey',
    'portal.limitCredential',
    'portal.registerPasskey',
    'portal.removeOwnSecondFactor',
    'portal.removePasskey',
    'portal.renewMemberLink',
    'portal.renewRecoveryCodes',
    'portal.requestBankAccount',
    'portal.requestFee',
    'portal.requestPaymentAddress',
    'portal.resetMemberSecondFactor',
    'portal.retireEncryptionKey',
    'portal.revokeCredential',
    'portal.rollCredential',
    'portal.startSecondFactor',
    'portal.withdrawChangeRequest',
    'portal.withdrawPaymentAddress',
    'redeemCoins',
    'replaceCard',
    'returnCard',
    'rotateWebhookSecret',
    'unloadCard',
    'updateWebhookEndpoint',
    'voidCoinAllocation',
  ])
})

test('a member blocks a card after a recent sign-in only; locking does not require one', async () => {
  const partner = await newPartner(service, { fundsPaise: 500_00n })
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: 500 }))
  const browser = await memberBrowser(service, partner.partnerId)
  await ageMember(service, browser.memberId)
  const path = `/partner/svcCard/${svcCardId}/status`
  const change = (status: string) => browser.send('PATCH', path, { status, reason: 'lost' })
  expect((await change('L')).status).toBe(200)
  expect((await change('BL')).error).toBe('step_up_required')
  await browser.post('/session/step-up', { password: PASSWORD })
  expect((await change('BL')).status).toBe(200)
})

test('in live mode a second administrator approves that a member’s second factor is reset; until then it is asked for', async () => {
  const locked = await withApp()
  const [one, another] = [await signedIn(service, 'operations'), await signedIn(service, 'admin')]
  await asSuperuser(service.db.database, (db) =>
    db.query('update approval_limit set administrators_by_two = true'),
  )
  const path = `/tenants/${tenantId}/members/${locked.memberId}/second-factor`
  const waiting = await one.send('DELETE', path)
  expect(waiting.json).toEqual({ removed: false, approvalId: expect.stringMatching(/^apv_/) })
  expect((await one.send('DELETE', path)).error).toBe('approval_open')
  const { approvalId } = waiting.json
  expect((await signIn(service, locked.name)).error).toBe('second_factor_required')
  const approval = `/operators/requests/${approvalId}/approve`
  expect((await one.post(approval, {})).error).toBe('role_too_low')
  expect((await another.get('/operators/requests')).json.data).toMatchObject([
    { approvalId, kind: 'member_second_factor', name: locked.name, status: 'waiting' },
  ])
  expect((await another.post(approval, {})).json.status).toBe('approved')
  expect((await signIn(service, locked.name)).status).toBe(200)
  // An administrator alone is no two people either.
  const next = await withApp()
  const own = `/tenants/${tenantId}/members/${next.memberId}/second-factor`
  const asked = (await another.send('DELETE', own)).json.approvalId
  expect((await another.post(`/operators/requests/${asked}/approve`, {})).error).toBe('approval_same_person')
  expect((await signIn(service, next.name)).error).toBe('second_factor_required')
  // The operator who asked may not do it any more: nothing happens.
  const late = await withApp()
  const theirs = `/tenants/${tenantId}/members/${late.memberId}/second-factor`
  const open = (await one.send('DELETE', theirs)).json.approvalId
  await asSuperuser(service.db.database, (db) =>
    db.query(`update operators set role = 'viewer' where role = 'operations'`),
  )
  expect((await another.post(`/operators/requests/${open}/approve`, {})).error).toBe('approval_closed')
  expect((await signIn(service, late.name)).error).toBe('second_factor_required')
})

test('in live mode a second administrator lets people into a tenant, and gives members more rights', async () => {
  const partner = await newPartner(service, { fundsPaise: 500_00n })
  const [one, another] = [await signedIn(service, 'operator'), await signedIn(service, 'admin')]
  await asSuperuser(service.db.database, (db) =>
    db.query('update approval_limit set administrators_by_two = true'),
  )
  const members = `/tenants/${partner.partnerId}/members`
  const open = ({ link }: { link: string }) =>
    new Browser(service, PORTAL_API).post('/link/password', { token: link.split('#')[1], password: PASSWORD })
  const decide = (approvalId: string, how: 'approve' | 'reject') =>
    another.post(`/operators/requests/${approvalId}/${how}`, {})
  const handed = (
    await one.post(`/tenants/${partner.partnerId}/handovers`, { name: 'puppet@partner.example' })
  ).json
  expect((await open(handed)).error).toBe('invitation_not_approved')
  expect((await one.post(`/operators/requests/${handed.approvalId}/approve`, {})).error).toBe('role_too_low')
  expect((await decide(handed.approvalId, 'reject')).json.status).toBe('rejected')
  expect((await open(handed)).error).toBe('invitation_not_found')

  const first = (await one.post(members, { name: 'meera@partner.example', role: 'viewer' })).json
  const again = (await one.post(`${members}/${first.memberId}/link`, {})).json
  expect((await decide(first.approvalId, 'approve')).error).toBe('approval_closed')
  expect((await open(again)).error).toBe('invitation_not_approved')
  expect((await decide(again.approvalId, 'approve')).json).toMatchObject({ status: 'approved' })
  expect((await open(again)).status).toBe(200)

  const theMember = `${members}/${first.memberId}`
  const more = (await one.send('PATCH', theMember, { role: 'admin' })).json
  expect(more).toMatchObject({ role: 'viewer', approvalId: expect.stringMatching(/^apv_/) })
  expect((await decide(more.approvalId, 'approve')).json).toMatchObject({
    kind: 'member_role',
    role: 'admin',
  })
  expect((await one.send('PATCH', theMember, { disabled: true })).json).toMatchObject({
    role: 'admin',
    status: 'disabled',
  })
  const back = (await one.send('PATCH', theMember, { disabled: false })).json
  expect(back).toMatchObject({ status: 'disabled', approvalId: expect.stringMatching(/^apv_/) })
  expect((await decide(back.approvalId, 'approve')).json.kind).toBe('member_enable')
  expect((await one.get(members)).json.data).toContainEqual(
    expect.objectContaining({ memberId: first.memberId, role: 'admin', status: 'active' }),
  )
  // Also the first person of a tenant without money, which may have some later.
  const { merchantId } = await service.newMerchant()
  const next = (
    await one.post(`/tenants/${merchantId}/members`, { name: 'puppet@shop.example', role: 'admin' })
  ).json
  expect((await open(next)).error).toBe('invitation_not_approved')
})
