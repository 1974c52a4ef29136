import { reconcile } from '@svc/core/ledger/reconcile'
import { PAYMENT_CHECKS } from '@svc/core/payments/reconcile-payments'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Client, payloadOf } from '../harness/client.ts'
import { LONG } from '../harness/long.ts'
import { type ServiceProcess, startProcesses } from '../harness/processes.ts'
import { cancel, creditOf, newCode, newCodes, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  RAIL_KEY,
  type TestMerchant,
  type TestService,
  tokenOf,
} from '../harness/service.ts'

// Processes of their own take long to start on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** Promises E2 and E3 are tested with 1000 codes of 64 payers each, and 20 rounds. */
const CODES = Number(process.env['RACE_CODES'] ?? (LONG ? 300 : 60))
const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? (LONG ? 20 : 4))
const PAYERS = Number(process.env['RACE_PAYERS'] ?? 16)
const CODES_AT_ONCE = 30

let service: TestService
let merchant: TestMerchant
let others: ServiceProcess[]
/** The same merchant at three processes of the service on one database: this one and two of their own. */
let clients: Client[]

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, UPI_RAIL_KEYS: RAIL_KEY }
  others = await startProcesses(2, env, service.app.services.config.DATA_DIR)
  clients = [await service.as(merchant)]
  for (const { baseUrl } of others) {
    const plain = await Client.open(baseUrl)
    clients.push(plain.with({ authorization: `Bearer ${await tokenOf(plain, merchant.apiKey)}` }))
  }
})
afterAll(async () => {
  await Promise.all((others ?? []).map((other) => other.end('SIGTERM')))
  await service.close()
})

const at = (n: number): Client => clients[n % clients.length]!

test(`cancel and pay at once, ${ROUNDS * 100} times: a payment is accepted before the cancel or refunded, never after it`, async () => {
  let acceptedCount = 0
  for (let round = 0; round < ROUNDS; round++) {
    const codes = await newCodes(service, at(0), 100, { multipleUse: true })
    const outcomes = await Promise.all(
      codes.map(async ({ qrCodeId, tr }, n) => {
        const pay = (client: Client) => notifyCredit(client, creditOf(tr)).then(payloadOf)
        // The order of sending alternates, so that both sides win at times.
        const racing =
          n % 2 ? [pay(at(n)), cancel(at(n + 1), qrCodeId)] : [cancel(at(n + 1), qrCodeId), pay(at(n))]
        const raced = await Promise.all(racing)
        const [payment, cancelled] = n % 2 ? [raced[0], payloadOf(raced[1])] : [raced[1], payloadOf(raced[0])]
        return { payment, cancelled, late: await pay(at(n + 2)) }
      }),
    )
    for (const { payment, cancelled, late } of outcomes) {
      expect(cancelled.status).toBe('CANCELLED')
      expect(late).toMatchObject({ status: 'REFUND_PENDING', reason: 'qr_code_cancelled' })
      if (payment.status === 'ACCEPTED') {
        acceptedCount++
        expect(Date.parse(payment.createdOn)).toBeLessThanOrEqual(Date.parse(cancelled.modifiedOn))
      } else expect(payment).toMatchObject({ status: 'REFUND_PENDING', reason: 'qr_code_cancelled' })
    }
  }
  expect(acceptedCount).toBeGreaterThan(0)
  expect(acceptedCount).toBeLessThan(ROUNDS * 100)
})

test(`${PAYERS} payers for each of ${CODES} single-use codes: exactly one is accepted`, async () => {
  for (let left = CODES; left > 0; left -= CODES_AT_ONCE) {
    const codes = await newCodes(service, at(0), Math.min(left, CODES_AT_ONCE))
    const paid = await Promise.all(
      codes.flatMap(({ qrCodeId, tr }) =>
        Array.from({ length: PAYERS }, async (_, payer) => ({
          qrCodeId,
          ...payloadOf(await notifyCredit(at(payer), creditOf(tr))),
        })),
      ),
    )
    for (const { qrCodeId } of codes) {
      const ofCode = paid.filter((payment) => payment.qrCodeId === qrCodeId)
      expect(ofCode.filter(({ status }) => status === 'ACCEPTED')).toHaveLength(1)
      expect(ofCode.filter(({ reason }) => reason === 'qr_code_used')).toHaveLength(PAYERS - 1)
    }
  }
}, 1_200_000)

test('one referenceNumber created by 48 callers on three processes creates one code', async () => {
  for (let round = 0; round < 20; round++) {
    const request = { referenceNumber: `raced-${round}`, qrName: 'Raced' }
    const made = await Promise.all(
      Array.from({ length: 48 }, (_, n) => at(n).post('/api/v0/qr-code', request).then(payloadOf)),
    )
    expect(new Set(made.map(({ qrCodeId }) => qrCodeId)).size).toBe(1)
    const { recordsCount } = payloadOf(
      await at(0).post('/api/v0/qr-code/search', { referenceNumber: `raced-${round}` }),
    )
    expect(recordsCount).toBe(1)
  }
})

test('one credit notified by 48 callers on three processes is one payment', async () => {
  const { qrCodeId, tr } = await newCode(service, at(0), { multipleUse: true })
  for (let round = 0; round < 20; round++) {
    const credit = creditOf(tr)
    const responses = await Promise.all(Array.from({ length: 48 }, (_, n) => notifyCredit(at(n), credit)))
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  }
  expect(payloadOf(await at(0).get(`/api/v0/qr-code/${qrCodeId}/payments`)).recordsCount).toBe(20)
})

test('one bank reference for two codes at once is one payment; the other notice is quarantined', async () => {
  for (let round = 0; round < 20; round++) {
    const codes = await newCodes(service, at(0), 3)
    const utr = newUtr()
    const responses = await Promise.all(codes.map(({ tr }, n) => notifyCredit(at(n), creditOf(tr, { utr }))))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 202, 202])
  }
})

test('a refund confirmed by 30 callers on three processes moves money once', async () => {
  const { qrCodeId, tr } = await newCode(service, at(0))
  await cancel(at(0), qrCodeId)
  const credit = creditOf(tr)
  expect(payloadOf(await notifyCredit(at(0), credit)).status).toBe('REFUND_PENDING')
  const confirm = (n: number) => at(n).notify('/rails/upi/refunds', { utr: credit.utr }, RAIL_KEY)
  const responses = await Promise.all(Array.from({ length: 30 }, (_, n) => confirm(n)))
  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
})

test('after all races the books balance and match the payments', async () => {
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query<{ n: number }>('select count(*)::int as n from payments'),
  )
  const reconciliation = await reconcile(service.app.services.database, PAYMENT_CHECKS)
  expect(reconciliation.checks.filter(({ ok }) => !ok)).toEqual([])
  expect(reconciliation.transfers).toBeGreaterThanOrEqual(rows[0]!.n)
})
