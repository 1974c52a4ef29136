import { type Client, payloadOf } from './client.ts'
import { trsOf } from './qr-codes.ts'
import type { Recorder } from './recorder.ts'
import { recordMoneyOut } from './refund-examples.ts'
import { RAIL_KEY, type TestMerchant, type TestService } from './service.ts'

interface Shop {
  readonly service: TestService
  readonly merchant: TestMerchant
  readonly shop: Client
  /** Without credentials, for the sandbox and the bank. */
  readonly open: Client
}

const NOT_FOUND = ['qr_code_not_found', 'Not there, or not yours'] as const
const MISSING = { params: { qrCodeId: 'qr_nothing' } }

/** Examples of codes, of their payments and of what follows from these, and of the notices of the bank. */
export async function recordQrCodes(recorder: Recorder, callers: Shop): Promise<void> {
  const { service, merchant, shop } = callers
  const qrCodeId = await recordOrderCode(recorder, callers)
  const paymentId = await recordPayments(recorder, shop, qrCodeId)
  await recordMoneyOut(recorder, { service, merchant, shop, paymentId })
  await recordCancel(recorder, shop, qrCodeId)
  await recordNotices(recorder, callers)
}

async function recordOrderCode(recorder: Recorder, { shop, open }: Shop): Promise<string> {
  const order = { qrName: 'Order 1042', amount: 249.5, fixedAmount: true, referenceNumber: 'order-1042' }
  const keyed = { headers: { 'Idempotency-Key': 'order-1042-qr' }, body: order }
  const made = await recorder.works('createQrCode', 'A code for one order', shop, keyed)
  const { qrCodeId } = payloadOf(made)
  const bad = { body: { qrName: 'Order 1043', amount: 249.505, colour: 'blue' } }
  await recorder.fails('createQrCode', 'validation_failed', 'Every bad field is named', shop, bad)
  const inUse = ['reference_in_use', 'The reference has a code of another amount'] as const
  await recorder.fails('createQrCode', ...inUse, shop, { body: { ...order, amount: 300 } })
  await recorder.works('getQrCode', 'With its image', shop, { params: { qrCodeId } })
  await recorder.fails('getQrCode', ...NOT_FOUND, shop, MISSING)
  await recorder.works('sandboxPay', 'A payer scans and pays', open, {
    body: { qrCodeId, payerVpa: 'asha@bank' },
  })
  const nobody = { body: { qrCodeId: 'qr_nothing', amount: 10 } }
  await recorder.fails('sandboxPay', 'qr_code_not_found', 'No such code', open, nobody)
  await recorder.works('searchQrCodes', 'By reference', shop, {
    body: { referenceNumber: 'order-1042', limit: 10 },
  })
  await recorder.fails('searchQrCodes', 'validation_failed', 'A limit out of range', shop, {
    body: { limit: 1000 },
  })
  return qrCodeId
}

async function recordPayments(recorder: Recorder, shop: Client, qrCodeId: string): Promise<string> {
  const ofCode = { params: { qrCodeId }, query: { limit: '10' } }
  await recorder.works('listPayments', 'What came for a code', shop, ofCode)
  await recorder.fails('listPayments', ...NOT_FOUND, shop, MISSING)
  await recorder.works('findPayments', 'Of one order', shop, { query: { referenceNumber: 'order-1042' } })
  const [{ paymentId }] = payloadOf(await shop.get('/api/v0/payments?referenceNumber=order-1042')).data
  await recorder.works('getPayment', 'One payment', shop, { params: { paymentId } })
  await recorder.fails('getPayment', 'payment_not_found', 'Not there, or not yours', shop, {
    params: { paymentId: 'pay_nothing' },
  })
  return paymentId
}

async function recordCancel(recorder: Recorder, shop: Client, qrCodeId: string): Promise<void> {
  const counter = payloadOf(await shop.post('/api/v0/qr-code', { qrName: 'Counter', multipleUse: true }))
  await recorder.works('cancelQrCode', 'No payment after this', shop, {
    params: { qrCodeId: counter.qrCodeId },
    body: {},
  })
  await recorder.fails('cancelQrCode', ...NOT_FOUND, shop, { ...MISSING, body: {} })
  const mismatch = ['access_key_mismatch', 'The access key names another merchant'] as const
  await recorder.fails('cancelQrCode', ...mismatch, shop, {
    params: { qrCodeId },
    headers: { merchantAccessKey: 'mak_0123456789abcdefghjkmnpq' },
    body: {},
  })
}

async function recordNotices(recorder: Recorder, { service, shop, open }: Shop): Promise<void> {
  const made = payloadOf(await shop.post('/api/v0/qr-code', { qrName: 'Table 7', multipleUse: true }))
  const tr = (await trsOf(service.db.database, [made.qrCodeId])).get(made.qrCodeId)!
  const credit = { utr: 'AXISN0000000042', tr, amount: 75, payerVpa: 'asha@bank' }
  await recorder.works('acceptPayment', 'The bank tells of a credit', open, { body: credit })
  await open.notify('/rails/upi/credits', { ...credit, tr: made.qrCodeId, utr: 'AXISN0000000043' }, RAIL_KEY)
  await recorder.works('confirmRefund', 'The bank has sent the money back', open, {
    body: { utr: 'AXISN0000000043' },
  })
}
