import { checkInvariants } from '@svc/console-api/invariants'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { passMidnight } from '../harness/business-day.ts'
import { newIdentity, referenceTo, Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let issuer: Client

beforeAll(async () => {
  service = await openService({ env: { CARD_DAY_MAX_RUPEES: '900' } })
  passMidnight(service)
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database)).flatMap(({ name, violations }) =>
    violations.length > 0 ? [[name, violations]] : [],
  )
  await service.close()
  expect(broken).toEqual([])
})

async function newCard(): Promise<{ svcCardId: string; terminal: Terminal }> {
  const { svcCardId, token } = payloadOf(await createCard(issuer, partner))
  return { svcCardId, terminal: new Terminal(service.client, token) }
}
const path = '/api/v0/partner/svcCard'
const transactionsOf = async (svcCardId: string): Promise<Json[]> =>
  payloadOf(await issuer.get(`${path}/${svcCardId}/transactions?kind=authorization`)).data

test('where the message allows it, what the card has is approved of a larger amount', async () => {
  const { svcCardId, terminal } = await newCard()
  const whole = await terminal.authorize(120, { partialApproval: true })
  expect(whole).toMatchObject({ status: 'approved', responseCode: '00', otbBalance: 380 })
  expect(whole).not.toHaveProperty('approvedAmount')
  const identity = newIdentity()
  const part = await terminal.authorize(400, { ...identity, partialApproval: 'Y' })
  expect(part).toMatchObject({ responseCode: '10', amount: 400, approvedAmount: 380, otbBalance: 0 })
  expect(await terminal.authorize(400, { ...identity, partialApproval: true })).toEqual(part)
  // The same message without its permission is another one.
  expect(await terminal.authorize(400, identity)).toMatchObject({ responseCode: '94' })
  expect(await terminal.authorize(1, { partialApproval: true })).toMatchObject({ responseCode: '51' })
  expect((await transactionsOf(svcCardId)).slice(1)).toMatchObject([
    { status: 'pending', responseCode: '10', amount: 400, approvedAmount: 380, heldAmount: 380 },
    { status: 'pending', responseCode: '00', amount: 120 },
  ])
  const { authorizationId } = part
  expect(await terminal.capture(380, { authorizationId })).toMatchObject({ debitedAmount: 380 })
  expect((await transactionsOf(svcCardId))[1]).toMatchObject({ status: 'captured', capturedAmount: 380 })
})

test('a raise is approved as a whole or not at all, and limits are not passed in part', async () => {
  const { terminal } = await newCard()
  const { authorizationId } = await terminal.authorize(400)
  expect(await terminal.authorize(200, { authorizationId, partialApproval: true })).toMatchObject({
    status: 'declined',
    reason: 'insufficient_funds',
  })
  const day = payloadOf(
    await issuer.post('/api/v0/partner/spend-rules', { name: 'x', transactionAmount: 50 }),
  )
  expect(await terminal.authorize(200, { partialApproval: true })).toMatchObject({
    reason: 'over_rule_transaction_limit',
  })
  await issuer.send('DELETE', `/api/v0/partner/spend-rules/${day.spendRuleId}`)
  const unclear = await terminal.authorize(5, { partialApproval: 'perhaps' })
  expect(unclear).toMatchObject({ responseCode: '30', detail: expect.stringContaining('partialApproval') })
})

test('a reversal by a replacement amount leaves that of the authorisation; the same again releases nothing', async () => {
  const { terminal } = await newCard()
  const identity = newIdentity()
  await terminal.authorize(300, identity)
  const reversal = { ...referenceTo(identity), amount: 300, replacementAmount: 120 }
  expect(await terminal.void(reversal)).toMatchObject({
    replacementAmount: 120,
    releasedAmount: 180,
    otbBalance: 380,
  })
  expect(await terminal.void(reversal)).not.toHaveProperty('releasedAmount')
  const { authorizationId } = await terminal.capture(100, referenceTo(identity))
  expect(await terminal.void({ authorizationId, replacementAmount: 100 })).toMatchObject({
    releasedAmount: 20,
    otbBalance: 400,
  })
  // All that it says to be left was captured.
  expect(await terminal.void({ authorizationId, replacementAmount: 100 })).not.toHaveProperty(
    'exceptionAmount',
  )
  const unclear = await terminal.send('voids', { authorizationId, replacementAmount: 'ten' })
  expect(unclear).toMatchObject({ status: 202, json: { payload: { reason: 'amount_unreadable' } } })
})

test('a replacement amount of zero releases all, and one that arrives first leaves that much of a stand-in', async () => {
  const { terminal } = await newCard()
  const { authorizationId } = await terminal.authorize(300)
  expect(await terminal.void({ authorizationId, replacementAmount: 0 })).toMatchObject({
    releasedAmount: 300,
  })
  const identity = newIdentity()
  await terminal.void({ ...referenceTo(identity), replacementAmount: 70 })
  expect(await terminal.advise('stand_in', 200, { ...identity, channel: 'pos' })).toMatchObject({
    otbBalance: 430,
  })
})

test('a refund that names only its authorisation gives back its one capture', async () => {
  const { terminal } = await newCard()
  const { authorizationId } = await terminal.authorize(300)
  const { messageId } = await terminal.capture(200, { authorizationId, final: true })
  expect(await terminal.refund(50, { authorizationId })).toMatchObject({
    captureId: messageId,
    creditedAmount: 50,
  })
})
