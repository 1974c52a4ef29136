import { checkInvariants } from '@svc/console-api/invariants'
import { expireCardHolds } from '@svc/core/cards/rail/expire-card-holds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { passMidnight } from '../harness/business-day.ts'
import { newIdentity, referenceTo, Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let issuer: Client

beforeAll(async () => {
  const env = { CARD_TRANSACTION_MAX_RUPEES: '400' }
  service = await openService({ env: { ...env, CARD_DAY_MAX_RUPEES: '700', CARD_MONTH_MAX_RUPEES: '600' } })
  passMidnight(service)
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => [name, violations])
  await service.close()
  expect(broken).toEqual([])
})

const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
async function newCard(order: object = {}): Promise<{ svcCardId: string; terminal: Terminal }> {
  const { svcCardId, token } = payloadOf(await createCard(issuer, partner, order))
  return { svcCardId, terminal: new Terminal(service.client, token) }
}
const card = async (svcCardId: string): Promise<Json> => payloadOf(await issuer.get(path(svcCardId)))
const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])
/** How a capture names its authorisation. */
const holdOf = ({ authorizationId }: Json) => ({ authorizationId })
const exceptionsOf = (svcCardId: string) =>
  sql<{ reason: string; debit_paise: string; credit_paise: string }>(
    'select reason, debit_paise, credit_paise from card_exceptions where svc_card_id = $1 order by reason',
    [svcCardId],
  )
const reasonsOf = async (svcCardId: string) => (await exceptionsOf(svcCardId)).map(({ reason }) => reason)
const eventsOf = async (svcCardId: string) =>
  (
    await sql<{ type: string }>(
      'select type from outbox where object_id = $1 order by created_at, event_id',
      [svcCardId],
    )
  ).map(({ type }) => type)

test('an approved authorisation holds its amount: otbBalance falls, accountBalance stays', async () => {
  const { svcCardId, terminal } = await newCard()
  const approved = await terminal.authorize(120.5, { rrn: '633412000001', mcc: '5411' })
  expect(approved).toMatchObject({
    status: 'approved',
    responseCode: '00',
    amount: 120.5,
    otbBalance: 379.5,
    accountBalance: 500,
    authorizationCode: expect.stringMatching(/^\d{6}$/),
  })
  expect(await card(svcCardId)).toMatchObject({ otbBalance: 379, accountBalance: 500, holdBalance: 120.5 })
  expect(await terminal.balance()).toMatchObject({ status: 'approved', otbBalance: 379.5 })
  expect(await eventsOf(svcCardId)).toEqual(['card.created', 'card.authorized'])
})

test('a capture settles the hold in parts; a final one releases the rest', async () => {
  const { svcCardId, terminal } = await newCard()
  const { authorizationId } = await terminal.authorize(300)
  expect(await terminal.capture(100, { authorizationId })).toMatchObject({
    status: 'recorded',
    debitedAmount: 100,
    releasedAmount: 100,
    accountBalance: 400,
    otbBalance: 200,
  })
  expect(await terminal.capture(50, { authorizationId, final: true })).toMatchObject({
    debitedAmount: 50,
    releasedAmount: 200,
    accountBalance: 350,
    otbBalance: 350,
  })
  expect(await reasonsOf(svcCardId)).toEqual([])
  expect(await card(svcCardId)).toMatchObject({ usedDtd: 150, holdBalance: 0 })
})

test('a capture beyond its authorisation is covered within CARD_OVER_CAPTURE_PERCENT; the excess is an exception', async () => {
  const { svcCardId, terminal } = await newCard()
  const tip = await terminal.authorize(100)
  expect(await terminal.capture(120, holdOf(tip))).toMatchObject({ debitedAmount: 120 })
  expect(await reasonsOf(svcCardId)).toEqual([])
  const fuel = await terminal.authorize(100)
  const over = await terminal.capture(150, holdOf(fuel))
  expect(over).toMatchObject({ debitedAmount: 120, exceptionAmount: 30, accountBalance: 260 })
  expect(await exceptionsOf(svcCardId)).toEqual([
    { reason: 'over_authorization', debit_paise: '3000', credit_paise: '0' },
  ])
})

test('a capture without its authorisation debits at most the balance less other holds', async () => {
  const { svcCardId, terminal } = await newCard()
  await terminal.authorize(400)
  const forced = await terminal.capture(150)
  expect(forced).toMatchObject({ debitedAmount: 100, exceptionAmount: 50, otbBalance: 0 })
  expect(await reasonsOf(svcCardId)).toEqual(['unmatched_capture'])
})

test('a void releases a part or all of the hold, also by the network’s reference', async () => {
  const { svcCardId, terminal } = await newCard()
  const identity = newIdentity()
  await terminal.authorize(300, identity)
  const reference = referenceTo(identity)
  expect(await terminal.void({ amount: 100, ...reference })).toMatchObject({
    releasedAmount: 100,
    otbBalance: 300,
  })
  expect(await terminal.void(reference)).toMatchObject({ releasedAmount: 200, otbBalance: 500 })
  expect(await terminal.void(reference)).not.toHaveProperty('releasedAmount')
  expect(await eventsOf(svcCardId)).toEqual(['card.created', 'card.authorized', 'card.voided', 'card.voided'])
})

test('a void that arrives before its authorisation declines it', async () => {
  const { svcCardId, terminal } = await newCard()
  const identity = newIdentity()
  expect(await terminal.void(referenceTo(identity))).toMatchObject({ status: 'recorded' })
  expect(await terminal.authorize(10, identity)).toMatchObject({
    status: 'declined',
    responseCode: '05',
    reason: 'voided_before',
  })
  expect(await card(svcCardId)).toMatchObject({ holdBalance: 0 })
})

test('a stand-in that arrives after its captures holds only what they have not captured', async () => {
  const { svcCardId, terminal } = await newCard()
  const [part, whole] = [newIdentity(), newIdentity()]
  await terminal.capture(100, referenceTo(part))
  expect(await terminal.advise('stand_in', 150, part)).toMatchObject({ accountBalance: 400, otbBalance: 350 })
  await terminal.capture(300, referenceTo(whole))
  expect(await terminal.advise('stand_in', 300, whole)).toMatchObject({ accountBalance: 100, otbBalance: 50 })
  expect(await card(svcCardId)).toMatchObject({ holdBalance: 50 })
})

test('a stand-in that arrives after its final capture holds nothing', async () => {
  const [{ terminal }, identity] = [await newCard(), newIdentity()]
  await terminal.capture(100, { ...referenceTo(identity), final: true })
  expect(await terminal.advise('stand_in', 150, identity)).toMatchObject({ otbBalance: 400 })
})

test('a refund credits at most what its capture debited; the rest and unmatched ones are exceptions', async () => {
  const { svcCardId, terminal } = await newCard()
  const { messageId: captureId } = await terminal.capture(100, holdOf(await terminal.authorize(100)))
  expect(await terminal.refund(60, { captureId })).toMatchObject({ creditedAmount: 60, accountBalance: 460 })
  expect(await terminal.refund(60, { captureId })).toMatchObject({ creditedAmount: 40, exceptionAmount: 20 })
  expect(await terminal.refund(5)).toMatchObject({ exceptionAmount: 5, accountBalance: 500 })
  expect(await exceptionsOf(svcCardId)).toEqual([
    { reason: 'over_capture', debit_paise: '0', credit_paise: '2000' },
    { reason: 'unmatched_refund', debit_paise: '0', credit_paise: '500' },
  ])
})

test('advices are never declined: a forced post debits the available amount, a stand-in holds what remains', async () => {
  const { svcCardId, terminal } = await newCard()
  payloadOf(await issuer.patch(path(svcCardId, '/status'), { status: 'BL', reason: 'Stolen' }))
  const held = await terminal.advise('stand_in', 350)
  expect(held).toMatchObject({ status: 'recorded', responseCode: '00', otbBalance: 150 })
  expect(await terminal.advise('forced_post', 200)).toMatchObject({ debitedAmount: 150, exceptionAmount: 50 })
  expect(await terminal.advise('stand_in', 350)).toMatchObject({ otbBalance: 0, accountBalance: 350 })
  expect(await terminal.capture(350, holdOf(held))).toMatchObject({
    exceptionAmount: 350,
    accountBalance: 350,
  })
  expect(await reasonsOf(svcCardId)).toEqual(['over_balance', 'over_balance', 'over_balance'])
})

test('an authorisation is declined with the ISO 8583 response code of its reason', async () => {
  const { svcCardId, terminal } = await newCard({ loadAmount: 5000 })
  const declined = async (amount: number, fields: object = {}) => {
    const { status, responseCode, reason } = await terminal.authorize(amount, fields)
    return [status, responseCode, reason]
  }
  const set = (columns: string) => sql(`update cards set ${columns} where svc_card_id = $1`, [svcCardId])
  expect(await declined(401)).toEqual(['declined', '61', 'over_transaction_limit'])
  expect(await declined(6000)).toEqual(['declined', '51', 'insufficient_funds'])
  await terminal.authorize(400)
  expect(await declined(301)).toEqual(['declined', '61', 'over_day_limit'])
  expect(await declined(201)).toEqual(['declined', '61', 'over_month_limit'])
  await set('atm_allowed_admin = true')
  expect(await declined(1, { channel: 'atm' })).toEqual(['declined', '57', 'channel_closed_by_user'])
  await set('online_allowed_admin = false')
  expect(await declined(1, { channel: 'ecommerce' })).toEqual(['declined', '57', 'channel_closed_by_admin'])
  await set('expiry_year = 2020')
  expect(await declined(1)).toEqual(['declined', '54', 'card_expired'])
  await set(`status = 'L'`)
  expect(await declined(1)).toEqual(['declined', '62', 'card_locked'])
  await set('activated = false')
  expect(await declined(1)).toEqual(['declined', '78', 'card_not_active'])
  await set(`status = 'BL', ended_at = now(), unclaimed_at = now() + interval '1 day'`)
  expect(await declined(1)).toEqual(['declined', '62', 'card_blocked'])
  const outsider = new Terminal(service.client, 'crd_00000000000000000000000000')
  expect(await outsider.authorize(1)).toMatchObject({ responseCode: '14', reason: 'unknown_card' })
})

test('a repeat gets the first response byte for byte, also late; the RRN does not identify a message', async () => {
  const { svcCardId, terminal } = await newCard()
  const identity = { ...newIdentity(), rrn: '633412000777' }
  const first = await terminal.send('authorizations', { amount: 10, channel: 'pos', ...identity })
  await terminal.capture(10, holdOf(payloadOf(first)))
  const repeat = await terminal.send('authorizations', { amount: '10.00', channel: 'pos', ...identity })
  expect(repeat.text).toBe(first.text)
  const other = await terminal.authorize(10, { rrn: identity.rrn })
  expect(other.messageId).not.toBe(payloadOf(first).messageId)
  expect((await eventsOf(svcCardId)).filter((type) => type === 'card.authorized')).toHaveLength(2)
})

test('the same identity with other content is declined or stored, and shown to operators', async () => {
  const { svcCardId, terminal } = await newCard()
  const identity = newIdentity()
  await terminal.authorize(10, identity)
  expect(await terminal.authorize(11, identity)).toMatchObject({
    status: 'declined',
    responseCode: '94',
    reason: 'contradicts_earlier_message',
  })
  const captured = newIdentity()
  await terminal.capture(10, captured)
  const response = await terminal.send('captures', { amount: 12, ...captured })
  expect(response).toMatchObject({
    status: 202,
    json: { payload: { reason: 'contradicts_earlier_message' } },
  })
  expect(await card(svcCardId)).toMatchObject({ accountBalance: 490, holdBalance: 10 })
  const browser = await signedIn(service, 'operator')
  const { data } = (await browser.get(`/card-exceptions?q=${svcCardId}`)).json
  expect(data.map(({ reason }: Json) => reason).sort()).toEqual([
    'contradicts_earlier_message',
    'contradicts_earlier_message',
    'unmatched_capture',
  ])
  const shown = async (reason: string) => {
    const { exceptionId } = data.find((each: Json) => each.reason === reason)
    return (await browser.get(`/card-exceptions/${exceptionId}`)).json
  }
  expect(await shown('unmatched_capture')).toMatchObject({
    exception: { svcCardId, reason: 'unmatched_capture' },
    message: { type: 'capture', amount: '10.00', debited: '10.00', stan: captured.stan },
  })
  expect((await shown('contradicts_earlier_message')).message).toBeUndefined()
  const { exceptionId } = data[0]
  expect((await browser.get(`/search?q=${exceptionId}`)).json.results).toMatchObject([
    { kind: 'cardException', id: exceptionId },
  ])
  expect((await browser.get('/card-exceptions/cex_none')).error).toBe('card_exception_not_found')
})

test('a hold expires after CARD_HOLD_DAYS, once; a late capture is a forced post', async () => {
  const { svcCardId, terminal } = await newCard()
  const held = await terminal.authorize(100)
  await sql('update card_authorizations set expires_at = now() where svc_card_id = $1', [svcCardId])
  await expireCardHolds(service.app.services)
  await expireCardHolds(service.app.services)
  // The service's own loop may be at it too.
  await expect.poll(() => card(svcCardId)).toMatchObject({ otbBalance: 500, holdBalance: 0 })
  expect(await terminal.capture(100, holdOf(held))).toMatchObject({ debitedAmount: 100, accountBalance: 400 })
  expect(await eventsOf(svcCardId)).toEqual([
    'card.created',
    'card.authorized',
    'card.hold_expired',
    'card.captured',
  ])
})

test('a capture after its hold expired is a forced post: it debits the card’s balance, also beyond the amount held', async () => {
  const { svcCardId, terminal } = await newCard()
  const held = await terminal.authorize(100)
  await sql(`update card_authorizations set expires_at = now() where svc_card_id = $1`, [svcCardId])
  await expireCardHolds(service.app.services)
  const late = await terminal.capture(150, holdOf(held))
  expect(late).toMatchObject({ debitedAmount: 150, accountBalance: 350, otbBalance: 350 })
  expect(await reasonsOf(svcCardId)).toEqual([])
})

test('held amounts cannot be spent at the sandbox’s terminal', async () => {
  const { svcCardId, terminal } = await newCard()
  await terminal.authorize(400)
  const spend = (amount: number) =>
    service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount, channel: 'pos' })
  expect(await spend(101)).toMatchObject({ status: 422, error: 'card_balance_too_low' })
  expect(payloadOf(await spend(100)).otbBalance).toBe(0)
})

test('of many concurrent authorisations the card approves as much as its balance, to the last rupee', async () => {
  const { svcCardId, terminal } = await newCard({ loadAmount: 100 })
  const results = await Promise.all(Array.from({ length: 20 }, () => terminal.authorize(10)))
  expect(results.filter(({ status }) => status === 'approved')).toHaveLength(10)
  expect(await card(svcCardId)).toMatchObject({ otbBalance: 0, holdBalance: 100 })
})
