import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newIdentity, referenceTo, Terminal } from '../harness/card-rail.ts'
import { payloadOf } from '../harness/client.ts'
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

test('an operator reads which field could not be read, and what it stated, without card numbers', async () => {
  const terminal = await newTerminal()
  await terminal.send('captures', { amount: 'five' })
  await terminal.send('captures', { amount: '4111111111111111x' })
  const details = (await exceptions()).map(({ detail }) => detail)
  expect(details).toContain('amount "five" is not an amount')
  expect(details).toContain('amount "XXXX1111x" is not an amount')
})

test('an authorisation is named by its id in any case, and a placeholder names none', async () => {
  const terminal = await newTerminal()
  const { authorizationId } = await terminal.authorize(40)
  for (const none of ['NA', '000000', 0, 'cmg_1']) {
    const kept = { status: 202, json: { payload: { reason: 'reference_unreadable' } } }
    expect(await terminal.send('captures', { amount: 40, authorizationId: none })).toMatchObject(kept)
    expect(await terminal.send('voids', { authorizationId: none })).toMatchObject(kept)
    const captureId = none === 'cmg_1' ? 'cau_1' : none
    expect(await terminal.send('refunds', { amount: 40, captureId })).toMatchObject(kept)
    expect(await terminal.authorize(5, { authorizationId: none })).toMatchObject({ responseCode: '30' })
  }
  expect(await terminal.void({ authorizationId: String(authorizationId).toUpperCase() })).toMatchObject({
    status: 'recorded',
    releasedAmount: 40,
  })
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
