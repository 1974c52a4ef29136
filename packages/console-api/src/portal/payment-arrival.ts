import { fail } from '@svc/contract/errors'
import { readBankDays } from '@svc/core/ledger/bank-holidays'
import { chargeSettings, readTerms, unaccrued } from '@svc/core/payments/fees/charging'
import { type FeeAccrual, feeAccruals } from '@svc/core/payments/fees/fee-accrual'
import { type PayoutStatus, taxOf } from '@svc/core/payments/payouts/payout'
import type { Charge } from '@svc/core/payments/payouts/payout-fees'
import { preparedOn, shownSchedules } from '@svc/core/payments/payouts/payout-schedule'
import { businessDayOf } from '@svc/core/payments/payouts/payout-statement'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { findRow } from '@svc/server/http/resource'
import { type ListedPayment, payment } from '@svc/server/payments/payment-resource'
import { Type } from 'typebox'
import { idParam, maybe, maybeInstant, record, rupeesText, text } from '../console-schema.ts'
import { memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

interface PaidIn extends Charge {
  readonly payoutId: string
  readonly businessDay: string
  readonly status: PayoutStatus
  readonly completedAt: Date | null
}
const PAID_IN = statement<PaidIn>(
  'portal_payout_of_payment',
  `select y.payout_id as "payoutId", y.business_day::text as "businessDay", y.status, y.completed_at as "completedAt",
     l.fee_paise as "feePaise", l.cgst_paise as "cgstPaise", l.sgst_paise as "sgstPaise", l.igst_paise as "igstPaise"
   from payout_lines l join payouts y on y.merchant_id = l.merchant_id and y.payout_id = l.payout_id
   where l.merchant_id = $1 and l.object_id = $2 and l.kind = 'payment' and not l.released`,
)
const ENTERED = statement<FeeAccrual>(
  'portal_fee_of_payment',
  `select ${feeAccruals.columns} from fee_accruals f where f.merchant_id = $1 and f.payment_id = $2`,
)
const DISPUTES = statement<{ disputeId: string; status: string; paise: Paise }>(
  'portal_disputes_of_payment',
  `select d.dispute_id as "disputeId", d.status, d.amount_paise as paise from disputes d
   where d.merchant_id = $1 and d.payment_id = $2 order by d.created_at, d.dispute_id limit 20`,
)

/** What is charged: as it was entered, or as it will be when the business day is over. */
async function chargeOfPayment(tx: Tx, one: ListedPayment, { config }: PortalServices): Promise<Charge> {
  const { amountPaise, createdAt: occurredAt, merchantId, paymentId: objectId } = one
  const [entered] = await tx.query(ENTERED, [merchantId, objectId])
  if (entered) return entered
  const terms = (await readTerms(tx, [merchantId]))(merchantId)
  return unaccrued({ objectId, occurredAt, amountPaise }, terms, chargeSettings(config))
}

/** The bank day on which the payout of a payment is prepared, where a schedule says it. */
async function expectedOn(tx: Tx, { createdAt, merchantId }: ListedPayment, services: PortalServices) {
  const { BUSINESS_DAY_CUTOFF: cutOff, BUSINESS_TIME_ZONE: zone } = services.config
  const dayOf = (at: Date) => businessDayOf(at, cutOff, zone)
  const today = dayOf(new Date(services.clock.of(merchantId).now()))
  const next = (await shownSchedules(tx, merchantId, today)).find(({ endsOn }) => endsOn !== undefined)
  if (!next?.endsOn || next.endsOn < dayOf(createdAt)) return undefined
  return preparedOn(next.endsOn, next.schedule, await readBankDays(tx))
}

async function arrivalOf(tx: Tx, one: ListedPayment, services: PortalServices) {
  const { amountPaise, merchantId, paymentId } = one
  const key = [merchantId, paymentId]
  const [paidIn] = await tx.query(PAID_IN, key)
  const charge = paidIn ?? (await chargeOfPayment(tx, one, services))
  const tax = taxOf(charge)
  return {
    fee: formatRupees(charge.feePaise),
    tax: formatRupees(tax),
    net: formatRupees(paise(amountPaise - charge.feePaise - tax)),
    ...(paidIn
      ? {
          payout: {
            payoutId: paidIn.payoutId,
            businessDay: paidIn.businessDay,
            status: paidIn.status,
            completedOn: paidIn.completedAt
              ? rfc3339(paidIn.completedAt, services.config.BUSINESS_TIME_ZONE)
              : undefined,
          },
        }
      : { expectedOn: await expectedOn(tx, one, services) }),
  }
}

export const showPaymentArrival = query({
  ...memberOperation,
  id: 'portal.showPaymentArrival',
  method: 'GET',
  path: `${PORTAL_API}/payments/:paymentId/arrival`,
  tag: 'Payments',
  summary: 'Show what arrives of a payment, and when',
  role: 'viewer',
  params: idParam('paymentId'),
  result: record('PaymentArrival', {
    qrName: maybe('Name of its code, where it has one'),
    arrival: Type.Optional(
      record('Arrival', {
        fee: rupeesText,
        tax: text('GST on the fee, rupees with two decimals'),
        net: text('Rupees with two decimals: the payment less fee and GST, before refunds and disputes'),
        payout: Type.Optional(
          record('PayoutOfPayment', {
            payoutId: text(),
            businessDay: text('`YYYY-MM-DD`'),
            status: text(),
            completedOn: maybeInstant,
          }),
        ),
        expectedOn: maybe(
          'Bank day on which its payout is prepared, `YYYY-MM-DD`; absent without a schedule and once it is in a payout',
        ),
      }),
    ),
    disputes: Type.Array(
      record('DisputeOfPayment', { disputeId: text(), status: text(), amount: rupeesText }),
      {
        description: 'Oldest first',
      },
    ),
  }),
  errors: ['payment_not_found'],
  mount(services: PortalServices) {
    return async ({ caller: { tenantId }, params: { paymentId } }) => {
      const shown = await services.database.read([tenantId], async (tx) => {
        const scope = { reader: 'tenant', tenantId } as const
        const one = (await findRow<ListedPayment>(tx, payment, scope, paymentId)) ?? fail('payment_not_found')
        const disputes = await tx.query(DISPUTES, [tenantId, paymentId])
        return {
          qrName: one.qrName ?? undefined,
          ...(one.status === 'ACCEPTED' && { arrival: await arrivalOf(tx, one, services) }),
          disputes: disputes.map(({ disputeId, paise: amount, status }) => ({
            disputeId,
            status,
            amount: formatRupees(amount),
          })),
        }
      })
      return { body: JSON.stringify(shown) }
    }
  },
})
