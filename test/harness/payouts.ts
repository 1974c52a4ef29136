import { changePayout } from '@svc/core/payments/change-payout'
import { setMerchantFee, setPayoutDetails } from '@svc/core/payments/payout-terms'
import { preparePayout } from '@svc/core/payments/prepare-payout'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { TestService } from './service.ts'

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
  on.app.services.database.operate((tx) =>
    setMerchantFee(
      tx,
      { merchantId, validFrom, basisPoints, fixedPaise: paise(fixedPaise) },
      { today: validFrom },
    ),
  )

/** Prepares the payout of what a merchant was paid until now, whether or not the bank has settled it. */
export async function preparePayoutOf(
  service: TestService,
  merchantId: string,
  preparedBy = 'operator asha',
): Promise<string> {
  const { payout, reason } = await service.app.services.commands.open(preparePayout).run({
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
  const { run } = service.app.services.commands.open(changePayout)
  await run({ merchantId, payoutId, step: { to: 'APPROVED', by: 'operator ravi' } })
  await run({ merchantId, payoutId, step: { to: 'SENT', runId: 'pyr_1' } })
  return payoutId
}
