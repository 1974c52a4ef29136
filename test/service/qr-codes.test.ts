import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { openService, RAIL_KEY, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let client: Client

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  client = await service.as(merchant)
})
afterAll(() => service.close())

test('a created code is returned with every field of the request, and a get returns the same', async () => {
  const request = {
    qrName: 'Table 12',
    multipleUse: true,
    fixedAmount: true,
    amount: 249.5,
    description: 'Lunch',
    expiry: '2027-01-31T18:30:00+05:30',
    customParams: { table: '12' },
    customerName: 'Asha',
    customerEmail: 'asha@example.com',
    customerMobile: '9876543210',
    customerId: 'c-1',
    referenceNumber: 'order-1',
  }
  const created = payloadOf(await client.post('/api/v0/qr-code', request))
  expect(created).toMatchObject({ ...request, expiry: '2027-01-31T18:30:00.000+05:30', status: 'ACTIVE' })
  expect(created.createdOn).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:30$/)
  expect(created.modifiedOn).toBe(created.createdOn)
  expect(payloadOf(await client.get(`/api/v0/qr-code/${created.qrCodeId}`))).toEqual(created)
})

test('cancelling twice returns what the first call returned', async () => {
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', {}))
  const first = await client.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, {})
  expect(payloadOf(first).status).toBe('CANCELLED')
  expect((await client.patch(`/api/v0/qr-code/${qrCodeId}/cancel`)).text).toBe(first.text)
})

test('a credit after the cancel is rejected, recorded and refunded', async () => {
  const { qrCodeId, tr } = await newCode({ multipleUse: true })
  payloadOf(await client.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, {}))
  const notice = { utr: 'LATE0000001', tr, amount: 10, payerVpa: 'payer@bank' }
  const refused = payloadOf(await service.client.notify('/rails/upi/credits', notice, RAIL_KEY))
  expect(refused).toMatchObject({ status: 'REFUND_PENDING', reason: 'qr_code_cancelled', utr: 'LATE0000001' })
  payloadOf(await service.client.notify('/rails/upi/refunds', { utr: 'LATE0000001' }, RAIL_KEY))
  const { data, recordsCount } = payloadOf(await client.get(`/api/v0/qr-code/${qrCodeId}/payments`))
  expect(recordsCount).toBe(1)
  expect(data[0]).toMatchObject({
    utr: 'LATE0000001',
    amount: 10,
    status: 'REFUNDED',
    reason: 'qr_code_cancelled',
  })
})

async function newCode(request: object): Promise<{ qrCodeId: string; tr: string }> {
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', request))
  const [row] = await service.app.services.database.read([merchant.merchantId], (tx) =>
    tx.query<{ tr: string }>({ name: 'test_tr', text: 'select tr from qr_codes where qr_code_id = $1' }, [
      qrCodeId,
    ]),
  )
  return { qrCodeId, tr: row!.tr }
}
