import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, PORTAL_API, signedIn } from '../harness/console.ts'
import { asPartner, newPartner, type TestPartner } from '../harness/partner.ts'
import { ageMember, invite, memberBrowser } from '../harness/portal.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let partner: TestPartner

beforeAll(async () => {
  service = await openService({ env: { SIGN_IN_FAILURES_PER_MINUTE: '1000' } })
  merchant = await service.newMerchant()
  partner = await newPartner(service, {})
})
afterAll(() => service.close())

const auditOf = async (tenantId: string): Promise<{ actor: string; action: string; target: string }[]> =>
  (
    await asSuperuser(service.db.database, (db) =>
      db.query('select actor, action, target from svc.audit_log where tenant_id = $1 order by sequence', [
        tenantId,
      ]),
    )
  ).rows

const named = (path: string): Browser => new Browser(service, path as typeof PORTAL_API)
const outsider = (): Browser => named(PORTAL_API)

test('a link is used once, signs in, and is rejected for others or after its time', async () => {
  const { name, token } = await invite(service, merchant.merchantId, 'operator')
  const browser = outsider()
  const offered = await browser.post('/link', { token })
  expect(offered.json).toMatchObject({ name, role: 'operator', invitedBy: 'operator asha' })
  expect((await browser.post('/link/password', { token, password: 'short' })).status).toBe(400)
  const begun = await browser.post('/link/password', { token, password: PASSWORD })
  expect(begun.json).toMatchObject({
    member: { name, role: 'operator' },
    tenant: { tenantId: merchant.merchantId, kind: 'merchant' },
  })
  expect(String(begun.headers['set-cookie'])).toMatch(/HttpOnly.*SameSite=Strict/)
  expect((await browser.get('/session')).json.member.name).toBe(name)
  expect((await outsider().post('/link/password', { token, password: PASSWORD })).error).toBe(
    'invitation_not_found',
  )
  const forged = token.replace(merchant.merchantId, partner.partnerId)
  expect((await outsider().post('/link', { token: forged })).error).toBe('invitation_not_found')
  const late = await invite(service, merchant.merchantId, 'viewer', { hours: -1 / 3600 })
  expect((await outsider().post('/link', { token: late.token })).error).toBe('invitation_expired')
  expect((await outsider().post('/link/password', { token: late.token, password: PASSWORD })).error).toBe(
    'invitation_expired',
  )
})

test('of two concurrent uses of one link, one becomes the member', async () => {
  const { token } = await invite(service, merchant.merchantId)
  const both = await Promise.all(
    ['first password here', 'second password here'].map((password) =>
      outsider().post('/link/password', { token, password }),
    ),
  )
  expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
})

test('a password signs in; a wrong one and an unknown name look the same', async () => {
  const { memberName } = await memberBrowser(service, merchant.merchantId)
  const browser = outsider()
  const [wrong, unknown] = [
    await browser.post('/session', { name: memberName, password: 'wrong password' }),
    await browser.post('/session', { name: 'no.one', password: 'wrong password' }),
  ]
  expect([wrong.status, wrong.error]).toEqual([401, 'wrong_password'])
  expect({ ...wrong.json, requestId: '' }).toEqual({ ...unknown.json, requestId: '' })
  expect((await browser.post('/session', { name: memberName, password: PASSWORD })).status).toBe(200)
  await browser.send('DELETE', '/session')
  expect((await browser.get('/session')).error).toBe('not_signed_in')
})

test('wrong passwords of a member are in the audit of the tenant with their address, and no more than 20 an hour', async () => {
  const { merchantId } = await service.newMerchant()
  const { memberName, memberId } = await memberBrowser(service, merchantId)
  for (let i = 0; i < 22; i++) await outsider().post('/session', { name: memberName, password: 'wrong' })
  const failed = (await auditOf(merchantId)).filter(({ action }) => action === 'member.sign_in_failed')
  expect(failed).toHaveLength(20)
  expect(failed[0]).toMatchObject({ actor: `member ${memberName}`, target: memberId })
})

test('a person of two tenants is in one at a time, and chooses which; the session of the other one ends', async () => {
  const first = await memberBrowser(service, merchant.merchantId)
  const { app } = service
  const { clock, database, keyring, random } = app.services
  const { inviteMember } = await import('@svc/console-api/portal/member-store')
  const tools = { keyring, random, now: new Date(clock.now()) }
  const requested = {
    name: first.memberName,
    role: 'viewer',
    hours: 1,
    createdBy: 'x',
    publicUrl: '',
  } as const
  const { link } = await database.operate((tx) =>
    inviteMember(tx, tools, { ...requested, tenantId: partner.partnerId }),
  )
  await outsider().post('/link/password', { token: link.split('#')[1], password: PASSWORD })
  const browser = outsider()
  const entered = async (tenantId: string) =>
    (await browser.post('/session', { name: first.memberName, password: PASSWORD, tenantId })).json.tenant
  expect(await entered(merchant.merchantId)).toMatchObject({ kind: 'merchant' })
  const of = outsider()
  of.cookie = browser.cookie
  expect(await entered(partner.partnerId)).toMatchObject({ kind: 'partner' })
  expect((await of.get('/session')).error).toBe('not_signed_in')
  // By a link too.
  of.cookie = browser.cookie
  const { token } = await invite(service, merchant.merchantId)
  await browser.post('/link/password', { token, password: PASSWORD })
  expect((await browser.get('/session')).json.tenant.tenantId).toBe(merchant.merchantId)
  expect((await of.get('/session')).error).toBe('not_signed_in')
  expect((await first.get('/session')).status).toBe(200)
})

test('roles: a viewer changes nothing, an operator no keys, webhooks or members', async () => {
  const [viewer, operator] = [
    await memberBrowser(service, merchant.merchantId, 'viewer'),
    await memberBrowser(service, merchant.merchantId, 'operator'),
  ]
  expect((await viewer.get('/payments')).status).toBe(200)
  expect((await viewer.post('/qr-code', {})).status).toBe(403)
  expect((await operator.post('/qr-code', {})).status).toBe(200)
  for (const browser of [viewer, operator])
    for (const [method, path, body] of [
      ['POST', '/webhook-endpoints', { url: 'https://example.com/x' }],
      ['POST', '/credentials', { name: 'x' }],
      ['DELETE', `/credentials/${merchant.apiKeyId}`, undefined],
      ['POST', '/members', { name: 'x.y', role: 'admin' }],
    ] as const)
      expect([path, (await browser.send(method, path, body)).error]).toEqual([path, 'role_too_low'])
})

test('a member’s actions do what the API does, and are in the audit under the member’s name', async () => {
  const browser = await memberBrowser(service, merchant.merchantId, 'operator')
  const posted = await browser.post('/qr-code', { multipleUse: true, amount: 5, fixedAmount: true })
  const created = posted.json.payload
  const code = await newCode(service, await service.as(merchant), { multipleUse: true })
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(code.tr)))
  await browser.post(`/payments/${paymentId}/refunds`, { amount: 0.5, referenceNumber: 'portal-1' })
  await browser.send('PATCH', `/qr-code/${created.qrCodeId}/cancel`, {})
  const mine = (await auditOf(merchant.merchantId)).filter(
    ({ actor }) => actor === `member ${browser.memberName}`,
  )
  expect(mine).toMatchObject([
    { action: 'member.signed_in', target: browser.memberId },
    { action: 'member.changed' },
    { action: 'member.password_changed' },
    { action: 'portal.createQrCode', target: created.qrCodeId },
    { action: 'portal.createRefund', target: paymentId },
    { action: 'portal.cancelQrCode', target: created.qrCodeId },
  ])
  expect(
    (
      await signedIn(service, 'viewer').then((operator) =>
        operator.get(`/audit?tenantId=${merchant.merchantId}`),
      )
    ).text,
  ).toContain('portal.createRefund')
})

test('users that a member creates, changes and erases are audited under the member’s name, with the request', async () => {
  const mine = await newPartner(service)
  const browser = await memberBrowser(service, mine.partnerId)
  const requested = { companyId: mine.companyId, email: 'holder@example.com' }
  const made = await browser.post('/partner/users', requested)
  const { userId } = made.json.payload
  const at = `/partner/users/${userId}`
  const responses = [
    made,
    await browser.send('PATCH', at, { firstName: 'Asha' }),
    await browser.post(`${at}/erase`),
  ]
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query<{ content: string }>('select content from svc.audit_log where target = $1 order by sequence', [
      userId,
    ]),
  )
  expect(rows.map(({ content }) => JSON.parse(content))).toMatchObject(
    ['user.created', 'user.changed', 'user.erased'].map((action, i) => ({
      action,
      actor: `member ${browser.memberName}`,
      requestId: responses[i]!.headers['x-request-id'],
      tenantId: mine.partnerId,
    })),
  )
  const client = await asPartner(service.client, mine)
  await client.post('/api/v0/partner/users', { ...requested, email: 'another@example.com' })
  expect((await auditOf(mine.partnerId)).at(-1)).toMatchObject({
    action: 'user.created',
    actor: `tenant ${mine.partnerId}`,
  })
})

test('keys: issued with a recent sign-in, shown once, used, revoked; never those of another tenant', async () => {
  const browser = await memberBrowser(service, merchant.merchantId)
  await ageMember(service, browser.memberId)
  expect((await browser.post('/credentials', { name: 'till 2' })).error).toBe('step_up_required')
  expect((await browser.post('/session/step-up', { password: 'wrong password' })).error).toBe(
    'wrong_password',
  )
  expect((await browser.post('/session/step-up', { password: PASSWORD })).status).toBe(200)
  const issued = await browser.post('/credentials', { name: 'till 2' })
  const { credentialId, secret } = issued.json
  const token = () => service.client.post('/api/v0/merchant/token', undefined, { 'api-key': secret })
  expect((await token()).status).toBe(200)
  const list = (await browser.get('/credentials')).text
  expect(list).toContain(credentialId)
  expect(list).not.toContain(secret)
  const other = await service.newMerchant()
  expect((await browser.send('DELETE', `/credentials/${other.apiKeyId}`)).error).toBe('credential_not_found')
  expect((await browser.send('DELETE', `/credentials/${credentialId}`)).json.revokedOn).toBeDefined()
  await expect.poll(async () => (await token()).status).toBe(401)
  const rewards = await memberBrowser(service, partner.partnerId)
  const client = (await rewards.post('/credentials', { name: 'batch' })).json
  expect((await rewards.get('/credentials')).text).toContain(client.credentialId)
})

test('members are managed by their own tenant alone, and never by themselves', async () => {
  const admin = await memberBrowser(service, merchant.merchantId)
  const invited = await admin.post('/members', { name: 'ravi@shop.example', role: 'viewer' })
  expect(invited.json).toMatchObject({ status: 'invited', createdBy: `member ${admin.memberName}` })
  const token = invited.json.link.split('#')[1]
  const ravi = outsider()
  await ravi.post('/link/password', { token, password: PASSWORD })
  const { memberId } = invited.json
  expect((await admin.send('PATCH', `/members/${memberId}`, { role: 'operator' })).json.role).toBe('operator')
  expect((await ravi.get('/session')).error).toBe('not_signed_in')
  expect((await admin.send('PATCH', `/members/${admin.memberId}`, { role: 'viewer' })).error).toBe(
    'own_membership',
  )
  const stranded = await memberBrowser(service, partner.partnerId)
  for (const body of [{ disabled: true }, { role: 'admin' }])
    expect((await stranded.send('PATCH', `/members/${memberId}`, body)).error).toBe('member_not_found')
  expect((await stranded.post(`/members/${memberId}/link`, {})).error).toBe('member_not_found')
  expect((await stranded.get('/members')).text).not.toContain('ravi@shop.example')
  const again = (await admin.post(`/members/${memberId}/link`, {})).json.link.split('#')[1]
  await admin.send('PATCH', `/members/${memberId}`, { disabled: true })
  expect((await outsider().post('/link', { token: again })).error).toBe('invitation_not_found')
  expect((await outsider().post('/session', { name: 'ravi@shop.example', password: PASSWORD })).error).toBe(
    'wrong_password',
  )
})

test('a link that a member or an operator made ends with the rights of who made it', async () => {
  const { merchantId } = await service.newMerchant()
  const owner = await memberBrowser(service, merchantId)
  const tokenFrom = async (by: Browser, path: string) => {
    const { json } = await by.post(path, { name: `puppet.${puppets++}@tenant.example`, role: 'admin' })
    return json.link.split('#')[1]!
  }
  const [admin, operations] = [await signedIn(service, 'admin'), await newOperator(service, 'operations')]
  const browser = new Browser(service)
  await browser.signIn(operations.name)
  let puppets = 0
  for (const [by, path, end] of [
    [
      owner,
      '/members',
      () => admin.send('PATCH', `/tenants/${merchantId}/members/${owner.memberId}`, { role: 'viewer' }),
    ],
    [
      browser,
      `/tenants/${merchantId}/members`,
      () => admin.send('PATCH', `/operators/${operations.operatorId}`, { disabled: true }),
    ],
  ] as const) {
    const token = await tokenFrom(by, path)
    const opens = () => new Browser(service, PORTAL_API).post('/link', { token })
    expect((await opens()).status).toBe(200)
    expect((await end()).status).toBe(200)
    expect((await opens()).error).toBe('invitation_not_found')
  }
})

test('a disabled tenant, another tenant’s session and another site’s page get nothing', async () => {
  const closed = await service.newMerchant()
  const browser = await memberBrowser(service, closed.merchantId)
  const { database } = service.app.services
  const { setMerchantDisabled } = await import('@svc/core/tenants/merchant')
  const set = (disabled: boolean) =>
    database.operate((tx) => setMerchantDisabled(tx, closed.merchantId, disabled))
  await set(true)
  expect((await browser.get('/payments')).error).toBe('not_signed_in')
  expect((await browser.post('/session', { name: browser.memberName, password: PASSWORD })).status).toBe(401)
  await set(false)
  expect((await browser.get('/payments')).status).toBe(200)
  const moved = outsider()
  moved.cookie = browser.cookie!.replace(closed.merchantId, merchant.merchantId)
  expect((await moved.get('/payments')).error).toBe('not_signed_in')
  for (const headers of [{}, { 'x-svc-console': '1', origin: 'https://evil.example' }])
    expect((await browser.send('POST', '/qr-code', {}, headers)).error).toBe('cross_site_request')
  const operator = await signedIn(service, 'admin')
  const asMember = outsider()
  asMember.cookie = operator.cookie!.replace('svc_console', 'svc_portal')
  expect((await asMember.get('/payments')).error).toBe('not_signed_in')
})

test('one click signs in to the sandbox as a tenant, from this machine alone, and issues a key without a password', async () => {
  const browser = outsider()
  const tenants = (await browser.get('/session/sandbox')).json.data
  expect(tenants).toContainEqual(expect.objectContaining({ tenantId: merchant.merchantId, kind: 'merchant' }))
  expect((await browser.post('/session/sandbox', { tenantId: 'mer_none' })).error).toBe('tenant_not_found')
  const { member } = (await browser.post('/session/sandbox', { tenantId: merchant.merchantId })).json
  expect(member).toMatchObject({ name: 'sandbox', role: 'admin' })
  await ageMember(service, member.memberId, 60)
  expect((await browser.post('/credentials', { name: 'by a click' })).json.secret).toMatch(/^svc_test_/)
  for (const headers of [{ 'x-forwarded-for': '203.0.113.7' }, { host: 'sandbox.example' }])
    expect((await outsider().get('/session/sandbox', headers)).status).toBe(404)
  const asName = await outsider().post('/session', { name: 'sandbox', password: 'any password at all' })
  expect(asName.error).toBe('wrong_password')
})
