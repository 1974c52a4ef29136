import { isRail } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { numberOf, transferTo } from '../harness/bank-rail.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { utrOf } from '../harness/disputes.ts'
import { newPartner } from '../harness/partner.ts'
import { creditOf, newCode, newUtr } from '../harness/qr-codes.ts'
import { shopWith } from '../harness/refunds.ts'
import { BANK_RAIL_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'
import { ABSENT, type FieldCase, unreadableOf } from '../harness/stated-values.ts'

// The messages of cards have decisions and identities of their own: card-rail-fields.test.ts.
const KEYS: Readonly<Record<string, string>> = { rail: RAIL_KEY, bankRail: BANK_RAIL_KEY }
const RAILS = OPERATIONS.filter((operation) => isRail(operation) && operation.auth in KEYS)
const fieldsOf = ({ body }: (typeof RAILS)[number]) =>
  Object.keys((body as unknown as { properties: object }).properties)

let service: TestService
/** A message of each operation that is right, for each call a new one. */
const RIGHT: Record<string, () => Promise<object> | object> = {}

beforeAll(async () => {
  // Without the simulated bank, which would make refunds meanwhile.
  service = await openService({ background: false })
  const now = () => new Date(service.clock.now()).toISOString()
  const shop = await shopWith(service, 50_000)
  const { tr } = await newCode(service, shop.client, { multipleUse: true })
  const utr = await utrOf(service, shop.paymentId)
  const partner = await newPartner(service)
  const virtualAccount = await numberOf(service, partner)
  RIGHT['acceptPayment'] = () => ({ ...creditOf(tr), transactionTime: now() })
  RIGHT['confirmRefund'] = async () => {
    const request = { amount: 1, referenceNumber: newUtr() }
    const { refundId } = payloadOf(await shop.client.post(shop.path, request))
    return { utr: newUtr(), refundId, amount: 1, status: 'SUCCESS' }
  }
  RIGHT['receiveDispute'] = () => ({ caseReference: newUtr(), utr, amount: 1 })
  RIGHT['receiveSettlement'] = () => ({
    batchUtr: newUtr(),
    valueDate: now(),
    netAmount: 1,
    lines: [{ kind: 'charge', amount: 1 }],
  })
  RIGHT['receiveBankCredit'] = () => ({ ...transferTo(virtualAccount), transactionTime: now() })
})
afterAll(() => service.close())

const TEXT: FieldCase = { read: ['zzz zzz', '1e3', -1, '٣'] }
/** What is looked up: any letters and digits. */
const CODE: FieldCase = { read: ['zzz zzz', '1e3', -1], unreadable: ['SVC１２३'] }
const REFERENCE: FieldCase = {
  unreadable: ['undefined', 'XXXXXXXXXXXX', 'NONREF', '000000000000', 4.32199e21, '432198765009.0'],
}
const TIMES: FieldCase = {
  unreadable: [
    '2026-11-27T16:23:36',
    '2026-11-27 16:23:36 (UTC)',
    '2026-11-27T16:23:36+99:99',
    '2026-02-30T00:00:00Z',
    'yesterday',
    0,
    '1126162336',
    '2611271623',
  ],
}

/** What each field reads and what not; a field of an operation by `operation.field` where it differs. */
const FIELDS: Readonly<Record<string, FieldCase>> = {
  utr: REFERENCE,
  'confirmRefund.utr': { unreadable: ['undefined', 'NONREF', '432198765009.0'], read: ['zzz zzz'] },
  tr: CODE,
  payerVpa: TEXT,
  payeeVpa: TEXT,
  remitterName: TEXT,
  remitterAccount: TEXT,
  mode: TEXT,
  virtualAccount: CODE,
  reason: TEXT,
  refundId: { unreadable: ['rfd_', 'undefined'] },
  caseReference: { unreadable: ['undefined', 'NONREF'] },
  amount: {
    spelled: ['1', '1.00', '1.000', '₹1', ' 1 ', 'INR 1'],
    unreadable: [0, '0.00', '000000000100', '249,50', 'USD 1', '1.005', 1e21, 'one'],
  },
  currency: { spelled: ['INR', 'inr', 356, '356', '₹'], unreadable: ['USD', 840, 0, '0', 'Dollar'] },
  status: {
    spelled: ['SUCCESS', 'success', ' Success ', 'TXN_SUCCESS'],
    unreadable: ['PENDING', 'DEEMED', 'TIMEOUT', 'REFUSED?', '!SUCCESS', 'SUCCESS?', '未 SUCCESS', 0],
  },
  'acceptPayment.status': {
    spelled: ['SUCCESS', 'success', 'TXN_SUCCESS', 'payment.captured'],
    unreadable: [
      'FAILED',
      'PENDING',
      'DEEMED',
      'REVERSED',
      'CANCELLED',
      'TIMEOUT',
      'CHARGEBACK',
      0,
      '!SUCCESS',
      'SUCCESS?',
      '未 SUCCESS',
      'Deemed Accepted',
      'PENDING_BANK',
      'U30',
      'RB',
    ],
  },
  'receiveBankCredit.status': {
    spelled: ['SUCCESS', 'Transfer_Success'],
    unreadable: ['FAILED', 'PENDING', 'REVERSED', 'BOUNCED', 0],
  },
  'receiveDispute.status': {
    spelled: ['OPEN', 'open', 'needs_response'],
    unreadable: ['ACCEPTED', 'REJECTED', 'over', 0],
  },
  transactionTime: {
    ...TIMES,
    unreadable: [...TIMES.unreadable!, '2999-01-01T00:00:00Z', '1999-01-01T00:00:00Z'],
  },
  respondBy: TIMES,
  batchUtr: { unreadable: ['undefined', 'NONREF', '000000000000', 4.32199e21] },
  valueDate: { unreadable: ['31-31-2026', '2999-01-01', '1999-01-01', 'yesterday', '11-27-2026'] },
  netAmount: {
    spelled: ['1', '1.00', '₹1', ' 1 ', 'INR 1'],
    read: [-1],
    unreadable: ['249,50', 'USD 1', '1.005', 1e21, 'one'],
  },
  lines: { unreadable: [[[]], 'none'] },
}

/** What banks call a field besides. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  status: ['txnStatus', 'payment_status', 'TransactionStatus', 'State', 'txn_state'],
  currency: ['currencyCode', 'txn_currency', 'Ccy'],
}

const caseOf = (id: string, field: string): FieldCase | undefined => FIELDS[`${id}.${field}`] ?? FIELDS[field]

describe.each(RAILS.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  const fields = fieldsOf(operation)
  const send = (message: object) => service.client.notify(operation.path, message, KEYS[operation.auth]!)
  const right = async () => (await RIGHT[id]!()) as Record<string, unknown>

  test('every field is of a kind whose spellings are listed', () =>
    expect(fields.filter((field) => !caseOf(id, field))).toEqual([]))

  test('what is stated and cannot be read is kept for people, and named', async () => {
    const message = await right()
    for (const field of fields)
      for (const value of unreadableOf(caseOf(id, field)!)) {
        const { status, json } = await send({ ...message, [field]: value })
        const { payload } = json as { payload: Json }
        const what = `${field} ${JSON.stringify(value)}`
        expect([status, payload['status'], payload['field']], what).toEqual([202, 'QUARANTINED', field])
      }
    // Nothing of them was followed: the message is carried out as if it came first.
    expect((await send(message)).status).toBe(200)
  })

  test('null and text without a visible character are the absence of a field', async () => {
    for (const field of fields) {
      const outcomes: string[] = []
      for (const value of ABSENT) {
        const { status, json } = await send({ ...(await right()), [field]: value })
        const { status: kept, reason, field: named } = (json as { payload: Json }).payload
        outcomes.push(JSON.stringify([status, kept, reason, named]))
      }
      expect(new Set(outcomes).size, `${field}: ${outcomes.join(' ')}`).toBe(1)
    }
  })

  test('other spellings of a value are that value, and other spellings of a name that field', async () => {
    for (const field of fields)
      for (const value of caseOf(id, field)?.spelled ?? []) {
        const { [field]: _, ...message } = await right()
        const { status, text } = await send({ ...message, [field]: value })
        expect(status, `${field} ${String(value)}: ${text}`).toBe(200)
        for (const name of [field.toUpperCase(), ...(OTHER_NAMES[field] ?? [])]) {
          const { status: other } = await send({ ...(await right()), [name]: 'USD ?' })
          expect(other, name).toBe(202)
        }
        for (const name of OTHER_NAMES[field] ?? []) {
          const both = await send({ ...(await right()), [field]: value, [name]: value })
          expect(both.status, `${field} and ${name}: ${both.text}`).toBe(200)
          const apart = await send({ ...(await right()), [field]: value, [name]: 'PENDING' })
          expect(apart.status, `${field} and another ${name}`).toBe(202)
        }
      }
  })
})
