import { fail } from '@svc/contract/errors'
import type { Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { adjustmentChange } from './adjustment-rules.ts'
import { adjustedByOnePerson } from './by-one-person.ts'
import { type Payment, payments } from './payment.ts'
import type { SettlementLine } from './settlement-line.ts'

type Found = Payment & {
  /** Of its settlement line. */
  readonly lineStatus: SettlementLine['status'] | null
  readonly linePaise: Paise | null
  /** Of the payment's merchant: what has this reference. */
  readonly takenBy: string | null
  readonly takenPaise: Paise | null
}

const FIND = statement<Found>(
  'payment_to_adjust',
  `select ${payments.columns}, l.status as "lineStatus", l.amount_paise as "linePaise",
     a.payment_id as "takenBy", a.amount_paise as "takenPaise"
   from payments p
     left join settlement_lines l on l.tenant_id = p.merchant_id and l.utr = p.utr
     left join payment_adjustments a on a.merchant_id = p.merchant_id and a.reference = $2
   where p.payment_id = $1 or p.utr = $1 and p.status <> 'ASSIGNED'`,
)

interface AdjustmentRequest {
  /** Or the bank's reference of the payment. */
  readonly paymentId: string
  readonly amountPaise: Paise
  readonly reference: string
}

export interface Adjusting {
  readonly merchantId: string
  readonly paymentId: string
  readonly changePaise: Paise
  /** What was adjusted of the payment before without a second person: it counts against the limit. */
  readonly beforePaise: bigint
  /** The reference has adjusted it so already. */
  readonly isRepeat: boolean
}

/**
 * For operators: by how much a payment would change, before it is locked; the command decides it again. Throws where it
 * must not. `undefined`: there is no such payment.
 */
export async function findAdjusting(tx: Tx, request: AdjustmentRequest): Promise<Adjusting | undefined> {
  const [found] = await tx.query(FIND, [request.paymentId, request.reference])
  if (!found) return undefined
  const { linePaise, lineStatus, merchantId, paymentId, takenBy, takenPaise } = found
  if (takenBy !== null && (takenBy !== paymentId || takenPaise !== request.amountPaise))
    fail('adjustment_reference_used')
  if (takenBy !== null)
    return { merchantId, paymentId, changePaise: found.adjustedPaise, beforePaise: 0n, isRepeat: true }
  const line =
    lineStatus !== null && linePaise !== null ? { status: lineStatus, amountPaise: linePaise } : undefined
  const changePaise = adjustmentChange(found, line, request.amountPaise)
  const before = (await adjustedByOnePerson(tx, [found])).of(merchantId).get(paymentId) ?? 0n
  return { merchantId, paymentId, changePaise, beforePaise: before, isRepeat: false }
}
