import { setPayoutDetails } from '@svc/core/qr-codes/payout-terms'
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
