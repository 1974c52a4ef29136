import { required } from '@svc/kernel/invariant'
import { SIGNATURE_HEADER, signNotice } from '../http/notice-signature.ts'
import type { SelfCall, Services } from '../http/operation.ts'
import { railKeys } from '../qr-codes/authenticate-rail.ts'

type Call = (call: SelfCall) => Promise<{ payload: Record<string, string> }>

/** Disputes of a new payment for the reference: one to contest, one to accept, and the credit for another. */
export async function disputesForReference(services: Services, call: Call, disputedUtr: string) {
  const nowMs = services.clock.now()
  const dispute = async (which: string): Promise<string> => {
    const notice = { caseReference: `REFERENCE${which}${nowMs}`, utr: disputedUtr, amount: 1 }
    const body = Buffer.from(JSON.stringify({ ...notice, reason: 'Goods not received' }))
    const key = required(railKeys(services)[0], 'a key of the rail')
    const headers = {
      'content-type': 'application/json',
      [SIGNATURE_HEADER]: signNotice(body, key, nowMs),
    }
    const { payload } = await call({ method: 'POST', path: '/rails/upi/disputes', headers, body })
    return required(payload['disputeId'], 'a dispute')
  }
  return { disputedUtr, disputeId: await dispute('A'), lostDisputeId: await dispute('B') }
}
