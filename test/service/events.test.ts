import { checkInvariants } from '@svc/console-api/invariants'
import { inviteMember, resetMemberFactor } from '@svc/console-api/portal/member-store'
import { EVENT_TYPES } from '@svc/contract/events'
import { endDueCards } from '@svc/core/cards/end/end-card'
import { reverseReturn } from '@svc/core/cards/end/return-card'
import { expireCardHolds } from '@svc/core/cards/rail/expire-card-holds'
import { announceExpiringCoins } from '@svc/core/coins/announce-coins'
import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import { sendInRun } from '@svc/core/payments/disputes/evidence-sending'
import { requestEvidence } from '@svc/core/payments/disputes/request-evidence'
import { reverseBatch } from '@svc/core/payments/settlements/reverse-batch'
import { findAssignment } from '@svc/core/payments/suspense/find-suspense'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { unassignCredit } from '@svc/core/payments/suspense/unassign-credit'
import { expireQrCodes } from '@svc/core/qr-codes/expire-qr-codes'
import { revokeApiKey } from '@svc/core/tenants/api-key'
import { issueCredential } from '@svc/core/tenants/credentials'
import { forgetEvents } from '@svc/core/webhooks/feed-horizon'
import { required } from '@svc/kernel/invariant'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  newTransferUtr,
  notifyTransfer,
  numberOf,
  reverseEntry,
  transferTo,
  withdraw,
} from '../harness/bank-rail.ts'
import { Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { COINS, newConfig, newUsers, voidConfirmedCoins } from '../harness/coins.ts'
import { rebase } from '../harness/contract.ts'
import { endedDispute, newDispute } from '../harness/disputes.ts'
import { expectFailure } from '../harness/failure.ts'
import { newFirstInvoice } from '../harness/invoices.ts'
import { loadAndUnload, newMealAccount } from '../harness/meal-account.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { giveAccount } from '../harness/payouts.ts'
import { cancel, creditOf, newCode, newCodes, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, RAIL_KEY, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

const DAY_MS = 86_400_000
const ENDPOINTS = '/api/v0/webhook-endpoints'

let service: TestService
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await openService({ env: { EVENTS_DAYS: '10' } })
  receiver = await WebhookReceiver.open()
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

async function feed(tenant: Client, query = ''): Promise<Json> {
  return payloadOf(await tenant.get(`/api/v0/events?limit=500${query}`))
}
async function feedOf(tenant: Client, count: number): Promise<Json[]> {
  for (;;) {
    const { data } = await feed(tenant)
    if (data.length >= count) return data
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A dispute whose evidence is sent, and of which an operator asks for more. */
async function contest(
  tenant: Client,
  { merchantId, paymentId }: { readonly merchantId: string; readonly paymentId: string },
): Promise<void> {
  const contested = await newDispute(service, paymentId)
  payloadOf(await tenant.post(`/api/v0/disputes/${contested}/evidence`, { evidence: 'Delivered' }))
  await sendInRun(service.app.services, contested, { actor: 'operator asha' })
  await operatorsOf(service.app.services.commands)
    .open(requestEvidence)
    .run({ merchantId, disputeId: contested, request: 'The bill, please' })
}

/** Makes each event of a merchant happen once or more. */
async function merchantEvents(): Promise<Json[]> {
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  const [plain, single, fixed] = [
    await newCode(service, tenant, { multipleUse: true, qrName: 'Till 1', customParams: { till: '1' } }),
    await newCode(service, tenant),
    await newCode(service, tenant, { multipleUse: true, fixedAmount: true, amount: 10 }),
  ]
  const expiry = new Date(service.clock.now() + 60_000).toISOString()
  await newCode(service, tenant, { expiry, multipleUse: true })
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(single.tr)))
  // The simulated bank fails it.
  const refund = { amount: 0.95, referenceNumber: 'return-1' }
  payloadOf(await tenant.post(`/api/v0/payments/${paymentId}/refunds`, refund))
  const tooMuch = creditOf(fixed.tr, { amount: 11 })
  payloadOf(await notifyCredit(service.client, tooMuch))
  const { utr } = payloadOf(await notifyCredit(service.client, creditOf(plain.tr, { amount: 3 })))
  await settledByMistake(utr)
  const stray = payloadOf(await notifyCredit(service.client, creditOf('none', { payeeVpa: merchant.vpa })))
  const { merchantId } = merchant
  const assign = operatorsOf(service.app.services.commands).open(resolveSuspense)
  await assign.run({ tenantId: merchantId, paymentId: stray.paymentId, merchantId, reason: 'by phone' })
  const lost = payloadOf(await notifyCredit(service.client, creditOf('none', { payeeVpa: merchant.vpa })))
  await assign.run({ tenantId: merchantId, paymentId: lost.paymentId, merchantId, reason: 'by phone' })
  const { services } = service.app
  const assignment = await services.database.operate((tx) => findAssignment(tx, lost.paymentId, ''))
  await operatorsOf(services.commands)
    .open(unassignCredit)
    .run({ ...required(assignment, 'it was assigned'), reason: 'of another' })
  for (const status of ['WON', 'LOST'] as const) await endedDispute(service, paymentId, status)
  await contest(tenant, { merchantId, paymentId })
  await operatorsOf(service.app.services.commands)
    .open(adjustPayment)
    .run({
      merchantId,
      paymentId,
      amountPaise: paise(9_50n),
      reference: 'LETTER0001',
      reason: 'letter of the bank',
    })
  const { tr } = await newCode(service, tenant, { multipleUse: true })
  await newFirstInvoice(service, { merchantId, tr })
  await giveAccount(service, merchantId)
  for (const outcome of ['FAILED', 'PAID']) payloadOf(await tenant.post('/sandbox/payouts', { outcome }))
  await cancel(tenant, plain.qrCodeId)
  const { database, keyring, random } = service.app.services
  await database.operate(async (tx) => {
    const maker = { keyring, random, mode: 'test' } as const
    const issued = await issueCredential(tx, maker, { tenantId: merchantId, name: 'spare' })
    await revokeApiKey(tx, issued.credentialId)
  })
  await invitedAndReset(merchantId)
  service.clock.advance(61_000)
  await expireQrCodes(service.app.services)
  return feedOf(await service.as(merchant), 39)
}

/** A payment that a transfer of the bank settles, which is taken back. */
async function settledByMistake(utr: string): Promise<void> {
  const transfer = {
    batchUtr: newUtr(),
    valueDate: calendarDay(new Date(), 'Asia/Kolkata'),
    lines: [{ kind: 'payment', reference: utr, amount: '3.00' }],
  }
  const settled = await service.client.notify('/rails/upi/settlements', transfer, RAIL_KEY)
  const { batchId } = payloadOf(settled)
  await operatorsOf(service.app.services.commands).open(reverseBatch).run({ batchId, reason: 'wrong file' })
}

/** A member who is invited, has a second factor, and loses it. */
async function invitedAndReset(tenantId: string): Promise<void> {
  const { database, keyring, random } = service.app.services
  const tools = { keyring, random, now: new Date() }
  const person = {
    name: 'new.person',
    role: 'viewer',
    hours: 1,
    createdBy: 'cli',
    publicUrl: 'http://x',
  } as const
  const { member } = await database.operate((tx) => inviteMember(tx, tools, { tenantId, ...person }))
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `insert into member_totp (tenant_id, member_id, secret_encrypted, created_at) values ($1, $2, 'x', now())`,
      [tenantId, member.memberId],
    ),
  )
  await database.operate((tx) => resetMemberFactor(tx, tenantId, member.memberId))
}

/** The same of a partner. */
async function partnerEvents(): Promise<Json[]> {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner))
  payloadOf(await client.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'L' }))
  payloadOf(await client.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'UL' }))
  const shop = { amount: 100.5, channel: 'pos', merchantName: 'Corner Shop' }
  payloadOf(await client.post(`/sandbox/cards/${svcCardId}/spend`, shop))
  await cardEvents(payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}`)).token)
  payloadOf(await client.post(`/sandbox/cards/${svcCardId}/refund`, { amount: 50.25 }))
  const rules = '/api/v0/partner/spend-rules'
  const { spendRuleId } = payloadOf(await client.post(rules, { name: 'No bets', mccs: ['7995'] }))
  payloadOf(await client.send('DELETE', `${rules}/${spendRuleId}`))
  const { event } = await newConfig(client, { amount: 20, coinsExpireAfterDays: 1 })
  const [userId] = await newUsers(service, partner, 1)
  const { companyId } = partner
  payloadOf(await client.post(`${COINS}/allocate`, { requestId: 'a', event, userId, companyId }))
  payloadOf(await client.post(`${COINS}/redeem`, { requestId: 'r', userId, amount: 5 }))
  await announceExpiringCoins(service.app.services)
  service.clock.advance(3 * DAY_MS)
  await expireDueCoins(service.app.services)
  await endOfCards(partner)
  await lowAccount(partner)
  await reloaded(partner)
  await voidConfirmedCoins(service, partner)
  const transfer = transferTo(await numberOf(service, partner))
  payloadOf(await notifyTransfer(service.client, transfer))
  const paidBack = newTransferUtr()
  await withdraw(service, partner, 1_00n, paidBack)
  for (const reference of [paidBack, transfer.utr]) await reverseEntry(service, partner, reference)
  const [leaving] = await newUsers(service, partner, 1)
  const later = await asPartner(service.client, partner)
  payloadOf(await later.post(`/api/v0/partner/users/${leaving}/erase`, {}))
  return feedOf(later, 49)
}

/** A meal card, loaded again and unloaded. */
async function reloaded(partner: TestPartner): Promise<void> {
  const client = await asPartner(service.client, partner)
  const { meal, virtualAccountNumber } = await newMealAccount(client, partner)
  payloadOf(await notifyTransfer(service.client, transferTo(virtualAccountNumber)))
  await loadAndUnload(client, payloadOf(await createCard(client, meal)).svcCardId)
}

/** A load that brings the card account below its threshold. */
async function lowAccount(partner: TestPartner): Promise<void> {
  const client = await asPartner(service.client, partner)
  const path = `/api/v0/partner/card-accounts/${partner.cardAccountId}`
  const { balance } = payloadOf(await client.get(path))
  payloadOf(await client.patch(path, { lowBalance: balance }))
  payloadOf(await createCard(client, partner))
}

/** What the end of cards causes: one is replaced, one expires, two are blocked. */
async function endOfCards(partner: TestPartner): Promise<void> {
  const today = () => calendarDay(new Date(service.clock.now()), 'Asia/Kolkata')
  // On the first of a month its end may be more than 30 days away.
  if (today().endsWith('-01')) service.clock.advance(DAY_MS)
  const client = await asPartner(service.client, partner)
  const newCard = async (): Promise<string> => payloadOf(await createCard(client, partner)).svcCardId
  const path = (svcCardId: string) => `/api/v0/partner/svcCard/${svcCardId}`
  const block = { status: 'BL', reason: 'lost' }
  const update = (set: string, svcCardId: string, value: unknown) =>
    asSuperuser(service.db.database, (db) =>
      db.query(`update cards set due_at = now(), ${set} where svc_card_id = $1`, [svcCardId, value]),
    )
  const expires = 'expiry_month = extract(month from $2::date), expiry_year = extract(year from $2::date)'
  const fromNow = (days: number) => new Date(service.clock.now() + days * DAY_MS)
  payloadOf(await client.post(`${path(await newCard())}/replace`, { reason: 'lost' }))
  const [expired, unclaimed, returned] = [await newCard(), await newCard(), await newCard()]
  for (const svcCardId of [unclaimed, returned])
    payloadOf(await client.patch(`${path(svcCardId)}/status`, block))
  await update(expires, expired, today())
  await update('unclaimed_at = $2', unclaimed, fromNow(10))
  await endDueCards(service.app.services)
  await update(expires, expired, '2020-01-01')
  const giveBack = async (consentReference: string): Promise<string> =>
    payloadOf(await client.post(`${path(returned)}/return`, { consentReference })).returnId
  const args = { partnerId: partner.partnerId, svcCardId: returned, returnId: await giveBack('letter-1') }
  await service.app.services.commands.open(reverseReturn).run({ ...args, reason: 'found' })
  await giveBack('letter-2')
  await update('remarks = $2', returned, 'lost')
  await asSuperuser(service.db.database, (db) => db.query('update card_returns set due_at = now()'))
  await endDueCards(service.app.services)
}

/** What the card network causes; the last hold expires. */
async function cardEvents(token: string): Promise<void> {
  const terminal = new Terminal(service.client, token)
  const { authorizationId } = await terminal.authorize(10)
  await terminal.capture(5, { authorizationId })
  await terminal.void({ authorizationId })
  await terminal.authorize(100_000)
  await terminal.authorize(1)
  await asSuperuser(service.db.database, (db) =>
    db.query(`update card_authorizations set expires_at = now() - interval '1 second'`),
  )
  await expireCardHolds(service.app.services)
}

test('every event type is emitted, and each event has the shape that the reference documents for its type', async () => {
  const document = (await service.client.get('/openapi.json')).json
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ ...document, $id: 'openapi' })
  const events = [...(await merchantEvents()), ...(await partnerEvents())]
  for (const event of events) {
    const { schema } = document.webhooks[event.type].post.requestBody.content['application/json']
    const check = ajv.compile(rebase(schema) as object)
    expect(check(event), `${event.type}: ${ajv.errorsText(check.errors)}`).toBe(true)
  }
  expect([...new Set(events.map(({ type }) => type))].sort()).toEqual([...EVENT_TYPES].sort())
  expect(Object.keys(document.webhooks).sort()).toEqual([...EVENT_TYPES].sort())
})

test('old events are deleted from the beginning of the feed; a request for them is rejected with events_forgotten, and never leaves a gap', async () => {
  const merchant = await service.newMerchant()
  const old = await service.as(merchant)
  const idle = await service.newMerchant()
  await newCodes(service, old, 5)
  await newCode(service, await service.as(idle))
  await feedOf(old, 5)
  await feedOf(await service.as(idle), 1)
  // The age of rows counts by the database's clock, so they are made old there.
  await asSuperuser(service.db.database, async (db) => {
    const earlier = `created_at = created_at - interval '15 days'`
    const tenants = [[merchant.merchantId, idle.merchantId]]
    await db.query(`update outbox set ${earlier} where tenant_id = any ($1)`, tenants)
    await db.query(`update event_numbers set ${earlier} where tenant_id = any ($1)`, tenants)
    await db.query(`update qr_codes set ${earlier} where merchant_id = any ($1)`, tenants)
  })
  const tenant = await service.as(merchant)
  await newCodes(service, tenant, 2)
  await feedOf(tenant, 7)
  await Promise.all([forgetEvents(service.app.services), forgetEvents(service.app.services)])
  expect((await feed(tenant)).data.map(({ sequence }: Json) => sequence)).toEqual([6, 7])
  expect((await feed(tenant, '&after=5')).recordsCount).toBe(2)
  for (const after of [0, 4]) {
    const response = await tenant.get(`/api/v0/events?after=${after}`)
    expectFailure(response, 'events_forgotten')
    expect(response.errorDescription).toContain('after=5')
    expectFailure(await tenant.get(`/api/v0/events/stream?after=${after}`), 'events_forgotten')
  }
  expectFailure(await tenant.get('/api/v0/events/stream', { 'last-event-id': '4' }), 'events_forgotten')
  // A feed of which nothing is left goes on from where it was.
  const left = await feed(await service.as(idle))
  expect(left).toMatchObject({ recordsCount: 0, next: 1 })
  expect((await feed(await service.as(idle), `&after=${left.next}`)).recordsCount).toBe(0)
  const { endpointId } = payloadOf(await tenant.post(ENDPOINTS, { url: receiver.url('/forgotten') }))
  const to = new Date(service.clock.now() + 60_000).toISOString()
  const replay = (from: number) =>
    tenant.post(`${ENDPOINTS}/${endpointId}/replay`, { from: new Date(from).toISOString(), to })
  expectFailure(await replay(service.clock.now() - 16 * DAY_MS), 'events_forgotten')
  expect(payloadOf(await replay(service.clock.now() - DAY_MS))).toMatchObject({ queued: 2 })
  const reports = await checkInvariants(service.app.services.database)
  expect(reports.filter(({ violations }) => violations.length > 0)).toEqual([])
})
