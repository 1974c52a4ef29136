import type { Config } from '@svc/contract/config'
import { approvalLimitOf } from '@svc/core/ledger/approvals'
import { chargeTermsOf } from '@svc/core/payments/fees/charge-terms'
import type { DatabaseAddress } from '@svc/platform/db/connection-options'
import { storeAsOwner } from '@svc/platform/db/owners-settings'

/** Stores the settings by which the database checks what every login writes; the owner's login alone may. */
export const storeOwnersSettings = (address: DatabaseAddress, config: Config): Promise<void> =>
  storeAsOwner(address, [approvalLimitOf(config), chargeTermsOf(config)])
