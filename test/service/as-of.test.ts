import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { closeExpiredQrCodes, expireQrCodes } from '@svc/core/qr-codes/expire-qr-codes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newIdentity, referenceTo, Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asCoinPartner, COINS, newConfig } from '../harness/coins.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { closeAs, newDispute } from '../harness/disputes.ts'
import { expectFailure } from '../harness/failure.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { cancel, creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { notifyRefund } from '../harness/refunds.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let operator: Browser
let partner: TestPartner
let merchant: TestMerchant
let shop: Client
let issuer: Client
let rewards: Client
/** Tokens live an hour; whole days pass in here. */
const CLIENTS = { shop: () => shop, issuer: () => issuer, rewards: () => rewards }
type Watched = [as: keyof typeof CLIENTS, url: string]
beforeAll(async () => {
  service = await openService({ background: false })
  operator = await signedIn(service, 'operator')
  merchant = await service.newMerchant()
  partner = await newPartner(service)
  shop = await service.as(merchant)
  issuer = await asPartner(service.client, partner)
  rewards = await asCoinPartner(service.client, partner)
})
afterAll(() => service.close())

interface Read {
  readonly as: keyof typeof CLIENTS
  readonly url: string
  readonly at: string
  readonly shown: Json
}

/** What is watched is read after each step, and again as of each of these instants when all is done. */
class Watch {
  readonly #watched: Watched[] = []
  readonly #reads: Read[] = []

  /** Carries out a step; what it returns is watched from then on. */
  async step(work: () => Promise<Watched[] | void>): Promise<void> {
    service.clock.advance(1_000)
    this.#watched.push(...((await work()) ?? []))
    const at = new Date(service.clock.now()).toISOString()
    for (const [as, url] of this.#watched)
      this.#reads.push({ as, url, at, shown: withoutReadingTime(payloadOf(await CLIENTS[as]().get(url))) })
  }

  async compare(): Promise<number> {
    for (const { as, url, at, shown } of this.#reads) {
      const then = payloadOf(await CLIENTS[as]().get(`${url}?asOf=${at}`))
      expect([url, at, withoutReadingTime(then)]).toEqual([url, at, shown])
    }
    return this.#reads.length
  }
}

/** The exact balance says when it was read. */
const withoutReadingTime = (shown: Json): Json => ({ ...shown, asOf: undefined })

const codeAt = (qrCodeId: string) => `/api/v0/qr-code/${qrCodeId}`
const paymentAt = (paymentId: string) => `/api/v0/payments/${paymentId}`
const cardAt = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const pay = async (credit: ReturnType<typeof creditOf>): Promise<string> =>
  payloadOf(await notifyCredit(service.client, credit, service.clock.now())).paymentId

/** Two disputes of a payment: one is won, the other one lost. */
async function dispute(watch: Watch, paymentId: string): Promise<void> {
  const disputeIds: string[] = []
  for (const amount of [15, 20])
    await watch.step(async () => void disputeIds.push(await newDispute(service, paymentId, { amount })))
  await watch.step(async () => void (await closeAs(service, disputeIds[0]!, 'WON')))
  await watch.step(async () => void (await closeAs(service, disputeIds[1]!, 'LOST')))
}

test('codes, payments and refunds can be read as of every instant since their creation', async () => {
  const watch = new Watch()
  const reusable = await newCode(service, shop, { multipleUse: true })
  const single = await newCode(service, shop, { amount: 25 })
  const brief = await newCode(service, shop, {
    expiry: new Date(service.clock.now() + 20_000).toISOString(),
  })
  const [first, returned] = [creditOf(reusable.tr, { amount: 100 }), creditOf(brief.tr)]
  let paymentId = ''
  const refundIds: string[] = []
  await watch.step(async () => [reusable, single, brief].map(({ qrCodeId }) => ['shop', codeAt(qrCodeId)]))
  await watch.step(async () => {
    paymentId = await pay(first)
    return [['shop', paymentAt(paymentId)]]
  })
  await watch.step(async () => {
    await pay(creditOf(reusable.tr, { amount: 7.5 }))
    await pay(creditOf(single.tr, { amount: 25 }))
  })
  for (const amount of [40.96, 10.96])
    await watch.step(async () => {
      const request = { amount, referenceNumber: `r-${amount}` }
      const { refundId } = payloadOf(await shop.post(`${paymentAt(paymentId)}/refunds`, request))
      refundIds.push(refundId)
      return [['shop', `${paymentAt(paymentId)}/refunds/${refundId}`]]
    })
  const complete = (id: string, body: object) =>
    watch.step(async () => {
      expect((await operator.post(`/refunds/${id}/complete`, body)).status).toBe(200)
    })
  await complete(refundIds[1]!, { status: 'FAILED', reason: 'account closed' })
  await complete(refundIds[0]!, { status: 'REFUNDED', utr: newUtr() })
  await dispute(watch, paymentId)
  let strayId = ''
  await watch.step(async () => {
    strayId = await pay(creditOf('NOSUCHCODE', { payeeVpa: merchant.vpa }))
    return [['shop', paymentAt(strayId)]]
  })
  await watch.step(async () => {
    await operatorsOf(service.app.services.commands).open(resolveSuspense).run({
      tenantId: merchant.merchantId,
      merchantId: merchant.merchantId,
      paymentId: strayId,
      reason: 'the till says so',
    })
  })
  await watch.step(async () => void payloadOf(await cancel(shop, reusable.qrCodeId)))
  service.clock.advance(20_000)
  await watch.step(async () => void (await expireQrCodes(service.app.services)))
  service.clock.advance(120_000)
  await watch.step(async () => void (await closeExpiredQrCodes(service.app.services)))
  await watch.step(async () => void payloadOf(await cancel(shop, brief.qrCodeId)))
  await watch.step(async () => [['shop', paymentAt(await pay(returned))]])
  await watch.step(async () => {
    payloadOf(await notifyRefund(service, { utr: returned.utr }))
  })
  expect(await watch.compare()).toBeGreaterThan(60)
})

test('cards, their exact balances and their accounts can be read as of every instant', async () => {
  const watch = new Watch()
  let svcCardId = ''
  let terminal: Terminal | undefined
  const [hold, second] = [newIdentity(), newIdentity()]
  const change = (path: string, body: object) =>
    watch.step(async () => void payloadOf(await issuer.patch(cardAt(svcCardId, path), body)))
  await watch.step(async () => {
    const card = payloadOf(await createCard(issuer, partner, { loadAmount: 500 }))
    svcCardId = card.svcCardId
    terminal = new Terminal(service.client, card.token)
    return [
      ['issuer', cardAt(svcCardId)],
      ['issuer', cardAt(svcCardId, '/balance')],
      ['issuer', `/api/v0/partner/card-accounts/${partner.cardAccountId}`],
    ]
  })
  await watch.step(async () => void (await terminal!.authorize(200, hold)))
  await watch.step(async () => void (await terminal!.capture(50.25, referenceTo(hold))))
  await watch.step(async () => void (await terminal!.void({ amount: 30, ...referenceTo(hold) })))
  await watch.step(async () => void (await terminal!.advise('forced_post', 5.5, referenceTo(hold))))
  await change('/status', { status: 'L', reason: 'abroad' })
  await change('/status', { status: 'UL' })
  await change('/flags', { posAllowed: true, onlineAllowed: false })
  await watch.step(async () => void (await terminal!.capture(60, { ...referenceTo(hold), final: true })))
  await watch.step(async () => void (await terminal!.refund(20, {})))
  await watch.step(async () => void (await terminal!.authorize(100, second)))
  await watch.step(async () => void payloadOf(await createCard(issuer, partner, { loadAmount: 70 })))
  await change('/status', { status: 'BL', reason: 'stolen' })
  await watch.step(async () => {
    const { svcCardId: next } = payloadOf(
      await issuer.post(cardAt(svcCardId, '/replace'), { reason: 'stolen' }),
    )
    return [['issuer', cardAt(next)]]
  })
  expect(await watch.compare()).toBe(43)
})

test('coins can be read as of every instant, awarded, redeemed and expired', async () => {
  const watch = new Watch()
  const url = `${COINS}/users/${partner.userId}/balance`
  const award = (event: string, requestId: string) =>
    watch.step(async () => {
      const { userId, companyId } = partner
      payloadOf(await rewards.post(`${COINS}/allocate`, { requestId, event, userId, companyId }))
      return requestId === 'a' ? [['rewards', url]] : []
    })
  const [brief, long] = await Promise.all([
    newConfig(rewards, { amount: 10, coinsExpireAfterDays: 1 }),
    newConfig(rewards, { amount: 5, coinsExpireAfterDays: 30 }),
  ])
  await award(brief!.event, 'a')
  await award(long!.event, 'b')
  await watch.step(async () => {
    const redemption = { requestId: 'c', userId: partner.userId, amount: 12 }
    payloadOf(await rewards.post(`${COINS}/redeem`, redemption))
  })
  await award(brief!.event, 'd')
  service.clock.advance(86_400_000)
  rewards = await asCoinPartner(service.client, partner)
  await watch.step(async () => void (await expireDueCoins(service.app.services)))
  expect(await watch.compare()).toBe(5)
})

test('an instant before the creation finds nothing; a future or missing instant is rejected by name', async () => {
  ;[shop, issuer] = [await service.as(merchant), await asPartner(service.client, partner)]
  const before = new Date(service.clock.now()).toISOString()
  service.clock.advance(1_000)
  const { qrCodeId } = await newCode(service, shop)
  const { svcCardId } = payloadOf(await createCard(issuer, partner))
  expectFailure(await shop.get(`${codeAt(qrCodeId)}?asOf=${before}`), 'qr_code_not_found')
  expectFailure(await issuer.get(`${cardAt(svcCardId)}?asOf=${before}`), 'card_not_found')
  for (const asOf of ['2999-01-01T00:00:00Z', 'yesterday']) {
    const refused = await shop.get(`${codeAt(qrCodeId)}?asOf=${asOf}`)
    expectFailure(refused, 'validation_failed')
    expect(refused.text).toContain('asOf')
  }
})
