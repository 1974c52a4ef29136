import type { Config } from '@svc/contract/config'
import type { TaxRate } from '@svc/contract/payout-settings'
import { groupBy } from '@svc/kernel/group-by'
import type { Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type MerchantFee, merchantFees, type PayoutDetails, payoutDetails } from '../payouts/payout.ts'
import { chargeOf, taxRateOf } from '../payouts/payout-fees.ts'
import { businessDayOf } from '../payouts/payout-statement.ts'
import type { Unaccrued } from './fee-accrual.ts'

const FEES = statement<MerchantFee>(
  'merchant_fees_of',
  `select ${merchantFees.columns} from merchant_fees f where f.merchant_id = any ($1)`,
)
const DETAILS = statement<PayoutDetails>(
  'payout_details_of',
  `select ${payoutDetails.columns} from payout_details d where d.merchant_id = any ($1)`,
)

const REGISTERED = statement<{ merchantId: string; state: string }>(
  'tax_registrations_of',
  `select merchant_id as "merchantId", state from tax_registrations where merchant_id = any ($1)`,
)

/** What the settings say about fees and their tax. */
export interface ChargeSettings {
  readonly platformState: string
  readonly taxRates: readonly TaxRate[]
  readonly dayEndsAt: number
  readonly timeZone: string
}

export const chargeSettings = (config: Config): ChargeSettings => ({
  platformState: config.GST_STATE,
  taxRates: config.GST_RATES,
  dayEndsAt: config.BUSINESS_DAY_CUTOFF,
  timeZone: config.BUSINESS_TIME_ZONE,
})

/** What a merchant agreed to. */
export interface Terms {
  readonly fees: readonly MerchantFee[]
  readonly details: PayoutDetails | undefined
  /** State code of the merchant's registration. */
  readonly registeredState: string | undefined
}

export async function readTerms(
  tx: Pick<Tx, 'query'>,
  merchantIds: readonly string[],
): Promise<(merchantId: string) => Terms> {
  const [fees, details, registered] = await Promise.all([
    tx.query(FEES, [merchantIds]),
    tx.query(DETAILS, [merchantIds]),
    tx.query(REGISTERED, [merchantIds]),
  ])
  const feesOf = groupBy(fees, ({ merchantId }) => merchantId)
  const detailsOf = new Map(details.map((each) => [each.merchantId, each]))
  const stateOf = new Map(registered.map(({ merchantId, state }) => [merchantId, state]))
  return (merchantId) => ({
    fees: feesOf.get(merchantId) ?? [],
    details: detailsOf.get(merchantId),
    registeredState: stateOf.get(merchantId),
  })
}

export interface AcceptedPayment {
  readonly objectId: string
  readonly occurredAt: Date
  readonly amountPaise: Paise
}

/** What a payment is charged, whose fee is not entered yet. */
export function unaccrued(
  { objectId, occurredAt, amountPaise }: AcceptedPayment,
  { fees, details, registeredState }: Terms,
  { platformState, taxRates, dayEndsAt, timeZone }: ChargeSettings,
): Unaccrued {
  const day = businessDayOf(occurredAt, dayEndsAt, timeZone)
  const state = registeredState ?? details?.gstState ?? platformState
  const isWithinState = state === platformState
  const charge = chargeOf({ amountPaise, acceptedAt: occurredAt, day }, { fees, taxRates, isWithinState })
  return { paymentId: objectId, businessDay: day, taxBasisPoints: taxRateOf(day, taxRates), ...charge }
}
