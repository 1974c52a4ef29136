import { failField } from '@svc/contract/fail-fields'
import { dayAfter } from '@svc/kernel/bank-days'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { CoreServices } from '@svc/platform/services'
import { isClosingTenant } from '../../tenants/tenant.ts'
import { announce } from '../../tenants/tenant-events.ts'
import { type MerchantFee, merchantFees, type PayoutDetails, payoutDetails } from './payout.ts'
import { businessDay, businessDayOf } from './payout-statement.ts'

const FIND_DETAILS = statement<PayoutDetails>(
  'payout_details_find_one',
  `select ${payoutDetails.columns} from payout_details d where d.merchant_id = $1`,
)
const SET_DETAILS = statement(
  'payout_details_set',
  `insert into payout_details (merchant_id, account_holder, account_number, ifsc, gst_state, updated_at)
   values ($1, $2, $3, $4, $5, clock_timestamp())
   on conflict (merchant_id) do update set account_holder = excluded.account_holder,
     account_number = excluded.account_number, ifsc = excluded.ifsc, gst_state = excluded.gst_state,
     updated_at = excluded.updated_at`,
)
const LIST_FEES = statement<MerchantFee>(
  'merchant_fees_list',
  `select ${merchantFees.columns} from merchant_fees f where f.merchant_id = $1
   order by f.valid_from desc, f.created_at desc`,
)
const SET_FEE = statement(
  'merchant_fee_set',
  `insert into merchant_fees (merchant_id, valid_from, basis_points, fixed_paise, created_at)
   values ($1, $2, $3, $4, clock_timestamp())`,
)
const COOLING = statement<{ days: number }>(
  'merchant_fee_cooling',
  `select cooling_days as days from approval_limit where exists (select from merchant_fees where merchant_id = $1)`,
)
const PAID_SINCE = statement(
  'merchant_paid_since',
  'select from payments where merchant_id = $1 and created_at >= $2 limit 1',
)

/** Six to eighteen digits, as banks in India number accounts. */
export const ACCOUNT_NUMBER = /^[0-9]{6,18}$/
/** The code of a branch: four letters of the bank, a zero, six letters or digits. */
export const IFSC = /^[A-Z]{4}0[A-Z0-9]{6}$/
export const GST_STATE = /^[0-9]{2}$/
/** Bounds of a fee. */
export const FEE_BASIS_POINTS_MAX = 10_000n
export const FEE_FIXED_MAX_PAISE = 100_000n

export async function findPayoutDetails(tx: Tx, merchantId: string): Promise<PayoutDetails | undefined> {
  const [found] = await tx.query(FIND_DETAILS, [merchantId])
  return found
}

/**
 * Sets where the money of a merchant goes. A payout that is prepared already keeps its account. Whom the transaction acts
 * for may not approve payouts to it (decision Q15).
 */
export async function setPayoutDetails(
  tx: Tx,
  details: Omit<PayoutDetails, 'setBy' | 'updatedAt'>,
): Promise<void> {
  const { merchantId, accountHolder, accountNumber, ifsc, gstState } = details
  await tx.query(SET_DETAILS, [merchantId, accountHolder, accountNumber, ifsc, gstState])
  const record = { merchantId, changed: ['bankAccount'], bankAccountEnds: accountNumber.slice(-4) }
  announce(tx, merchantId, 'merchant.updated', merchantId, record)
}

export const listMerchantFees = (tx: Tx, merchantId: string): Promise<MerchantFee[]> =>
  tx.query(LIST_FEES, [merchantId])

export interface NewFee {
  readonly merchantId: string
  /** Business day from which it is charged, `YYYY-MM-DD`; by default the first one that is possible. */
  readonly validFrom: string | undefined
  readonly basisPoints: number
  readonly fixedPaise: Paise
}

/** What decides which business day it is. */
export interface FeeDays {
  readonly now: Date
  readonly cutOffMinutes: number
  readonly timeZone: string
  /** The merchant has asked for it, and a second person approves it: it waits no longer. */
  readonly isAgreed?: true
}

/** Which business day it is for a merchant, by its clock. */
export const feeDaysOf = (
  { clock, config }: Pick<CoreServices, 'clock' | 'config'>,
  merchantId: string,
): FeeDays => ({
  now: new Date(clock.of(merchantId).now()),
  cutOffMinutes: config.BUSINESS_DAY_CUTOFF,
  timeZone: config.BUSINESS_TIME_ZONE,
})

/**
 * Sets the fee of a merchant from a business day on, in the place of one that was set for the same day (decision Q15). It
 * begins on the next day or later, or today where the merchant has no payment of today. One in the place of another waits for
 * the cooling time, as all does by which one person redirects money (decision O8), unless it is agreed. Only of a merchant that is closing
 * can past days be made free, for payments that are in no payout yet: fees that exceed them would keep it open for good.
 */
export async function setMerchantFee(
  tx: Tx,
  { merchantId, validFrom, basisPoints, fixedPaise }: NewFee,
  { now, cutOffMinutes, timeZone, isAgreed }: FeeDays,
): Promise<void> {
  const today = businessDay(businessDayOf(now, cutOffMinutes, timeZone), cutOffMinutes, timeZone)
  const tomorrow = businessDayOf(today.to, cutOffMinutes, timeZone)
  const isPaidToday = (await tx.query(PAID_SINCE, [merchantId, today.from])).length > 0
  const [cooling] = isAgreed ? [] : await tx.query(COOLING, [merchantId])
  const cooled = dayAfter(today.day, cooling?.days ?? 0)
  const possible = isPaidToday ? tomorrow : today.day
  const first = cooled > possible ? cooled : possible
  const isFree = basisPoints === 0 && fixedPaise === 0n
  if (validFrom !== undefined && validFrom < first && !(isFree && (await isClosingTenant(tx, merchantId))))
    failField(
      'validFrom',
      'minimum',
      first === cooled && cooled > possible
        ? `must be ${cooled} or later: a fee that replaces another waits ${cooling?.days} days, unless the merchant asks for it in the portal`
        : isPaidToday
          ? `must be ${tomorrow} or later: the merchant has payments of today; of a merchant that is closing, a fee of zero may begin earlier`
          : 'must be today or a later day; of a merchant that is closing, a fee of zero may begin earlier',
    )
  const from = validFrom ?? first
  await tx.query(SET_FEE, [merchantId, from, basisPoints, fixedPaise])
  const percent = formatRupees(BigInt(basisPoints))
  const fee = { validFrom: from, percent, fixed: formatRupees(fixedPaise) }
  announce(tx, merchantId, 'merchant.updated', merchantId, { merchantId, changed: ['fee'], fee })
}
