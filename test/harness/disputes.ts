import { type Client, payloadOf } from './client.ts'
import { newUtr } from './qr-codes.ts'
import { asSuperuser, RAIL_KEY, type TestService } from './service.ts'

export const notifyDispute = (on: TestService, notice: object) =>
  on.client.notify('/rails/upi/disputes', notice, RAIL_KEY)

const valueOf = (on: TestService, sql: string, id: string): Promise<string> =>
  asSuperuser(on.db.database, async (db) => (await db.query<{ value: string }>(sql, [id])).rows[0]!.value)

export const utrOf = (on: TestService, paymentId: string): Promise<string> =>
  valueOf(on, 'select utr as value from payments where payment_id = $1', paymentId)

/** The bank reports that the payer disputes a payment, by default one rupee of it; returns the id of the dispute. */
export async function newDispute(on: TestService, paymentId: string, notice: object = {}): Promise<string> {
  const utr = await utrOf(on, paymentId)
  const report = { caseReference: newUtr(), utr, amount: 1, reason: 'Goods not received', ...notice }
  return payloadOf(await notifyDispute(on, report)).disputeId
}

/** The bank reports how a dispute ended. */
export async function closeAs(on: TestService, disputeId: string, status: 'WON' | 'LOST') {
  const sql = 'select case_reference as value from disputes where dispute_id = $1'
  const caseReference = await valueOf(on, sql, disputeId)
  return payloadOf(await notifyDispute(on, { caseReference, status }))
}

export const endedDispute = async (on: TestService, paymentId: string, status: 'WON' | 'LOST') =>
  closeAs(on, await newDispute(on, paymentId), status)

/** A refund and a dispute of one rupee each. */
export async function newRefundAndDispute(on: TestService, client: Client, paymentId: string) {
  const request = { amount: 1, referenceNumber: 'first' }
  const { refundId } = payloadOf(await client.post(`/api/v0/payments/${paymentId}/refunds`, request))
  return { refundId: refundId as string, disputeId: await newDispute(on, paymentId) }
}
