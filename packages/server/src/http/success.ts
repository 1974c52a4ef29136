import type { HttpResponse } from '@svc/platform/db/idempotency-store'
import type { Envelope } from './failure-body.ts'

/** Spec section 7 rule 2: the success envelope of the QR, payment and coin operations. */
export const succeed = (payload: unknown): string =>
  JSON.stringify({ response_code: 0, response_message: 'Success', payload })

/** Spec section 7 rule 2: the success envelope of the card operations. */
export const succeedWithCode = (payload: unknown): string =>
  JSON.stringify({ code: 0, message: 'Success', payload })

/** How a success is written in an envelope; `problem` is the console's, whose successes are bare. */
export const successOf = (envelope: Envelope): ((payload: unknown) => string) =>
  envelope === 'code' ? succeedWithCode : envelope === 'response_code' ? succeed : JSON.stringify

export const ok = (payload: unknown): HttpResponse => ({ status: 200, body: succeed(payload) })
export const okWithCode = (payload: unknown): HttpResponse => ({
  status: 200,
  body: succeedWithCode(payload),
})
