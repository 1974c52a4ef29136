import { readFile } from 'node:fs/promises'
import { ROLES } from '@svc/console-api/identity/permissions'
import { recordAudit } from '@svc/platform/audit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { asCoinPartner, COINS, newConfig } from '../harness/coins.ts'
import { API, Browser, type ConsoleResponse, newOperator, signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { creditOf, notifyCredit, trsOf } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestMerchant, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

const { paths } = JSON.parse(
  await readFile(new URL('../../docs/reference/console-openapi.json', import.meta.url), 'utf8'),
) as { paths: Record<string, Record<string, { operationId: string } | undefined>> }

const CANARY = /canary|912345/i
const customer = {
  // Shown on the till and in the UPI string: it names no person.
  qrName: 'Table 1',
  customerName: 'Canary Kumari',
  customerEmail: 'canary.kumari@example.com',
  customerMobile: '9123456780',
  description: 'for Canary Kumari',
  customParams: { 'canary key': 'canary value' },
}
const holder = {
  ...Object.fromEntries(
    ['title', 'firstName', 'middleName', 'lastName', 'gender', 'specialDate', 'address', 'address2', 'city']
      .concat(['state', 'country', 'pincode', 'deliveryAddress', 'deliveryAddress2', 'deliveryCity'])
      .concat(['deliveryState', 'deliveryCountry', 'deliveryPincode'])
      .map((name) => [name, `Canary ${name}`]),
  ),
  email: 'canary.rao@example.com',
  mobile: '9123456781',
  physicalDeliveryAddressFlag: true,
}

let service: TestService
let receiver: WebhookReceiver
let merchant: TestMerchant
let partner: TestPartner
beforeAll(async () => {
  // What is masked does not depend on how long ago a person signed in, and this may take long on a slow machine.
  service = await openService({ env: { CONSOLE_STEP_UP_MINUTES: '0' } })
  receiver = await WebhookReceiver.open()
  // An endpoint that fails and returns what it was sent, as frameworks do in development.
  receiver.response = ({ raw }, response) =>
    void response.writeHead(500, { 'retry-after': '3600' }).end(`cannot process ${raw}`)
  merchant = await service.newMerchant()
  partner = await newPartner(service)
  const admin = await signedIn(service, 'admin')
  for (const tenantId of [merchant.merchantId, partner.partnerId])
    expectDone(await admin.post('/webhooks', { tenantId, endpoint: { url: receiver.url(`/${tenantId}`) } }))

  const shop = await service.as(merchant)
  const { qrCodeId } = payloadOf(await shop.post('/api/v0/qr-code', customer))
  await payTwice((await trsOf(service.db.database, [qrCodeId])).get(qrCodeId)!)
  // Names of fields come from callers too, and the description of a failure repeats them.
  const misplaced = { [customer.customerEmail]: 'Canary', '9123456782': 'Canary' }
  const customParams = { [customer.customerEmail]: 'x'.repeat(300) }
  await shop.post('/api/v0/qr-code', { ...customer, ...misplaced, customParams, amount: -1 })
  await shop.get('/api/v0/qr-code/canary.kumari@example.com?mobile=9123456780')
  const cards = await asPartner(service.client, partner)
  const card = payloadOf(await createCard(cards, partner, holder))
  await createCard(cards, partner, { ...holder, ...misplaced })
  const locked = { status: 'L', reason: 'asked by Canary Rao' }
  payloadOf(await cards.patch(`/api/v0/partner/svcCard/${card.svcCardId}/status`, locked))
  await voidCoins(card.userId)
  await changeInConsole(card.svcCardId)
  await new Browser(service).signIn('canary.kumari', 'canary-as-password')
  await receiver.until(() => new Set(receiver.received.map(({ path }) => path)).size === 2)
  await receiver.until(() => receiver.received.some(({ event }) => event.type === 'qr_code.credited'))
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

const expectDone = ({ status, text }: ConsoleResponse): void => expect([status, text]).toEqual([200, text])

/** Pays a code as the bank notifies it, which contradicts itself afterwards. */
async function payTwice(tr: string): Promise<void> {
  const credit = {
    ...creditOf(tr, { amount: 12, payerVpa: 'canary.kumari@bank' }),
    transactionTime: new Date(service.clock.now()).toISOString(),
  }
  payloadOf(await notifyCredit(service.client, credit))
  const { json } = await notifyCredit(service.client, { ...credit, amount: 13 })
  expect(json.payload.reason).toBe('contradicts_earlier_notice')
}

/** One by the partner, one by an operator. */
async function voidCoins(userId: string): Promise<void> {
  const coins = await asCoinPartner(service.client, partner)
  const { event } = await newConfig(coins)
  const award = async (requestId: string): Promise<string> => {
    const requested = { requestId, event, userId, companyId: partner.companyId }
    return payloadOf(await coins.post(`${COINS}/allocate`, requested)).allocationId
  }
  const reason = 'returned by Canary Rao'
  const byPartner = { requestId: 'v-1', reason }
  payloadOf(await coins.post(`${COINS}/allocations/${await award('a-1')}/void`, byPartner))
  const admin = await signedIn(service, 'admin')
  expectDone(await admin.post(`/coin-allocations/${await award('a-2')}/void`, { reason }))
}

const ASKED = 'asked by Canary Rao'

/** What operators change of a card, with reasons, and an entry of the audit as it was once written. */
async function changeInConsole(svcCardId: string): Promise<void> {
  const admin = await signedIn(service, 'admin')
  for (const [path, body] of [
    ['status', { status: 'UL' }],
    ['kyc', { kycStatus: 'UPLOADED' }],
    ['flags', { posAllowed: false }],
  ] as const)
    expectDone(await admin.post(`/cards/${svcCardId}/${path}`, { ...body, reason: ASKED }))
  expect(await auditWith('Canary')).toEqual([])
  await service.app.services.database.operate(
    async (tx) =>
      recordAudit(tx, [
        {
          action: 'card.status_changed',
          target: svcCardId,
          tenantId: partner.partnerId,
          details: { status: 'L', reason: ASKED },
        },
      ]),
    'read committed',
    { actor: 'operator asha' },
  )
}

const auditWith = (text: string): Promise<unknown[]> =>
  asSuperuser(service.db.database, async (db) => {
    const found = 'select content from svc.audit_log where position($1 in content) > 0'
    return (await db.query(found, [text])).rows
  })

/** Every id of the world, by the name of the path parameter that it is for. */
async function idsFor(viewer: Browser): Promise<Record<string, readonly string[]>> {
  const all = async (path: string): Promise<Json[]> => (await viewer.get(`${path}?limit=500`)).json.data
  const of = async (path: string, name: string) => (await all(path)).map((row) => row[name])
  const { companyId, cardAccountId } = partner
  const svcCardId = await of('/cards', 'svcCardId')
  return {
    merchantId: [merchant.merchantId],
    tenantId: [merchant.merchantId, partner.partnerId],
    partnerId: [partner.partnerId],
    companyId: [companyId],
    cardAccountId: [cardAccountId],
    userId: await of('/users', 'userId'),
    qrCodeId: (await all('/qr-codes')).map(({ qrCodeId }) => qrCodeId),
    svcCardId,
    coinConfigId: ['ccf_none'],
    accountId: [`card:${svcCardId[0]}`],
    requestId: await of('/requests', 'requestId'),
    paymentId: (await all('/payments')).map(({ paymentId }) => paymentId),
    refundId: ['rfd_none'],
    spendRuleId: ['spr_none'],
    disputeId: ['dsp_none'],
    attachmentId: ['dat_none'],
    payoutId: ['pyo_none'],
    kind: ['payouts', 'refunds'],
    runId: ['pyr_none'],
    noticeId: await of('/rail-notices', 'noticeId'),
    exceptionId: ['cex_none'],
    journalId: ['jrn_none'],
    bankFileId: ['bkf_none'],
    batchId: ['stb_none'],
    lineId: ['stl_none'],
    documentId: ['txd_none'],
    date: ['2026-01-31'],
    through: ['2026-01-31'],
    month: ['2026-01'],
    year: ['2024-25'],
    section: ['b2b'],
    objectId: [...(await all('/qr-codes')).map(({ qrCodeId }) => qrCodeId), ...svcCardId],
    endpointId: (await all('/webhooks')).map(({ endpointId }) => endpointId),
    eventId: receiver.received.map(({ event }) => event.id),
  }
}

/** The paths of an operation, with every id that the world has for its parameters. */
function filled(path: string, ids: Record<string, readonly string[]>): string[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? []
  if (!name) return [path]
  const values = ids[name]
  if (!values) throw new Error(`this test needs ids for {${name}} of ${path}`)
  return values.flatMap((id) => filled(path.replace(`{${name}}`, encodeURIComponent(id)), ids))
}

/** All that an operator can read: what of it names the people of this test. */
async function leaks(browser: Browser, ids: Record<string, readonly string[]>) {
  const [leaking, read] = [new Set<string>(), new Set<string>()]
  for (const [path, { get: operation }] of Object.entries(paths)) {
    if (!operation) continue
    for (const url of filled(path.slice(API.length), ids)) {
      const query = operation.operationId === 'console.search' ? '?q=canary.rao@example.com' : ''
      const { status, text } = await browser.get(`${url}${query}`)
      if (status === 200) read.add(operation.operationId)
      if (CANARY.test(text)) leaking.add(operation.operationId)
    }
  }
  return { leaking: [...leaking].sort(), read }
}

test('personal data is masked for every role, in records, lists, exports, copies and the search', {
  timeout: 300_000,
}, async () => {
  const admin = await signedIn(service, 'admin')
  await expect
    .poll(async () => (await admin.get('/requests?outcome=failure')).json.total.count)
    .toBeGreaterThanOrEqual(3)
  const webhooks: Json[] = (await admin.get('/webhooks')).json.data
  for (const { endpointId } of webhooks)
    await expect
      .poll(async () => (await admin.get(`/webhooks/${endpointId}/attempts`)).json.total.count)
      .toBeGreaterThan(0)
  const ids = await idsFor(admin)
  for (const role of ROLES) {
    const { leaking, read } = await leaks(await signedIn(service, role), ids)
    expect(read).toContain('console.showWebhookEvent')
    expect([role, leaking]).toEqual([role, []])
  }
})

test('masked data is still enough to distinguish people', async () => {
  const viewer = await signedIn(service, 'viewer')
  const [user] = (await viewer.get(`/users?q=${holder.mobile}`)).json.data
  expect(user).toMatchObject({ firstName: 'C••• f•••', email: 'c•••@example.com', mobile: '••••••6781' })
  const [row] = (await viewer.get('/qr-codes')).json.data
  expect(row).toMatchObject({ customerName: 'C••• K•••', description: '•••', qrName: 'Table 1' })
  expect((await viewer.get('/search?q=canary.rao@example.com')).json.results[0].subtitle).toBe(
    'c•••@example.com',
  )
})

test('data revealed with a reason is revealed to that operator alone, for 15 minutes, and audited', {
  timeout: 300_000,
}, async () => {
  const ids = await idsFor(await signedIn(service, 'admin'))
  const support = await signedIn(service, 'support')
  const reasons = { reason: 'the holder called about a parcel' }
  const of = (name: string) => ids[name]![0]!
  const opens: readonly (readonly [objectId: string, operations: readonly string[]])[] = [
    [of('userId'), ['console.showUser', 'console.showUserCoins']],
    [of('svcCardId'), ['console.showCard', 'console.showHistory']],
    [of('qrCodeId'), ['console.showQrCode']],
    [of('paymentId'), ['console.showPayment']],
    [
      of('endpointId'),
      ['console.exportWebhookAttempts', 'console.listWebhookAttempts', 'console.showWebhookEvent'],
    ],
  ]
  for (const [objectId, operations] of opens) {
    service.clock.advance(15 * 60_000)
    expect((await leaks(support, ids)).leaking).toEqual([])
    const requested = { objectId, ...reasons }
    expect((await support.post('/personal-data/reveals', requested)).json).toMatchObject({ objectId })
    expect((await leaks(support, ids)).leaking).toEqual(operations)
    expect((await leaks(await signedIn(service, 'support'), ids)).leaking).toEqual([])
  }
  const { data } = (await (await signedIn(service, 'auditor')).get('/audit?action=personal_data.revealed'))
    .json
  expect(data.map(({ target, details }: Json) => [target, details])).toEqual(
    opens.map(([objectId]) => [objectId, reasons]).reverse(),
  )
})

test('a reveal ends when the role of the operator no longer permits it', async () => {
  const admin = await signedIn(service, 'admin')
  const svcCardId = (await idsFor(admin))['svcCardId']![0]!
  const { name, operatorId } = await newOperator(service, 'support')
  const browser = new Browser(service)
  const isShown = async () => CANARY.test((await browser.get(`/cards/${svcCardId}`)).text)
  expectDone(await browser.signIn(name))
  expectDone(await browser.post('/personal-data/reveals', { objectId: svcCardId, reason: 'they called' }))
  expect(await isShown()).toBe(true)
  expectDone(await admin.send('PATCH', `/operators/${operatorId}`, { role: 'finance' }))
  expectDone(await browser.signIn(name))
  expect(await isShown()).toBe(false)
})

test('a reveal requires a reason, an object that can be revealed, and a role that permits it', async () => {
  const [viewer, support] = [await signedIn(service, 'viewer'), await signedIn(service, 'support')]
  const reveal = (browser: Browser, objectId: string, reason: string) =>
    browser.post('/personal-data/reveals', { objectId, reason })
  expect((await reveal(viewer, 'usr_x', 'asked')).error).toBe('role_too_low')
  expect((await reveal(support, 'usr_x', ' ')).error).toBe('validation_failed')
  // Characters without a width are no reason either.
  expect((await reveal(support, 'usr_x', '\u200b\u2060\u00a0')).error).toBe('validation_failed')
  const { status, text } = await reveal(support, 'mer_x', 'asked')
  expect([status, text]).toEqual([400, expect.stringContaining('objectId')])
})

test.each([
  ['/payments/pay_x/return', {}],
  ['/payments/pay_x/assign', { merchantId: 'mer_x' }],
  ['/ledger/journals/jrn_x/reverse', {}],
  ['/payouts/pyo_x/cancel', {}],
  ['/payouts/pyo_x/complete', { status: 'FAILED' }],
  ['/refunds/rfd_x/complete', { status: 'FAILED' }],
  ['/card-accounts/acc_x/funds', { amount: '1.00', reference: 'HDFC00000001' }],
  ['/tenants/mer_x/closing', {}],
  ['/users/usr_x/erase', {}],
])('%s requires a readable reason', async (path, rest) => {
  const admin = await signedIn(service, 'admin')
  for (const reason of ['  ', '\u200b\u200b', '…']) {
    const { error, text } = await admin.post(path, { ...rest, reason })
    expect([error, text]).toEqual(['validation_failed', expect.stringContaining('reason')])
  }
})
