import { closeTenantsLoop } from '@svc/console-api/tenant-closing'
import { endCardsLoop } from '@svc/core/cards/end-card'
import { forgetUsersLoop } from '@svc/core/cards/forget-users'
import { expireCoinsLoop } from '@svc/core/coins/expire-coins'
import { expireDisputesLoop } from '@svc/core/qr-codes/expire-disputes'
import type { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'

/** Work that is due with time and runs commands: stopped before their queues. */
export const dueCommandLoops = (services: CoreServices): Loop[] => [
  expireCoinsLoop(services),
  endCardsLoop(services),
  expireDisputesLoop(services),
  forgetUsersLoop(services),
  closeTenantsLoop(services),
]
