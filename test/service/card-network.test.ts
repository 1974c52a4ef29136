import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
})
afterAll(() => service.close())

const newCard = async (): Promise<string> =>
  payloadOf(await createCard(await asPartner(service.client, partner), partner, { loadAmount: 100 }))
    .svcCardId
const send = async (svcCardId: string, message: object): Promise<Json[]> =>
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/messages`, message)).messages
const balance = async (svcCardId: string): Promise<Json> =>
  (await send(svcCardId, { type: 'balance_inquiry' }))[0].response

test('every message of the network goes through the card rail: authorise, capture, refund, void, advise', async () => {
  const svcCardId = await newCard()
  const [{ response: authorized }] = await send(svcCardId, {
    type: 'authorization',
    amount: 60,
    channel: 'ecommerce',
  })
  expect(authorized).toMatchObject({
    status: 'approved',
    responseCode: '00',
    otbBalance: 40,
    channel: 'ecommerce',
  })
  const { authorizationId } = authorized
  const [{ response: captured }] = await send(svcCardId, { type: 'capture', amount: 50, authorizationId })
  expect(captured).toMatchObject({ status: 'recorded', debitedAmount: 50 })
  expect((await send(svcCardId, { type: 'void', authorizationId }))[0].response.releasedAmount).toBe(10)
  const [refunded] = await send(svcCardId, { type: 'refund', amount: 20, captureId: captured.messageId })
  expect(refunded).toMatchObject({ status: 200, response: { creditedAmount: 20 } })
  await send(svcCardId, { type: 'advice', advice: 'forced_post', amount: 5 })
  expect(await balance(svcCardId)).toMatchObject({ accountBalance: 65, otbBalance: 65 })
  expect((await send(svcCardId, { type: 'authorization', amount: 66 }))[0].response).toMatchObject({
    status: 'declined',
    responseCode: '51',
  })
})

test('a duplicate gets the first response and creates one hold; a timeout leaves no hold; a void before its authorisation declines it', async () => {
  const svcCardId = await newCard()
  const authorization = { type: 'authorization', amount: 30 }
  const [first, again] = await send(svcCardId, { ...authorization, behaviour: 'duplicate' })
  expect(again).toEqual(first)
  expect((await balance(svcCardId)).otbBalance).toBe(70)
  const [lost, undone] = await send(svcCardId, { ...authorization, behaviour: 'timeout' })
  expect(lost.response.status).toBe('approved')
  expect(undone).toMatchObject({ type: 'void', response: { releasedAmount: 30 } })
  const [early, late] = await send(svcCardId, { ...authorization, behaviour: 'reordered' })
  expect([early.type, late.type]).toEqual(['void', 'authorization'])
  expect(late.response).toMatchObject({ status: 'declined', reason: 'voided_before' })
  expect((await balance(svcCardId)).otbBalance).toBe(70)
})

test('a message without a required amount is quarantined as on the rail; an unknown card is 404', async () => {
  const [sent] = await send(await newCard(), { type: 'capture' })
  expect(sent).toMatchObject({
    status: 202,
    response: { status: 'quarantined', reason: 'amount_unreadable' },
  })
  expectFailure(
    await service.client.post('/sandbox/cards/card_nothing/messages', { type: 'balance_inquiry' }),
    'card_not_found',
  )
})
