import { EXAMPLES } from '@svc/app/examples'
import { signNotice } from '@svc/server/http/notice-signature'
import { isRail } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newTransferUtr, numberOf } from '../harness/bank-rail.ts'
import { newIdentity, Terminal } from '../harness/card-rail.ts'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import { utrOf } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { cancel, creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn, newShop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

// One key for all rails: what is signed for one route has a valid signature on every other one.
const env = { UPI_RAIL_KEYS: RAIL_KEY, BANK_RAIL_KEYS: RAIL_KEY, CARD_RAIL_KEYS: RAIL_KEY }
const RAILS = OPERATIONS.filter(isRail)
const ROUNDS = 8

let service: TestService
let other: TestService
let partner: TestPartner
let issuer: Client
beforeAll(async () => {
  service = await openService({ background: false, env })
  other = await openService({ background: false, db: service.db, env })
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

/** A signed message: its bytes and its signature stay the same on every route. */
type Signed = (path: string, on?: TestService) => Promise<ApiResponse>

function signed(body: object): Signed {
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = {
    'content-type': 'application/json',
    'x-rail-signature': signNotice(bytes, RAIL_KEY, Date.now()),
  }
  return (path, on = service) => on.client.send('POST', path, bytes, headers)
}

const UPI = '/rails/upi'

const newCard = async (): Promise<Terminal> =>
  new Terminal(service.client, payloadOf(await createCard(issuer, partner)).token, RAIL_KEY)

/** The credit of a cancelled code: it goes back to its payer. */
async function returning(): Promise<string> {
  const { client } = await newShop(service)
  const { qrCodeId, tr } = await newCode(service, client)
  payloadOf(await cancel(client, qrCodeId))
  return payloadOf(await notifyCredit(service.client, creditOf(tr))).utr
}

async function pendingRefund(): Promise<object> {
  const { client, path } = await shopWith(service, 10)
  const { refundId } = payloadOf(await client.post(path, { amount: 4, referenceNumber: newUtr() }))
  return { refundId, status: 'REFUNDED', utr: newUtr(), amount: 4 }
}

const ofCard = async (fields: (terminal: Terminal) => Promise<object>) => {
  const terminal = await newCard()
  return { token: terminal.token, ...newIdentity(), ...(await fields(terminal)) }
}
const ofHold = () =>
  ofCard(async (terminal) => ({ authorizationId: (await terminal.authorize(120.5)).authorizationId }))

/** What the documented example of an operation needs to be carried out here: the records that it names. */
const NAMED: Readonly<Record<string, () => Promise<object>>> = {
  acceptPayment: async () => {
    const { tr } = await newCode(service, (await newShop(service)).client, { multipleUse: true })
    return { utr: newUtr(), tr }
  },
  confirmRefund: async () => ({ utr: await returning() }),
  receiveDispute: async () => {
    const { paymentId } = await shopWith(service, 10)
    return { caseReference: newUtr(), utr: await utrOf(service, paymentId) }
  },
  receiveSettlement: async () => ({ batchUtr: newUtr() }),
  receiveNetworkSettlement: async () => ({ batchUtr: newUtr() }),
  receiveBankCredit: async () => ({
    utr: newTransferUtr(),
    virtualAccount: await numberOf(service, partner),
  }),
  authorizeCard: () => ofCard(async () => ({})),
  captureCard: ofHold,
  voidCard: ofHold,
  refundCard: () => ofCard(async (terminal) => ({ captureId: (await terminal.capture(100)).messageId })),
  adviseCard: () => ofCard(async () => ({})),
  inquireCardBalance: () => ofCard(async () => ({})),
}

const CARD_RAIL = RAILS.filter(({ auth, id }) => auth === 'cardRail' && id !== 'receiveNetworkSettlement')

/** Every route of the card rail can read it. */
const readableEverywhere = () =>
  ofCard(async (terminal) => ({
    amount: 50,
    channel: 'pos',
    advice: 'forced_post',
    final: true,
    authorizationId: (await terminal.authorize(120.5)).authorizationId,
    captureId: (await terminal.capture(100)).messageId,
  }))

const exampleOf = (id: string): object => {
  const [first] = EXAMPLES[id] ?? []
  expect(first?.status, `${id} has an example`).toBe(200)
  return first!.request.body as object
}

const MESSAGES: readonly (readonly [what: string, id: string, body: () => Promise<object>])[] = [
  ...RAILS.map(({ id }) => {
    const body = async () => ({ ...exampleOf(id), ...(await NAMED[id]!()) })
    return [`the example of ${id}`, id, body] as const
  }),
  ...CARD_RAIL.map(({ id }) => {
    const what = `a card message that every route can read, sent as ${id},`
    return [what, id, readableEverywhere] as const
  }),
  ['the outcome of a merchant’s refund', 'confirmRefund', pendingRefund],
  ['a return that repeats the amount', 'confirmRefund', async () => ({ utr: await returning(), amount: 10 })],
  ['a credit without code and payer', 'acceptPayment', async () => ({ utr: newUtr(), amount: 10 })],
]

/** They have no field that only their kind has. */
const WITHOUT_KIND = new Set(['a return that repeats the amount', 'a credit without code and payer'])

const pathOf = (id: string): string => RAILS.find((rail) => rail.id === id)!.path

/** Every balance and every status that a message of a rail can change. */
const money = (): Promise<Json[]> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select account_id as id, balance::text as now from ledger_accounts where balance <> 0
       union all select payment_id, status || ' ' || refund_paise || ' ' || dispute_paise from payments
       union all select refund_id, status from merchant_refunds
       union all select dispute_id, status from disputes
       union all select authorization_id, status || ' ' || held_paise from card_authorizations
       union all select message_id, response from card_messages
       union all select credit_id, card_account_id from bank_credits
       union all select event_id, type from outbox
       order by 1`,
    )
    return rows
  })

/** Kept for an operator, or declined. */
const refusalOf = ({ status, json: { payload } }: ApiResponse): string =>
  status === 202 ? payload.reason : payload.reason === undefined ? 'carried out' : payload.responseCode

describe.each(MESSAGES)('%s', (_, id, body) => {
  const siblings = RAILS.filter((rail) => rail.id !== id)

  test('changes nothing on any other route of a rail once its own route received it, with the same signature', async () => {
    const send = signed(await body())
    const first = payloadOf(await send(pathOf(id)))
    const before = await money()
    for (const { path } of siblings) expect(refusalOf(await send(path)), path).not.toBe('carried out')
    expect(await money()).toEqual(before)
    expect(payloadOf(await send(pathOf(id)))).toEqual(first)
    expect(await brokenIn(service)).toEqual([])
  })
})

/** By fields that no other kind of notice has. */
const OF_STATED_KIND = MESSAGES.filter(
  ([what, id]) => !pathOf(id).startsWith('/rails/cards/') && !WITHOUT_KIND.has(what),
)

describe.each(OF_STATED_KIND)('%s', (_, id, body) => {
  test('changes nothing on another route that receives it first, and is processed on its own', async () => {
    const send = signed(await body())
    const before = await money()
    for (const { path } of RAILS.filter((rail) => rail.id !== id && rail.auth !== 'cardRail'))
      expect((await send(path)).status, path).toBe(202)
    expect(await money()).toEqual(before)
    expect((await send(pathOf(id))).status).toBe(200)
  })
})

const reasonAt = async (send: Signed, path: string): Promise<string> => {
  const { status, json } = await send(path)
  return status === 202 ? json.payload.reason : json.payload.status
}

test('a notice that states no kind belongs to the route that receives it first, also when repeated in other words', async () => {
  const credit = { utr: newUtr(), amount: 10 }
  expect(await reasonAt(signed(credit), `${UPI}/credits`)).toBe('SUSPENSE')
  const inOtherWords = signed({ ...credit, remarks: 'again' })
  expect(await reasonAt(inOtherWords, `${UPI}/credits`)).toBe('SUSPENSE')
  for (const send of [signed(credit), inOtherWords])
    expect(await reasonAt(send, `${UPI}/refunds`)).toBe('wrong_route')
  const unknown = signed({ utr: newUtr(), amount: 10 })
  expect(await reasonAt(unknown, `${UPI}/refunds`)).toBe('unknown_payment')
  expect(await reasonAt(unknown, `${UPI}/credits`)).toBe('wrong_route')
  expect(await reasonAt(signed({ utr: credit.utr, amount: 10, status: 'REFUNDED' }), `${UPI}/refunds`)).toBe(
    'REFUNDED',
  )
  const waiting = await asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(`select status from rail_notices where reason = 'wrong_route'`)
    return rows
  })
  // Of its own beside what the right route stored of the same bytes.
  expect(waiting.every(({ status }) => status === 'QUARANTINED')).toBe(true)
})

test('one card message at two routes of two processes at once is processed by one of them', async () => {
  const taken = await Promise.all(
    Array.from({ length: ROUNDS }, async () => {
      const { token } = await newCard()
      const send = signed({ token, ...newIdentity(), amount: 60, channel: 'pos' })
      const both = await Promise.all([
        send('/rails/cards/authorizations'),
        send('/rails/cards/captures', other),
      ])
      return both.map(refusalOf).sort().join()
    }),
  )
  for (const outcome of taken)
    expect(['94,carried out', 'carried out,contradicts_earlier_message']).toContain(outcome)
  expect(await brokenIn(service)).toEqual([])
})

test('one card message at all routes of two processes at once is processed by one of them, and moves money at most once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const message = await readableEverywhere()
    const send = signed(message)
    const all = await Promise.all(
      CARD_RAIL.map(({ path }, n) => send(path, (n + round) % 2 === 0 ? service : other)),
    )
    const refusals = all.map(refusalOf).filter((outcome) => outcome !== 'carried out')
    expect(refusals).toHaveLength(CARD_RAIL.length - 1)
    for (const refusal of refusals) expect(['94', 'contradicts_earlier_message']).toContain(refusal)
    const { stan, transmissionTime } = message as Json
    const [found] = await asSuperuser(service.db.database, async (db) => {
      const { rows } = await db.query(
        `select (select count(*)::int from card_messages where stan = $1 and transmission_at = $2) as messages,
           (select count(*)::int from journals where reference = $3) as journals`,
        [stan, transmissionTime, `400123 ${stan} ${transmissionTime}`],
      )
      return rows
    })
    expect(found).toMatchObject({ messages: 1 })
    expect(found.journals).toBeLessThanOrEqual(1)
  }
  expect(await brokenIn(service)).toEqual([])
})

test('a card message is the same one plain and encrypted: its route repeats the first response, others change nothing', async () => {
  const terminal = await newCard()
  const message = { token: terminal.token, ...newIdentity(), amount: 60, advice: 'forced_post' }
  const plain = signed(message)
  const first = await terminal.sendEncrypted('captures', message)
  expect(payloadOf(first)).toMatchObject({ status: 'recorded', debitedAmount: 60 })
  const before = await money()
  expect((await plain('/rails/cards/captures')).text).toBe(first.text)
  expect((await terminal.sendEncrypted('captures', message)).text).toBe(first.text)
  expect(refusalOf(await plain('/rails/cards/advices'))).toBe('contradicts_earlier_message')
  expect(refusalOf(await terminal.sendEncrypted('advices', message))).toBe('contradicts_earlier_message')
  expect(await money()).toEqual(before)
})

test('messages that shared an identity before are repeated with their own responses', async () => {
  const { token } = await newCard()
  const identity = newIdentity()
  const sendSigned = signed({ token, ...identity, amount: 10, channel: 'pos' })
  const first = payloadOf(await sendSigned('/rails/cards/authorizations'))
  const captured = signed({ token, ...newIdentity(), amount: 5 })
  const second = payloadOf(await captured('/rails/cards/captures'))
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `update card_messages m set stan = o.stan, transmission_at = o.transmission_at from card_messages o
       where m.message_id = $1 and o.message_id = $2`,
      [second.messageId, first.messageId],
    ),
  )
  const repeated = signed({ token, ...identity, amount: 5 })
  expect(payloadOf(await repeated('/rails/cards/captures'))).toEqual(second)
  expect(payloadOf(await sendSigned('/rails/cards/authorizations'))).toEqual(first)
})

// JSON.parse reads any depth; what walks the value again would run out of stack.
test.each(RAILS.map(({ id, path, body }) => [id, path, body] as const))(
  '%s responds to a signed message that is nested 20,000 levels deep in any field, with and without Content-Length',
  async (_, path, body) => {
    const nested = '['.repeat(20_000) + ']'.repeat(20_000)
    for (const field of [...Object.keys((body as unknown as Json).properties), 'unknown']) {
      const bytes = Buffer.from(`{"${field}":${nested}}`)
      const headers = {
        'content-type': 'application/json',
        'x-rail-signature': signNotice(bytes, RAIL_KEY, Date.now()),
      }
      const known = await service.client.send('POST', path, bytes, headers)
      expect([field, known.status < 300 ? 'read' : known.text]).toEqual([field, 'read'])
      const chunked = await fetch(new URL(path, service.client.baseUrl), {
        method: 'POST',
        headers,
        body: new Blob([bytes]).stream(),
        duplex: 'half',
      } as RequestInit)
      expect([field, chunked.status]).toEqual([field, known.status])
      await chunked.body?.cancel()
    }
  },
)
