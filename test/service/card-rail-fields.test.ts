import * as operations from '@svc/server/cards/card-rail'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newIdentity, Terminal } from '../harness/card-rail.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'
import { ABSENT, type FieldCase, unreadableOf } from '../harness/stated-values.ts'

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

const time = '2026-11-27T16:23:36+05:30'

/** Each field of the messages whose value decides something. */
const DECIDES: Readonly<Record<string, FieldCase>> = {
  token: { read: ['1e3', -1], unreadable: ['a b', 5.5] },
  cardNumber: { unreadable: ['12', 'abc'] },
  acquirerId: {
    spelled: ['0400123', ' 400123 ', 400_123],
    read: ['1e3', -1, 'zzz zzz'],
    unreadable: ['a*b'],
  },
  stan: { unreadable: ['12a', '1234567890123', 1.5] },
  transmissionTime: { unreadable: ['2026-11-27T16:23:36', '2026-02-30T00:00:00Z', 0] },
  amount: {
    spelled: [1, '1.00', '1.000', '₹1', ' 1 '],
    unreadable: ['1,00', '000000000100', 'USD 1', '1.005', 1e21],
  },
  channel: { spelled: ['POS', ' pos '], unreadable: ['post', 0] },
  currency: { spelled: ['INR', 'inr', 356, '356', '₹'], unreadable: ['USD', 840, 0, '0'] },
  status: {
    spelled: ['SUCCESS', 'success', 'TXN_SUCCESS'],
    unreadable: ['FAILED', 'DECLINED', 'AUTHORISED BY STAN?', 0],
  },
  responseCode: { spelled: ['00', 0, '0', '85'], unreadable: ['05', 51, '30'] },
  final: { spelled: ['true', true, 'Y', 1], read: [true], unreadable: ['maybe', 2] },
  partialApproval: { spelled: ['true', true, 'Y', 1], read: [true], unreadable: ['maybe', 2] },
  replacementAmount: { unreadable: ['five', -1, '1.005'] },
  advice: { unreadable: ['forced', 0] },
  authorizationId: { unreadable: ['NA', '000000', 0, 'cau_', 'cmg_1'] },
  captureId: { unreadable: ['NA', '000000', 0, 'cmg_', 'cau_1'] },
  originalStan: { unreadable: ['12a'] },
  originalTransmissionTime: { unreadable: ['yesterday', 0] },
}
/** Texts that an operator reads; whatever they state is shown. */
const FOR_PEOPLE = ['localTime', 'rrn', 'mcc', 'merchantName', 'merchantPlace', 'merchantCountry']
const ADVICE = { adviseCard: { advice: 'forced_post' } } as const

const all = Object.values(operations).filter(
  (value): value is typeof operations.captureCard =>
    typeof value === 'object' && value !== null && 'body' in value,
)
const fieldsOf = (operation: (typeof all)[number]) =>
  Object.keys((operation.body as unknown as { properties: object }).properties)

const OPERATIONS = all.map((operation) => [operation.id, operation] as const)

/** Sends a message of the operation that is right but for these fields. */
const sendTo =
  ({ id, path }: (typeof all)[number]) =>
  (terminal: Terminal, fields: object) =>
    terminal.send(path.slice('/rails/cards/'.length), {
      amount: 1,
      channel: 'pos',
      ...ADVICE[id as keyof typeof ADVICE],
      ...newIdentity(),
      token: terminal.token,
      ...fields,
    })

describe.each(OPERATIONS)('%s: what cannot be read', (id, operation) => {
  const isDecided = id === 'authorizeCard' || id === 'inquireCardBalance'
  const send = sendTo(operation)

  test('every field is either decisive or a text for people', () =>
    expect(fieldsOf(operation).filter((name) => !(name in DECIDES) && !FOR_PEOPLE.includes(name))).toEqual(
      [],
    ))

  test('what is stated and cannot be read is declined or kept, and named', async () => {
    const terminal = await newTerminal()
    const cases = fieldsOf(operation).flatMap((name) =>
      DECIDES[name] ? unreadableOf(DECIDES[name]).map((value) => [name, value] as const) : [],
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

  test('another spelling of a name is that field', async () => {
    const terminal = await newTerminal()
    const names = fieldsOf(operation).filter(
      (name) => DECIDES[name] && !DECIDES[name].read?.includes('zzz zzz'),
    )
    expect(names.length).toBeGreaterThan(5)
    for (const name of [...names, 'currencyCode', 'txnStatus']) {
      const spelled = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).toUpperCase()
      const { json } = await send(terminal, { [name]: undefined, [spelled]: 'USD ?' })
      expect((json as { payload: Json }).payload['status'], name).toBe(isDecided ? 'declined' : 'quarantined')
    }
  })

  test('null and an empty text are the absence of a field', async () => {
    const terminal = await newTerminal()
    for (const name of fieldsOf(operation)) {
      const outcomes = []
      for (const value of ABSENT) {
        const { status, json } = await send(terminal, { [name]: value })
        const { reason, responseCode, status: decided } = (json as { payload: Json }).payload
        outcomes.push(JSON.stringify([status, reason, responseCode, decided]))
      }
      expect(new Set(outcomes).size, name).toBe(1)
    }
  })
})

describe.each(OPERATIONS)('%s: what can be read', (_, operation) => {
  const send = sendTo(operation)

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
