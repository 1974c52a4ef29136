import { join, resolve } from 'node:path'
import { EXAMPLES } from '@svc/app/examples'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordCardRail } from '../harness/card-rail-examples.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { recordAllocations } from '../harness/coin-examples.ts'
import { recordLast } from '../harness/last-examples.ts'
import { asPartner, encryptFor, FORM, newPartner, type TestPartner } from '../harness/partner.ts'
import { trsOf } from '../harness/qr-codes.ts'
import { normalized, Recorder } from '../harness/recorder.ts'
import { recordMoneyOut } from '../harness/refund-examples.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

// The worked examples of the reference are what the service answers here. `npm run generate:examples` records them anew.
const RECORDED = join(resolve(import.meta.dirname, '../..'), 'packages/app/src/examples.json')

let service: TestService
let receiver: WebhookReceiver
let recorder: Recorder
let merchant: TestMerchant
let shop: Client
let incentive: TestPartner
let issuer: Client
let rewards: TestPartner
let employer: Client
let open: Client

beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
  open = service.client
  recorder = new Recorder(open)
  merchant = await service.newMerchant({ vpa: 'corner.shop@bank' })
  shop = await service.as(merchant)
  incentive = await newPartner(service)
  issuer = await asPartner(open, incentive)
  rewards = await newPartner(service, { products: ['employee_rewards'] })
  employer = await asPartner(open, rewards)
})
afterAll(async () => {
  await receiver.close()
  await service.close()
})

async function access(): Promise<void> {
  const { apiKey } = merchant
  await recorder.works('issueMerchantToken', 'A token for an API key', open, {
    headers: { 'API-Key': apiKey },
  })
  const wrong = `${apiKey.slice(0, -1)}${apiKey.endsWith('0') ? '1' : '0'}`
  await recorder.fails('issueMerchantToken', 'invalid_api_key', 'A mistyped key', open, {
    headers: { 'API-Key': wrong },
  })
  const form = (secret: string, grant = 'client_credentials') => ({
    headers: FORM,
    body: `grant_type=${grant}&client_id=${incentive.clientId}&client_secret=${secret}`,
  })
  await recorder.works('issuePartnerToken', 'Client credentials', open, form(incentive.clientSecret))
  await recorder.fails('issuePartnerToken', 'invalid_client', 'A wrong secret', open, form('mistyped'))
  const password = form(incentive.clientSecret, 'password')
  await recorder.fails('issuePartnerToken', 'unsupported_grant_type', 'Another grant', open, password)
  await recorder.works('oauthMetadata', 'What OAuth clients read', open)
  await recorder.works('getInterpretations', 'How this server reads the specification', open)
  await recorder.works('publishedKeys', 'Keys for tokens and for encryption', open)
}

async function qrCodes(): Promise<void> {
  const order = { qrName: 'Order 1042', amount: 249.5, fixedAmount: true, referenceNumber: 'order-1042' }
  const keyed = { headers: { 'Idempotency-Key': 'order-1042-qr' }, body: order }
  const made = await recorder.works('createQrCode', 'A code for one order', shop, keyed)
  const { qrCodeId } = payloadOf(made)
  const bad = { body: { qrName: 'Order 1043', amount: 249.505, colour: 'blue' } }
  await recorder.fails('createQrCode', 'validation_failed', 'Every bad field is named', shop, bad)
  const other = { body: { ...order, amount: 300 } }
  await recorder.fails(
    'createQrCode',
    'reference_in_use',
    'The reference has a code of another amount',
    shop,
    other,
  )
  const params = { qrCodeId }
  const missing = { params: { qrCodeId: 'qr_nothing' } }
  await recorder.works('getQrCode', 'With its image', shop, { params })
  await recorder.fails('getQrCode', 'qr_code_not_found', 'Not there, or not yours', shop, missing)
  await recorder.works('sandboxPay', 'A payer scans and pays', open, {
    body: { qrCodeId, payerVpa: 'asha@bank' },
  })
  const nobody = { body: { qrCodeId: 'qr_nothing', amount: 10 } }
  await recorder.fails('sandboxPay', 'qr_code_not_found', 'No such code', open, nobody)
  await recorder.works('searchQrCodes', 'By reference', shop, {
    body: { referenceNumber: 'order-1042', limit: 10 },
  })
  await recorder.fails('searchQrCodes', 'validation_failed', 'A limit out of range', shop, {
    body: { limit: 1000 },
  })
  await recorder.works('listPayments', 'What came for a code', shop, { params, query: { limit: '10' } })
  await recorder.fails('listPayments', 'qr_code_not_found', 'Not there, or not yours', shop, missing)
  await recorder.works('findPayments', 'Of one order', shop, { query: { referenceNumber: 'order-1042' } })
  const [{ paymentId }] = payloadOf(await shop.get('/api/v0/payments?referenceNumber=order-1042')).data
  await recorder.works('getPayment', 'One payment', shop, { params: { paymentId } })
  await recorder.fails('getPayment', 'payment_not_found', 'Not there, or not yours', shop, {
    params: { paymentId: 'pay_nothing' },
  })
  await recordMoneyOut(recorder, { service, merchant, shop, paymentId })
  const counter = payloadOf(await shop.post('/api/v0/qr-code', { qrName: 'Counter', multipleUse: true }))
  await recorder.works('cancelQrCode', 'No payment after this', shop, {
    params: { qrCodeId: counter.qrCodeId },
    body: {},
  })
  await recorder.fails('cancelQrCode', 'qr_code_not_found', 'Not there, or not yours', shop, {
    ...missing,
    body: {},
  })
  const stranger = { params, headers: { merchantAccessKey: 'mak_0123456789abcdefghjkmnpq' }, body: {} }
  await recorder.fails(
    'cancelQrCode',
    'access_key_mismatch',
    'The access key names another merchant',
    shop,
    stranger,
  )
  await rail()
}

async function rail(): Promise<void> {
  const made = payloadOf(await shop.post('/api/v0/qr-code', { qrName: 'Table 7', multipleUse: true }))
  const tr = (await trsOf(service.db.database, [made.qrCodeId])).get(made.qrCodeId)!
  const credit = { utr: 'AXISN0000000042', tr, amount: 75, payerVpa: 'asha@bank' }
  await recorder.works('acceptPayment', 'The bank tells of a credit', open, { body: credit })
  await open.notify(
    '/rails/upi/credits',
    { ...credit, tr: made.qrCodeId, utr: 'AXISN0000000043' },
    'rail-key-of-the-tests-0123456789abcdef',
  )
  await recorder.works('confirmRefund', 'The bank has sent the money back', open, {
    body: { utr: 'AXISN0000000043' },
  })
}

async function cards(): Promise<string> {
  const { companyId, cardAccountId, partnerId } = incentive
  const headers = { partnerId }
  const encrypted = { companyId, cardAccountId, firstName: 'Asha', mobile: '9876543210', loadAmount: '500' }
  const jwe = await encryptFor(incentive, encrypted)
  const text = { ...headers, 'content-type': 'application/json' }
  const made = await recorder.works('createGiftCard', 'Encrypted with the shared key', issuer, {
    headers: { ...text, 'Idempotency-Key': 'gift-1042' },
    encrypted,
    body: JSON.stringify(jwe),
  })
  const { svcCardId } = payloadOf(made)
  const tooMuch = { ...encrypted, loadAmount: '20000' }
  const refused = {
    headers: text,
    encrypted: tooMuch,
    body: JSON.stringify(await encryptFor(incentive, tooMuch)),
  }
  await recorder.fails('createGiftCard', 'load_over_limit', 'More than a gift card may hold', issuer, refused)
  const foreign = {
    headers: text,
    encrypted,
    body: JSON.stringify(await encryptFor(incentive, encrypted, rewards.sharedKey)),
  }
  await recorder.fails(
    'createGiftCard',
    'decryption_failed',
    'Encrypted with somebody else’s key',
    issuer,
    foreign,
  )
  await recorder.fails('createGiftCard', 'request_not_encrypted', 'Not encrypted at all', issuer, {
    headers,
    body: encrypted,
  })
  const params = { svcCardId }
  const missing = { params: { svcCardId: 'card_nothing' }, headers }
  const found = { headers, params }
  await recorder.works('getCard', 'One card', issuer, found)
  await recorder.fails('getCard', 'card_not_found', 'Not there, or not yours', issuer, missing)
  await recorder.works('searchCards', 'Incentive: the full record of one card', issuer, {
    headers,
    body: { companyId, cardAccountId, svcCardId },
  })
  const unnamed = { headers, body: { companyId, cardAccountId } }
  await recorder.fails(
    'searchCards',
    'validation_failed',
    'Incentive partners name the card',
    issuer,
    unnamed,
  )
  const nowhere = { headers, body: { companyId: 'com_nothing', cardAccountId, svcCardId } }
  await recorder.fails('searchCards', 'company_not_found', 'Not there, or not yours', issuer, nowhere)
  await recorder.works('changeCardStatus', 'Lock', issuer, {
    ...found,
    body: { status: 'L', reason: 'Lost' },
  })
  await issuer.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'UL' })
  await recorder.fails('changeCardStatus', 'validation_failed', 'Blocking wants a reason', issuer, {
    ...found,
    body: { status: 'BL' },
  })
  await recorder.fails('changeCardStatus', 'card_not_found', 'Not there, or not yours', issuer, {
    ...missing,
    body: { status: 'L' },
  })
  await recorder.works('setCardFlags', 'No online use', issuer, { ...found, body: { onlineAllowed: false } })
  await recorder.fails('setCardFlags', 'card_not_found', 'Not there, or not yours', issuer, {
    ...missing,
    body: { posAllowed: true },
  })
  await physicalCard(headers)
  await recorder.works('listCardChanges', 'Who changed what, and why', issuer, {
    ...found,
    query: { limit: '2' },
  })
  await recorder.fails('listCardChanges', 'card_not_found', 'Not there, or not yours', issuer, missing)
  await employees()
  await terminal(svcCardId)
  return svcCardId
}

async function physicalCard(headers: Record<string, string>): Promise<void> {
  const { companyId, cardAccountId } = incentive
  const order = await encryptFor(incentive, {
    companyId,
    cardAccountId,
    firstName: 'Ravi',
    physicalCard: true,
  })
  const { svcCardId } = payloadOf(await issuer.post('/api/v0/partner/svcCard', order))
  const asked = { params: { svcCardId }, headers, body: {} }
  await recorder.works('activateCard', 'It has arrived', issuer, asked)
  await issuer.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'BL', reason: 'Stolen' })
  await recorder.fails('activateCard', 'invalid_transition', 'It is blocked for good', issuer, asked)
}

async function employees(): Promise<void> {
  const { companyId, cardAccountId, partnerId } = rewards
  const order = (firstName: string) =>
    encryptFor(rewards, { companyId, cardAccountId, firstName, loadAmount: '500' })
  const headers = { partnerId }
  const lines = [await order('Sunita'), await order('Arjun')].join('\n')
  const upload = { headers: { ...headers, 'content-type': 'application/x-ndjson' }, body: lines }
  const { jobId } = payloadOf(await recorder.works('bulkIssueGiftCards', 'Two orders', employer, upload))
  const empty = { ...upload, body: ' ' }
  await recorder.fails('bulkIssueGiftCards', 'validation_failed', 'Nothing in it', employer, empty)
  const params = { jobId }
  const missing = { params: { jobId: 'blk_nothing' }, headers }
  const path = `/api/v0/partner/svcCard/bulk/${jobId}`
  while (payloadOf(await employer.get(path)).status !== 'DONE');
  await recorder.works('getBulkJob', 'How far it is', employer, { params, headers })
  await recorder.fails('getBulkJob', 'bulk_job_not_found', 'Not there, or not yours', employer, missing)
  await recorder.works('listBulkResults', 'What became of each order', employer, {
    params,
    headers,
    query: { limit: '10' },
  })
  await recorder.fails('listBulkResults', 'bulk_job_not_found', 'Not there, or not yours', employer, missing)
  const search = { headers, body: { companyId, cardAccountId } }
  await recorder.works('searchCards', 'Employee rewards: all cards of the account', employer, search)
}

async function terminal(svcCardId: string): Promise<void> {
  const params = { svcCardId }
  const spend = { amount: 120.5, channel: 'pos', merchantName: 'Corner Shop' }
  await recorder.works('sandboxSpend', 'At a shop', open, { params, body: spend })
  await recorder.fails('sandboxSpend', 'insufficient_funds', 'More than the card holds', open, {
    params,
    body: { ...spend, amount: 9_000 },
  })
  await recorder.fails('sandboxSpend', 'channel_not_allowed', 'Switched off by the holder', open, {
    params,
    body: { ...spend, channel: 'online' },
  })
  await recorder.works('sandboxRefund', 'The shop gives money back', open, { params, body: { amount: 20.5 } })
  await recorder.fails('sandboxRefund', 'refund_over_spent', 'More than was spent', open, {
    params,
    body: { amount: 500 },
  })
}

async function coins(): Promise<void> {
  const { companyId, userId } = incentive
  const body = {
    event: 'referral.completed',
    amount: 100,
    title: 'Thank you',
    perUserDailyLimit: 250,
    coinsExpireAfterDays: 365,
  }
  const { coinConfigId } = payloadOf(
    await recorder.works('createCoinConfig', 'What an event earns', issuer, { body }),
  )
  await recorder.fails('createCoinConfig', 'coin_config_overlaps', 'The event has an active one', issuer, {
    body,
  })
  const params = { coinConfigId }
  const missing = { params: { coinConfigId: 'ccf_nothing' } }
  await recorder.works('getCoinConfig', 'One configuration', issuer, { params })
  await recorder.fails('getCoinConfig', 'coin_config_not_found', 'Not there, or not yours', issuer, missing)
  await recorder.fails('getCoinConfig', 'invalid_token', 'Without a token', open, { params })
  const change = { params, headers: { 'If-Match': '"1"' }, body: { amount: 120 } }
  await recorder.works('updateCoinConfig', 'More coins from now on', issuer, change)
  await recorder.fails(
    'updateCoinConfig',
    'revision_mismatch',
    'Somebody changed it meanwhile',
    issuer,
    change,
  )
  await recorder.fails('updateCoinConfig', 'revision_required', 'Without If-Match', issuer, {
    params,
    body: { amount: 130 },
  })
  await recorder.works('searchCoinConfigs', 'Active ones', issuer, {
    body: { status: 'ACTIVE', event: 'referral.completed' },
  })
  await recorder.fails('searchCoinConfigs', 'validation_failed', 'A status that does not exist', issuer, {
    body: { status: 'ON' },
  })
  await recorder.works('listCoinConfigRevisions', 'What it said before', issuer, { params })
  await recorder.fails(
    'listCoinConfigRevisions',
    'coin_config_not_found',
    'Not there, or not yours',
    issuer,
    missing,
  )
  const award = { requestId: 'referral-77', event: 'referral.completed', userId, companyId }
  await recorder.works('allocateCoins', 'An event happened', issuer, { body: award })
  await recorder.fails('allocateCoins', 'no_coin_config', 'Nothing is set for the event', issuer, {
    body: { ...award, requestId: 'r-2', event: 'unknown.event' },
  })
  await recorder.fails('allocateCoins', 'request_id_conflict', 'The id of another request', issuer, {
    body: { ...award, event: 'other.event' },
  })
  const redeem = { requestId: 'voucher-9', userId, amount: 50 }
  await recorder.works('redeemCoins', 'The user spends coins', issuer, { body: redeem })
  await recorder.fails('redeemCoins', 'insufficient_coins', 'More than the user has', issuer, {
    body: { ...redeem, requestId: 'voucher-10', amount: 5_000 },
  })
  await recordAllocations(recorder, issuer, { companyId, userId })
  await recorder.works('deactivateCoinConfig', 'No more coins for it', issuer, { params, body: {} })
  await recorder.fails('deactivateCoinConfig', 'coin_config_not_found', 'Not there, or not yours', issuer, {
    ...missing,
    body: {},
  })
}

/** A tenant of their own, whose events nothing else touches. */
async function events(): Promise<void> {
  const reporter = await service.as(await service.newMerchant())
  const body = { url: receiver.url(), types: ['qr_code.created', 'qr_code.cancelled'] }
  const { endpointId } = payloadOf(
    await recorder.works('createWebhookEndpoint', 'The secret is shown once', reporter, { body }),
  )
  await recorder.fails(
    'createWebhookEndpoint',
    'webhook_url_refused',
    'An address that is no web address',
    reporter,
    { body: { url: 'ftp://shop.example.com/hook' } },
  )
  const { qrCodeId } = payloadOf(await reporter.post('/api/v0/qr-code', { qrName: 'Order 1042' }))
  const path = `/api/v0/webhook-endpoints/${endpointId}`
  let attempts: Json[] = []
  while (attempts.length === 0) attempts = payloadOf(await reporter.get(`${path}/attempts`)).data
  await recorder.works('listEvents', 'From the first one on', reporter, {
    query: { after: '0', limit: '10' },
  })
  await recorder.fails('listEvents', 'validation_failed', 'A place that is no number', reporter, {
    query: { after: qrCodeId },
  })
  const params = { endpointId }
  const missing = { params: { endpointId: 'whe_nothing' } }
  await recorder.works('listWebhookEndpoints', 'All of them', reporter)
  await recorder.works('getWebhookEndpoint', 'One of them', reporter, { params })
  await recorder.fails(
    'getWebhookEndpoint',
    'webhook_endpoint_not_found',
    'Not there, or not yours',
    reporter,
    missing,
  )
  await recorder.works('listWebhookAttempts', 'What was sent and answered', reporter, {
    params,
    query: { limit: '10' },
  })
  await recorder.fails(
    'listWebhookAttempts',
    'webhook_endpoint_not_found',
    'Not there, or not yours',
    reporter,
    missing,
  )
  await recorder.works('resendWebhookEvent', 'One event again', reporter, {
    params,
    body: { eventId: attempts[0].eventId },
  })
  await recorder.fails('resendWebhookEvent', 'event_not_found', 'No such event', reporter, {
    params,
    body: { eventId: 'evt_nothing' },
  })
  const range = { from: '2026-01-01T00:00:00+05:30', to: '2026-01-02T00:00:00+05:30' }
  await recorder.works('replayWebhookEvents', 'A day again', reporter, { params, body: range })
  await recorder.fails(
    'replayWebhookEvents',
    'webhook_endpoint_not_found',
    'Not there, or not yours',
    reporter,
    { ...missing, body: range },
  )
  await recorder.works('rotateWebhookSecret', 'Both secrets sign for an hour', reporter, {
    params,
    body: { graceSeconds: 3600 },
  })
  await recorder.fails(
    'rotateWebhookSecret',
    'webhook_endpoint_not_found',
    'Not there, or not yours',
    reporter,
    { ...missing, body: {} },
  )
  await recorder.works('updateWebhookEndpoint', 'Switched off', reporter, {
    params,
    body: { enabled: false },
  })
  await recorder.fails(
    'updateWebhookEndpoint',
    'webhook_url_refused',
    'A host inside your network',
    reporter,
    {
      params,
      body: { url: 'https://10.0.0.8/hook' },
    },
  )
  await recorder.works('deleteWebhookEndpoint', 'It is sent nothing more', reporter, { params })
  await recorder.fails(
    'deleteWebhookEndpoint',
    'webhook_endpoint_not_found',
    'It is gone already',
    reporter,
    {
      params,
    },
  )
  await recorder.works('publishedWebhookKeys', 'Keys of `v1a` signatures', open)
}

/** A stream has no end, and metrics never the same figures: told in the test below instead. */
const WITHOUT_SUCCESS = new Set(['streamEvents', 'metrics'])

/** Public documents and probes: there is nothing that a caller could send wrong. */
const takesNothing = ({ auth, ignores, method }: (typeof OPERATIONS)[number]): boolean =>
  method === 'GET' && auth === 'none' && ignores?.includes('query') === true

test('every example of the reference is what the service answers', async () => {
  await access()
  await qrCodes()
  await cards()
  await recordCardRail(recorder, { issuer, open, partner: incentive })
  await coins()
  await events()
  await recordLast(recorder, open, shop)
  for (const { id, envelope: family } of OPERATIONS.filter((one) => !takesNothing(one)))
    if (family !== 'oauth' && !recorder.examples[id]?.some(({ status }) => status >= 400))
      await recorder.fails(id, 'validation_failed', 'A parameter that does not exist', open, {
        query: { verbose: 'true' },
      })
  expect(recorder.differences).toEqual([])
  const text = `${JSON.stringify(normalized(recorder.examples), null, 1)}\n`
  await expect(text).toMatchFileSnapshot(RECORDED)
})

test('every operation has an example of success, and one of failure where a caller can send something wrong', () => {
  for (const operation of OPERATIONS) {
    const { id } = operation
    const statuses = EXAMPLES[id]?.map(({ status }) => status) ?? []
    if (!WITHOUT_SUCCESS.has(id)) expect(statuses, id).toContain(200)
    expect(takesNothing(operation) || statuses.some((status) => status >= 400), id).toBe(true)
  }
})
