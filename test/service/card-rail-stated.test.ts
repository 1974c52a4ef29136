import * as operations from '@svc/server/cards/card-rail'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newIdentity, referenceTo, Terminal } from '../harness/card-rail.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let newTerminal: () => Promise<Terminal>

beforeAll(async () => {
  service = await openService()
  const partner = await newPartner(service)
  const issuer = await asPartner(service.client, partner)
  newTerminal = async () =>
    new Terminal(service.client, payloadOf(await createCard(issuer, partner))['token'] as string)
})
afterAll(() => service.close())

const exceptions = (): Promise<{ detail: string | null; body: string }[]> =>
  asSuperuser(
    service.db.database,
    async (db) =>
      (
        await db.query(
          `select detail, convert_from(body, 'utf8') as body from card_exceptions where body is not null`,
        )
      ).rows as { detail: string | null; body: string }[],
  )

/** Values that no field reads: what is stated so is named, never treated as absent. */
const NEVER = [{}, [], ['x'], true, 'zzz zzz', '1e3', 0.1 + 0.2, -1, '٣']
const time = '2026-11-27T16:23:36+05:30'

interface FieldCase {
  readonly right: unknown
  /** Other spellings of a value that is read. */
  readonly spelled?: readonly unknown[]
  /** What cannot be read, besides what never can; `read`: of those, what this field does read. */
  readonly unreadable?: readonly unknown[]
  readonly read?: readonly unknown[]
}

/** Each field of the messages whose value decides something. */
const DECIDES: Readonly<Record<string, FieldCase>> = {
  token: { right: undefined, read: ['1e3', -1], unreadable: ['a b', 5.5] },
  cardNumber: { right: undefined, unreadable: ['12', 'abc'] },
  acquirerId: {
    right: '400123',
    spelled: ['0400123', ' 400123 ', 400_123],
    read: ['1e3', -1, 'zzz zzz'],
    unreadable: ['a*b'],
  },
  stan: { right: undefined, unreadable: ['12a', '1234567890123', 1.5] },
  transmissionTime: { right: undefined, unreadable: ['2026-11-27T16:23:36', '2026-02-30T00:00:00Z', 0] },
  amount: {
    right: '1',
    spelled: [1, '1.00', '1.000', '₹1', ' 1 '],
    unreadable: ['1,00', 'USD 1', '1.005', 1e21],
  },
  channel: { right: 'pos', spelled: ['POS', ' pos '], unreadable: ['post', 0] },
  currency: { right: 'INR', spelled: ['inr', 356, '356', '₹'], unreadable: ['USD', 840, 0, '0'] },
  status: {
    right: 'SUCCESS',
    spelled: ['success', 'TXN_SUCCESS'],
    unreadable: ['FAILED', 'DECLINED', 'AUTHORISED BY STAN?', 0],
  },
  responseCode: { right: '00', spelled: [0, '0', '85'], unreadable: ['05', 51, '30'] },
  final: { right: 'true', spelled: [true, 'Y', 1], read: [true], unreadable: ['maybe', 2] },
  advice: { right: undefined, spelled: [], unreadable: ['forced', 0] },
  authorizationId: { right: 'cau_nothing', read: ['zzz zzz', '1e3', -1, '٣'] },
  captureId: { right: 'cmg_nothing', read: ['zzz zzz', '1e3', -1, '٣'] },
  originalStan: { right: undefined, unreadable: ['12a'] },
  originalTransmissionTime: { right: undefined, unreadable: ['yesterday', 0] },
}
/** Texts that an operator reads; whatever they state is shown. */
const FOR_PEOPLE = ['localTime', 'rrn', 'mcc', 'merchantName', 'merchantPlace']
const ADVICE = { adviseCard: { advice: 'forced_post' } } as const

const all = Object.values(operations).filter(
  (value): value is typeof operations.captureCard =>
    typeof value === 'object' && value !== null && 'body' in value,
)
const fieldsOf = (operation: (typeof all)[number]) =>
  Object.keys((operation.body as unknown as { properties: object }).properties)

const isUnreadable =
  (field: string) =>
  ({ unreadable = [], read = [] }: FieldCase) =>
    [...NEVER.filter((value) => !read.includes(value)), ...unreadable].map((value) => [field, value] as const)

describe.each(all.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  const path = operation.path.slice('/rails/cards/'.length)
  const isDecided = id === 'authorizeCard' || id === 'inquireCardBalance'
  const right = { amount: 1, channel: 'pos', ...ADVICE[id as keyof typeof ADVICE] }
  const send = async (terminal: Terminal, fields: object) =>
    terminal.send(path, { ...right, ...newIdentity(), token: terminal.token, ...fields })

  test('every field is either decisive or a text for people', () =>
    expect(fieldsOf(operation).filter((name) => !(name in DECIDES) && !FOR_PEOPLE.includes(name))).toEqual(
      [],
    ))

  test('what is stated and cannot be read is declined or kept, and named', async () => {
    const terminal = await newTerminal()
    const cases = fieldsOf(operation).flatMap((name) =>
      DECIDES[name] ? isUnreadable(name)(DECIDES[name]) : [],
    )
    for (const [name, value] of cases) {
      const fields = name.startsWith('original') ? { originalStan: '1', originalTransmissionTime: time } : {}
      const { status, json } = await send(terminal, { ...fields, [name]: value })
      const { payload } = json as { payload: Json }
      const what = `${name} ${JSON.stringify(value)}`
      expect([status, payload['detail']], what).toEqual([
        isDecided ? 200 : 202,
        expect.stringContaining(name),
      ])
      expect(payload['status'], what).toBe(isDecided ? 'declined' : 'quarantined')
      if (isDecided) expect(payload['responseCode'], what).toBe(name === 'currency' ? '12' : '30')
    }
  })

  test('null and an empty text are the absence of a field', async () => {
    const terminal = await newTerminal()
    for (const name of fieldsOf(operation)) {
      const outcomes = []
      for (const value of [undefined, null, '', ' ']) {
        const { status, json } = await send(terminal, { [name]: value })
        const { reason, responseCode, status: decided } = (json as { payload: Json }).payload
        outcomes.push(JSON.stringify([status, reason, responseCode, decided]))
      }
      expect(new Set(outcomes).size, name).toBe(1)
    }
  })

  test('other spellings of a value are that value', async () => {
    const terminal = await newTerminal()
    for (const name of fieldsOf(operation))
      for (const value of DECIDES[name]?.spelled ?? []) {
        const { status, json } = await send(terminal, { [name]: value })
        expect([status, (json as { payload: Json }).payload['detail']], `${name} ${String(value)}`).toEqual([
          200,
          undefined,
        ])
      }
  })

  test('texts for people are kept in any form', async () => {
    const terminal = await newTerminal()
    for (const name of FOR_PEOPLE)
      expect((await send(terminal, { [name]: { street: 'MG Road' } })).status).toBe(200)
    const { json } = await send(terminal, { merchantName: ['Corner', 'Shop'] })
    expect((json as { payload: Json }).payload['merchantName']).toBe('["Corner","Shop"]')
  })
})

test('an operator reads which field could not be read, and what it stated, without card numbers', async () => {
  const terminal = await newTerminal()
  await terminal.send('captures', { amount: 'five' })
  await terminal.send('captures', { amount: '4111111111111111x' })
  const details = (await exceptions()).map(({ detail }) => detail)
  expect(details).toContain('amount "five" is not an amount')
  expect(details).toContain('amount "XXXX1111x" is not an amount')
})

test.each([undefined, null, '', 0, '0.00'])('a void of %j releases all that is held', async (amount) => {
  const terminal = await newTerminal()
  const { authorizationId } = await terminal.authorize(40)
  expect(await terminal.void({ authorizationId, amount })).toMatchObject({ releasedAmount: 40 })
})

test('a capture of nothing, and a final one, release what is left', async () => {
  const terminal = await newTerminal()
  const first = await terminal.authorize(40)
  expect(await terminal.capture(0, { authorizationId: first['authorizationId'] })).toMatchObject({
    releasedAmount: 40,
  })
  const second = await terminal.authorize(40)
  const last = { authorizationId: second['authorizationId'], final: 'true' }
  expect(await terminal.capture(10, last)).toMatchObject({ debitedAmount: 10, releasedAmount: 40 })
})

test('an authorisation of zero verifies the card and holds nothing', async () => {
  const terminal = await newTerminal()
  const verified = await terminal.authorize(0)
  expect(verified).toMatchObject({ status: 'approved', responseCode: '85' })
  expect(verified['authorizationId']).toBeUndefined()
  expect(await terminal.balance()).toMatchObject({ otbBalance: verified['accountBalance'] })
})

describe('an authorisation that names another one', () => {
  test('raises its hold; a void of the raise takes back the raise, one of the hold all', async () => {
    const terminal = await newTerminal()
    const identity = newIdentity()
    const first = await terminal.authorize(40, identity)
    const raise = newIdentity()
    const raised = await terminal.authorize(10, { ...raise, ...referenceTo(identity) })
    expect(raised).toMatchObject({
      status: 'approved',
      authorizationId: first['authorizationId'],
      amount: 10,
    })
    expect(raised['otbBalance']).toBe((first['otbBalance'] as number) - 10)
    expect(await terminal.void(referenceTo(raise))).toMatchObject({ releasedAmount: 10 })
    expect(await terminal.authorize(5, { authorizationId: first['authorizationId'] })).toMatchObject({
      status: 'approved',
    })
    expect(await terminal.void({ authorizationId: first['authorizationId'] })).toMatchObject({
      releasedAmount: 45,
    })
  })

  test('a raise arriving twice raises once', async () => {
    const terminal = await newTerminal()
    const { authorizationId } = await terminal.authorize(40)
    const raise = { ...newIdentity(), authorizationId }
    expect(await terminal.authorize(10, raise)).toEqual(await terminal.authorize(10, raise))
    expect(await terminal.void({ authorizationId })).toMatchObject({ releasedAmount: 50 })
  })

  test('is declined where that is not open, is unknown, or the card has too little', async () => {
    const terminal = await newTerminal()
    const { authorizationId } = await terminal.authorize(40)
    expect(await terminal.authorize(1_000_000, { authorizationId })).toMatchObject({ responseCode: '51' })
    await terminal.void({ authorizationId })
    for (const named of [authorizationId, 'cau_nothing'])
      expect(await terminal.authorize(1, { authorizationId: named })).toMatchObject({
        status: 'declined',
        responseCode: '25',
      })
  })
})

describe('the identity of a message', () => {
  test('is the same with leading zeros, spaces and letters in either case', async () => {
    const terminal = await newTerminal()
    const identity = { ...newIdentity(), acquirerId: 'ab123' }
    const first = await terminal.authorize(5, identity)
    for (const acquirerId of ['AB123', ' ab123 ', '00AB123'])
      expect(await terminal.authorize(5, { ...identity, acquirerId })).toEqual(first)
    expect(await terminal.authorize(5, { ...identity, stan: Number(identity.stan) })).toEqual(first)
  })

  test('has the type: a capture under the STAN and time of its authorisation is its own message, and captures it', async () => {
    const terminal = await newTerminal()
    const identity = newIdentity()
    const { authorizationId } = await terminal.authorize(40, identity)
    const captured = await terminal.capture(25, identity)
    expect(captured).toMatchObject({ status: 'recorded', authorizationId, debitedAmount: 25 })
    expect(await terminal.void(identity)).toMatchObject({ status: 'recorded', releasedAmount: 15 })
    expect(await terminal.refund(25, { ...identity, rrn: '632512345678' })).toMatchObject({
      creditedAmount: 25,
      captureId: captured['messageId'],
    })
  })

  test.each(['captures', 'voids', 'refunds', 'advices'])(
    'a signed authorisation that is sent to /rails/cards/%s again changes nothing',
    async (path) => {
      const terminal = await newTerminal()
      const message = {
        amount: 40,
        channel: 'pos',
        advice: 'forced_post',
        token: terminal.token,
        ...newIdentity(),
      }
      const { otbBalance } = payloadOf(await terminal.send('authorizations', message))
      expect(await terminal.send(path, message)).toMatchObject({
        status: 202,
        json: { payload: { reason: 'contradicts_earlier_message' } },
      })
      expect(await terminal.balance()).toMatchObject({ otbBalance })
    },
  )
})

test('a refund that names its authorisation gives back what that captured', async () => {
  const terminal = await newTerminal()
  const identity = newIdentity()
  const { authorizationId } = await terminal.authorize(100, identity)
  await terminal.capture(30, { authorizationId })
  const larger = await terminal.capture(60, { authorizationId })
  expect(await terminal.refund(50, { authorizationId })).toMatchObject({
    creditedAmount: 50,
    captureId: larger['messageId'],
  })
  expect(await terminal.refund(30, referenceTo(identity))).toMatchObject({ creditedAmount: 30 })
})

test('a message that names two cards is of none', async () => {
  const [one, other] = [await newTerminal(), await newTerminal()]
  const numberOf = async ({ token }: Terminal) => {
    const [row] = await asSuperuser(
      service.db.database,
      async (db) =>
        (
          await db.query('select svc_card_id as id, number_encrypted as number from cards where token = $1', [
            token,
          ])
        ).rows as { id: string; number: Buffer }[],
    )
    return service.app.services.keyring
      .open('card_number', row?.number ?? Buffer.alloc(0), row?.id ?? '')
      .toString()
  }
  const send = async (cardNumber: string) =>
    payloadOf(
      await one.sendEncrypted('authorizations', {
        token: one.token,
        cardNumber,
        amount: 1,
        channel: 'pos',
        ...newIdentity(),
      }),
    )
  expect(await send(await numberOf(one))).toMatchObject({ status: 'approved' })
  expect(await send(await numberOf(other))).toMatchObject({ status: 'declined', responseCode: '14' })
})
