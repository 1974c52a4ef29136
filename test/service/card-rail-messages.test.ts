import { afterAll, beforeAll, expect, test } from 'vitest'
import { newIdentity, referenceTo, Terminal } from '../harness/card-rail.ts'
import { payloadOf } from '../harness/client.ts'
import { oddNotices } from '../harness/odd-notices.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { asSuperuser, CARD_RAIL_KEY, openService, type TestService } from '../harness/service.ts'

const NEXT_KEY = 'the-next-card-rail-key-0123456789abcdef'

let service: TestService
let newCard: () => Promise<{ svcCardId: string; terminal: Terminal }>

beforeAll(async () => {
  service = await openService({ env: { CARD_RAIL_KEYS: `${CARD_RAIL_KEY},${NEXT_KEY}` } })
  const partner = await newPartner(service)
  const issuer = await asPartner(service.client, partner)
  newCard = async () => {
    const { svcCardId, token } = payloadOf(await createCard(issuer, partner))
    return { svcCardId, terminal: new Terminal(service.client, token) }
  }
})
afterAll(() => service.close())

const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])

test('a report that cannot be read is stored once, without card numbers, and gets 202', async () => {
  const { terminal } = await newCard()
  const sent = async (body: string, at = 'captures') => {
    const { status, json } = await terminal.sendBytes(at, body)
    return [status, json.payload.reason]
  }
  expect(await sent('not json')).toEqual([202, 'not_json'])
  expect(await sent('not json')).toEqual([202, 'not_json'])
  const identity = newIdentity()
  const clear = { cardNumber: '4111111111111111', amount: 1, channel: 'pos', ...identity }
  expect(await sent(JSON.stringify(clear))).toEqual([202, 'card_number_not_encrypted'])
  const { token } = terminal
  expect(await sent(JSON.stringify({ token, amount: 1, channel: 'pos' }))).toEqual([
    202,
    'identity_unreadable',
  ])
  expect(await sent(JSON.stringify({ token, ...identity, amount: -1 }))).toEqual([202, 'amount_unreadable'])
  expect(await sent(JSON.stringify({ token, ...identity, amount: 1, channel: 'post' }))).toEqual([
    202,
    'channel_unreadable',
  ])
  expect(await sent(JSON.stringify({ token, ...identity, amount: 1 }), 'advices')).toEqual([
    202,
    'advice_unreadable',
  ])
  expect(await sent('eyJhbGciOiJub25lIn0.a.b.c.d')).toEqual([202, 'not_decrypted'])
  const unknown = { token: 'crd_nothing', amount: 1, ...newIdentity() }
  expect(await sent(JSON.stringify(unknown), 'captures')).toEqual([202, 'unknown_card'])
  const kept = await sql<{ body: Buffer }>(`select body from card_exceptions where partner_id = 'house'`)
  const bodies = kept.map(({ body }) => body.toString('utf8'))
  expect(bodies.filter((body) => body === 'not json')).toHaveLength(1)
  expect(bodies.join()).not.toContain('4111111111111111')
  expect(bodies.join()).toContain('XXXX1111')
})

const ORDERS = [
  ['stand-in', 'capture', 'void'],
  ['stand-in', 'void', 'capture'],
  ['capture', 'stand-in', 'void'],
  ['capture', 'void', 'stand-in'],
  ['void', 'stand-in', 'capture'],
  ['void', 'capture', 'stand-in'],
] as const

test.each(ORDERS)(
  'a stand-in, its capture and a partial void result in the same hold in the order %s, %s, %s',
  async (...order) => {
    const { svcCardId, terminal } = await newCard()
    const identity = newIdentity()
    const send = {
      'stand-in': () => terminal.advise('stand_in', 40, identity),
      capture: () => terminal.capture(15, referenceTo(identity)),
      void: () => terminal.void({ amount: 10, ...referenceTo(identity) }),
    }
    for (const message of order) await send[message]()
    const held = `select held_paise from card_authorizations where svc_card_id = $1`
    expect(await sql(held, [svcCardId])).toEqual([{ held_paise: '1500' }])
    await terminal.void(referenceTo(identity))
    expect(await sql(held, [svcCardId])).toEqual([{ held_paise: '0' }])
  },
)

test('a void without an amount that arrives before its stand-in leaves no amount to hold', async () => {
  const { svcCardId, terminal } = await newCard()
  const identity = newIdentity()
  await terminal.void({ amount: 10, ...referenceTo(identity) })
  await terminal.void(referenceTo(identity))
  expect(await terminal.advise('stand_in', 40, identity)).toMatchObject({ status: 'recorded' })
  expect(await sql('select from card_authorizations where svc_card_id = $1', [svcCardId])).toEqual([])
})

test('a message is decided by the fields that it needs, whatever the form of the other fields', async () => {
  const { terminal } = await newCard()
  const { token } = terminal
  const bodyOf = (others: object) =>
    JSON.stringify({ token, amount: 1, channel: 'pos', ...newIdentity(), ...others })
  const odd: readonly (string | Buffer)[] = [
    bodyOf({ rrn: 'RRN' }).replace('"RRN"', '12345678901234567890'),
    bodyOf({ risk: 'SCORE' }).replace('"SCORE"', '0.12345678901234567890'),
    Buffer.from(bodyOf({ merchantName: 'Café' }), 'latin1'),
    bodyOf({ merchantName: 'nul\u0000byte, \ud800, and a line\nfeed' }),
    `\ufeff${bodyOf({})}`,
    bodyOf({ tags: Array.from({ length: 1_000 }, (_, n) => n) }),
    bodyOf({ terminal: JSON.parse('[['.repeat(20) + ']]'.repeat(20)) }),
    bodyOf({ mcc: null, merchantPlace: {}, localTime: [] }),
  ]
  for (const body of odd)
    expect(payloadOf(await terminal.sendBytes('authorizations', body))).toMatchObject({ status: 'approved' })
  const twice = bodyOf({}).replace('{', '{"amount":2,')
  expect(await terminal.sendBytes('authorizations', twice)).toMatchObject({
    status: 200,
    json: { payload: { status: 'declined', responseCode: '30' } },
  })
})

test.each(['authorizations', 'captures', 'voids', 'refunds', 'advices', 'balance-inquiries'])(
  'a signed message to /rails/cards/%s gets a response or is stored, whatever one of its fields contains',
  async (path) => {
    const { terminal } = await newCard()
    const right = {
      amount: 1,
      channel: 'pos',
      advice: 'stand_in',
      authorizationId: 'cau_nothing',
      captureId: 'cmg_nothing',
      originalStan: '000001',
      originalTransmissionTime: '2026-11-01T10:00:00+05:30',
      final: true,
      rrn: '632512345678',
      mcc: '5411',
      merchantName: 'Shop',
      localTime: '101500',
      ...newIdentity(),
      token: terminal.token,
    }
    const statuses = await Promise.all(
      oddNotices(right).map(async (fields) => {
        const isOdd = fields['stan'] !== right.stan
        const { status } = await terminal.send(path, isOdd ? fields : { ...fields, stan: newIdentity().stan })
        return status
      }),
    )
    const isDecided = ['authorizations', 'balance-inquiries'].includes(path)
    expect(new Set(statuses)).toEqual(new Set(isDecided ? [200] : [200, 202]))
  },
)

test('an encrypted message can identify its card by the card number', async () => {
  const { svcCardId, terminal } = await newCard()
  const [row] = await sql<{ number_encrypted: Buffer }>(
    'select number_encrypted from cards where svc_card_id = $1',
    [svcCardId],
  )
  const { keyring } = service.app.services
  const cardNumber = keyring
    .open('card_number', row?.number_encrypted ?? Buffer.alloc(0), svcCardId)
    .toString()
  const message = { cardNumber, amount: 10, channel: 'ecommerce', ...newIdentity() }
  const response = await terminal.sendEncrypted('authorizations', message)
  expect(payloadOf(response)).toMatchObject({ status: 'approved', svcCardId })
  expect(response.text).not.toContain(cardNumber)
})

test('messages are signed with one of the two keys over their timestamp and bytes', async () => {
  const { terminal } = await newCard()
  expect(await new Terminal(service.client, terminal.token, NEXT_KEY).balance()).toMatchObject({
    status: 'approved',
  })
  const outsider = new Terminal(service.client, terminal.token, 'another-key-of-nobody-0123456789abcdef')
  expect(await outsider.send('balance-inquiries')).toMatchObject({ status: 401, error: 'invalid_signature' })
})
