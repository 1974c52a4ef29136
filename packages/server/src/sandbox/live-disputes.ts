import { required } from '@svc/kernel/invariant'
import { SIGNATURE_HEADER, signNotice } from '../http/notice-signature.ts'
import type { SelfCall, Services } from '../http/operation.ts'
import { railKeys } from '../rails/authenticate-rail.ts'
import type { Props, Request } from './live-values.ts'

type Call = (call: SelfCall) => Promise<{ payload: Record<string, string> }>

/** Disputes of a new payment for the reference: one to contest, one to accept, and the credit for another. */
export async function disputesForReference(services: Services, call: Call, qrCodeId: string) {
  const nowMs = services.clock.now()
  const disputedUtr = `DISPUTED${nowMs}`
  await call({
    method: 'POST',
    path: '/sandbox/upi/pay',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ qrCodeId, utr: disputedUtr, amount: 249.5 })),
  })
  const dispute = async (which: string): Promise<string> => {
    const notice = { caseReference: `REFERENCE${which}${nowMs}`, utr: disputedUtr, amount: 1 }
    const body = Buffer.from(JSON.stringify({ ...notice, reason: 'Goods not received' }))
    const key = required(railKeys(services, 'upi')[0], 'a key of the rail')
    const headers = {
      'content-type': 'application/json',
      [SIGNATURE_HEADER]: signNotice(body, key, nowMs),
    }
    const { payload } = await call({ method: 'POST', path: '/rails/upi/disputes', headers, body })
    return required(payload['disputeId'], 'a dispute')
  }
  return { disputedUtr, disputeId: await dispute('A'), lostDisputeId: await dispute('B') }
}

/** What the examples of disputes send for them. */
export const disputeRequests = (props: Props, nowMs: number): Record<string, Request> => ({
  getDispute: { params: { disputeId: props.disputeId } },
  submitEvidence: { params: { disputeId: props.disputeId } },
  acceptDispute: { params: { disputeId: props.lostDisputeId } },
  receiveDispute: { body: { caseReference: `CASE${nowMs}`, utr: props.disputedUtr, amount: 1 } },
})
