import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { setPayoutDetails } from '@svc/core/payments/payouts/payout-terms'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { calendarDay } from '@svc/kernel/time'
import { operatorsOf } from './operators.ts'
import { asSuperuser, type TestService } from './service.ts'

/** Gives a merchant a bank account to be paid out to; one of no known state is taxed within one. */
export const giveAccount = (
  on: TestService,
  merchantId: string,
  gstState: string | null = null,
): Promise<void> =>
  on.app.services.database.operate((tx) =>
    setPayoutDetails(tx, {
      merchantId,
      accountHolder: 'Corner Shop',
      accountNumber: '000012345678',
      ifsc: 'HDFC0000001',
      gstState,
    }),
  )

/** Charges a merchant for each payment from a business day on, as if it had been set on that day. */
export const giveFee = (
  on: TestService,
  merchantId: string,
  { basisPoints = 0, fixedPaise = 0n }: { readonly basisPoints?: number; readonly fixedPaise?: bigint },
  validFrom = '2020-01-01',
): Promise<void> =>
  asSuperuser(on.db.database, async (db) => {
    // Without the triggers: for them it is set now, and payments that came before it are not charged.
    await db.query('set session_replication_role = replica')
    await db.query(
      `insert into merchant_fees (merchant_id, valid_from, basis_points, fixed_paise, created_at)
       values ($1, $2, $3, $4, $2::date)`,
      [merchantId, validFrom, basisPoints, fixedPaise],
    )
    await db.query('set session_replication_role = origin')
  })

/** Prepares the payout of what a merchant was paid until now, whether or not the bank has settled it. */
export async function preparePayoutOf(
  service: TestService,
  merchantId: string,
  preparedBy = 'operator asha',
): Promise<string> {
  const { payout, reason } = await operatorsOf(service.app.services.commands)
    .open(preparePayout)
    .run({
      merchantId,
      businessDay: calendarDay(new Date(), 'Asia/Kolkata'),
      preparedBy,
      requiresSettlement: false,
      isEarly: true,
    })
  if (!payout) throw new Error(`no payout: ${reason}`)
  return payout.payoutId
}

/** Prepares what is due to a merchant and brings it to the bank. */
export async function sendPayoutOf(service: TestService, merchantId: string): Promise<string> {
  const payoutId = await preparePayoutOf(service, merchantId)
  const { run } = operatorsOf(service.app.services.commands).open(changePayout)
  await run({ merchantId, payoutId, step: { to: 'APPROVED', by: 'operator ravi' } })
  await run({ merchantId, payoutId, step: { to: 'SENT', runId: 'pyr_1' } })
  return payoutId
}
