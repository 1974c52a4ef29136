import { alertParts } from '@svc/console-api/alerts/alert-parts'
import { AuditAnchors } from '@svc/console-api/audit-anchors'
import { issueInvoicesLoop } from '@svc/console-api/issue-invoices'
import { moveAddressesLoop } from '@svc/console-api/move-addresses'
import { closeTenantsLoop } from '@svc/console-api/tenant-closing'
import { endCardsLoop } from '@svc/core/cards/end/end-card'
import { expireCardHoldsLoop } from '@svc/core/cards/rail/expire-card-holds'
import { forgetUsersLoop } from '@svc/core/cards/user/forget-users'
import { expireCoinsLoop } from '@svc/core/coins/expire-coins'
import { eraseAttachmentsLoop } from '@svc/core/payments/disputes/erase-attachments'
import { expireDisputesLoop } from '@svc/core/payments/disputes/expire-disputes'
import { accrueFeesLoop } from '@svc/core/payments/fees/accrue-fees'
import { prepareScheduledPayoutsLoop } from '@svc/core/payments/payouts/prepare-scheduled-payouts'
import { matchLateLinesLoop } from '@svc/core/payments/settlements/match-late-lines'
import { expireQrCodesLoop } from '@svc/core/qr-codes/expire-qr-codes'
import { matchStatementsLoop, proveFundsLoop } from '@svc/core/statements/stored-proofs'
import { Deliveries } from '@svc/core/webhooks/deliveries'
import { eventBacklogLoop } from '@svc/core/webhooks/event-backlog'
import { growTreesLoop } from '@svc/core/webhooks/grow-trees'
import { Relay } from '@svc/core/webhooks/relay'
import { webhookRetentionLoop } from '@svc/core/webhooks/webhook-retention'
import { BulkWorker } from '@svc/server/cards/bulk-worker'
import type { Services } from '@svc/server/http/operation'
import { EvidenceSender } from '@svc/server/payments/evidence-sender'
import { UpiSwitch } from '@svc/server/sandbox/upi-switch'
import type { Part } from './part.ts'

/** Work that is due with time and runs commands or acts for operators. */
const dueCommandLoops = (services: Services): Part[] => [
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

/** The background work of an installation, which all its processes with the role `jobs` share. */
export interface Jobs {
  /** Run commands: stopped before their queues. */
  readonly commands: readonly Part[]
  /** Stopped while the last requests end. */
  readonly beside: readonly Part[]
  /** Stopped once all commands have their outcome. */
  readonly last: readonly Part[]
  /** All of them, in the order of their start. */
  readonly all: readonly Part[]
}

export function openJobs(services: Services): Jobs {
  const upiSwitch = services.config.SVC_MODE === 'sandbox' ? [new UpiSwitch(services).loop()] : []
  const expiries = [expireQrCodesLoop(services), expireCardHoldsLoop(services)]
  const last = [new AuditAnchors(services).loop]
  const deliveries = new Deliveries(services)
  const relay = new Relay(services, () => deliveries.wake()).loop
  const events = [
    relay,
    growTreesLoop(services),
    deliveries,
    webhookRetentionLoop(services),
    eventBacklogLoop(services),
  ]
  const due = [...dueCommandLoops(services), new BulkWorker(services).loop]
  return {
    commands: [...upiSwitch, ...due],
    beside: [...expiries, ...events],
    last,
    all: [...upiSwitch, ...expiries, ...last, ...events, ...due],
  }
}

export const NO_JOBS: Jobs = { commands: [], beside: [], last: [], all: [] }
