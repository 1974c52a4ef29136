import { contradicts } from '@svc/kernel/outcome-beside'
import { expect, test } from 'vitest'

const PAID = { of: 'payment', outcome: 'success', side: 'credit' } as const
const NOT_MOVED: Readonly<Record<string, readonly unknown[]>> = {
  success: [false, 'false', 'N', 0, 'FAILED', 'maybe', {}],
  isSuccess: [false],
  paid: ['no'],
  responseCode: ['U30', 'ZM', '91', 91, 'PENDING', {}],
  txn_resp_code: ['05'],
  errorCode: ['U30', 'BAD_REQUEST_ERROR'],
  failureReason: ['insufficient funds'],
  error: [{ code: 'U30' }, true, 'timeout'],
  event: ['payment.failed', 'PAYMENT_FAILED', 'paymentFailed', 'upi.credit.reversed', 'payment.authorized'],
  eventType: ['payment.pending'],
  code: ['PAYMENT_ERROR', 'PAYMENT_PENDING'],
  responseMessage: ['Transaction declined'],
  message: ['Payment failed', 'PAYMENT_PENDING'],
  approved: [false],
  respCode: ['51'],
  actionCode: ['100'],
  rc: ['U30'],
  status_code: ['U30', 'FAILED'],
  statusDesc: ['Failed at the bank'],
  errCode: ['U30'],
  errMsg: ['no funds'],
  failed: [true, 'Y'],
  declined: [true],
  reversed: [true, 1],
  refunded: [true],
  reversalFlag: ['Y'],
  refundStatus: ['SUCCESS', 'PENDING', 'full'],
  disputeStatus: ['OPEN'],
  type: ['DEBIT', 'REVERSAL'],
  txnType: ['REVERSAL', 'DR'],
  drCr: ['D', 'DR'],
  'Dr/Cr': ['DR'],
  CdtDbtInd: ['DBIT'],
  txnStatus: ['FAILED', 'nothing that we know', {}],
}
const SAYS_NOTHING_ELSE: Readonly<Record<string, readonly unknown[]>> = {
  success: [true, 'true', 'Y', 1, 'SUCCESS', null, ''],
  responseCode: ['00', '0', 0, 200, 'SUCCESS', 'S', null],
  errorCode: ['', null, '00', '0', 'NA', 'none', 0],
  error: [false, {}, { code: null, reason: '' }, null],
  event: ['payment.captured', 'PAYMENT_SUCCESS_WEBHOOK', 'upi.credit.received', 'qr_code.credited'],
  code: ['PAYMENT_SUCCESS', 'U30'],
  type: ['P2M', 'credit', 'CREDIT'],
  rc: ['00'],
  statusCode: [200, '00', 'SUCCESS'],
  error_Message: ['No Error'],
  reversed: [false, 'N'],
  refunded: [0, '0.00'],
  refundStatus: [null, 'NONE', 'FAILED'],
  drCr: ['C', 'CR'],
  CdtDbtInd: ['CRDT'],
  state: ['Karnataka'],
  responseMessage: ['Transaction successful', 'thank you'],
  message: ['Credit received, settlement pending', 'Invoice 42'],
  // Amounts, and no truth values.
  paid: [249.5, '249.50'],
  credited: ['1000'],
  txnStatus: ['SUCCESS'],
  remarks: ['failed twice before'],
}
const cases = (of: Readonly<Record<string, readonly unknown[]>>) =>
  Object.entries(of).flatMap(([name, values]) => values.map((value) => [name, value] as const))

test.each(cases(NOT_MOVED))('%s %j: the money has not moved', (name, value) => {
  expect(contradicts(name, value, PAID)).toContain('does not say that the payment is complete')
})

test.each(cases(SAYS_NOTHING_ELSE))('%s %j: nothing speaks against it', (name, value) => {
  expect(contradicts(name, value, PAID)).toBeUndefined()
})

test('of a refund, that money went back is that it was made', () => {
  const refund = { of: 'refund', outcome: 'success' } as const
  for (const [name, value] of [
    ['event', 'payment.refunded'],
    ['type', 'DEBIT'],
    ['reversed', true],
  ] as const)
    expect(contradicts(name, value, refund)).toBeUndefined()
  expect(contradicts('event', 'refund.failed', refund)).toContain('the refund')
})

test('what failed is contradicted by a statement of success, and by nothing else', () => {
  const failed = { of: 'refund', outcome: 'failed' } as const
  for (const [name, value] of [
    ['success', true],
    ['responseCode', '00'],
    ['event', 'refund.processed'],
    ['data_status', 'x'],
    ['refund_status', 'SUCCESS'],
  ] as const)
    expect(contradicts(name, value, failed) === undefined, name).toBe(name === 'data_status')
  for (const [name, value] of [
    ['success', false],
    ['responseCode', 'U30'],
    ['type', 'REFUND'],
    ['errorCode', 'U30'],
    ['message', 'Success of a return'],
    ['paid', 249.5],
    ['refund_status', 'FAILED'],
  ] as const)
    expect(contradicts(name, value, failed), name).toBeUndefined()
})

test('lines have sides, and what people write says nothing', () => {
  const debit = { of: 'settlement', outcome: 'success', side: 'debit', hasTexts: true } as const
  expect(contradicts('Dr/Cr', 'DR', debit)).toBeUndefined()
  expect(contradicts('Dr/Cr', 'CR', debit)).toContain('CR')
  expect(contradicts('description', 'failed order', debit)).toBeUndefined()
  expect(contradicts('response_message', 'failed order', debit)).toContain('failed')
})
