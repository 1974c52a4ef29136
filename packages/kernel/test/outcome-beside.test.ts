import { notMovedBy } from '@svc/kernel/outcome-beside'
import { expect, test } from 'vitest'

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
}
const SAYS_NOTHING_ELSE: Readonly<Record<string, readonly unknown[]>> = {
  success: [true, 'true', 'Y', 1, 'SUCCESS', null, ''],
  responseCode: ['00', '0', 0, 200, 'SUCCESS', 'S', null],
  errorCode: ['', null, '00', '0', 'NA', 'none', 0],
  error: [false, {}, { code: null, reason: '' }, null],
  event: ['payment.captured', 'PAYMENT_SUCCESS_WEBHOOK', 'upi.credit.received', 'qr_code.credited'],
  code: ['PAYMENT_SUCCESS', 'U30'],
  type: ['P2M', 'credit'],
  responseMessage: ['Transaction successful', 'thank you'],
  message: ['Credit received, settlement pending', 'Invoice 42'],
  // Amounts, and no truth values.
  paid: [249.5, '249.50'],
  credited: ['1000'],
  // What it says of the money, the status itself says.
  txnStatus: ['FAILED'],
  remarks: ['failed twice before'],
}
const cases = (of: Readonly<Record<string, readonly unknown[]>>) =>
  Object.entries(of).flatMap(([name, values]) => values.map((value) => [name, value] as const))

test.each(cases(NOT_MOVED))('%s %j: the money has not moved', (name, value) => {
  expect(notMovedBy(name, value, 'payment')).toContain('does not say that the payment is complete')
})

test.each(cases(SAYS_NOTHING_ELSE))('%s %j: nothing speaks against it', (name, value) => {
  expect(notMovedBy(name, value, 'payment')).toBeUndefined()
})

test('of a refund, that money went back is that it was made', () => {
  expect(notMovedBy('event', 'payment.refunded', 'refund')).toBeUndefined()
  expect(notMovedBy('event', 'refund.failed', 'refund')).toContain('the refund')
})
