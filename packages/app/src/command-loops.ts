import { alertParts } from '@svc/console-api/alerts/alert-parts'
import { issueInvoicesLoop } from '@svc/console-api/issue-invoices'
import { moveAddressesLoop } from '@svc/console-api/move-addresses'
import { closeTenantsLoop } from '@svc/console-api/tenant-closing'
import { endCardsLoop } from '@svc/core/cards/end-card'
import { forgetUsersLoop } from '@svc/core/cards/forget-users'
import { expireCoinsLoop } from '@svc/core/coins/expire-coins'
import { accrueFeesLoop } from '@svc/core/payments/accrue-fees'
import { eraseAttachmentsLoop } from '@svc/core/payments/erase-attachments'
import { expireDisputesLoop } from '@svc/core/payments/expire-disputes'
import { prepareScheduledPayoutsLoop } from '@svc/core/payments/prepare-scheduled-payouts'
import { matchLateLinesLoop } from '@svc/core/payments/settlements/match-late-lines'
import { matchStatementsLoop, proveFundsLoop } from '@svc/core/statements/stored-proofs'
import type { Services } from '@svc/server/http/operation'
import { EvidenceSender } from '@svc/server/payments/evidence-sender'
import type { Part } from './part.ts'

/** Work that is due with time and runs commands or acts for operators: stopped before their queues. */
export const dueCommandLoops = (services: Services): Part[] => [
  expireCoinsLoop(services),
  endCardsLoop(services),
  expireDisputesLoop(services),
  new EvidenceSender(services),
  eraseAttachmentsLoop(services),
  matchLateLinesLoop(services),
  matchStatementsLoop(services),
  proveFundsLoop(services),
  accrueFeesLoop(services),
  prepareScheduledPayoutsLoop(services),
  forgetUsersLoop(services),
  closeTenantsLoop(services),
  moveAddressesLoop(services),
  issueInvoicesLoop(services),
  ...alertParts(services),
]
