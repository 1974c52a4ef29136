import { paise } from '@svc/kernel/money'

/** What happens to a payment later. */
export const NEW_PAYMENT = {
  refundedAt: null,
  refundPaise: paise(0n),
  disputePaise: paise(0n),
  adjustedPaise: paise(0n),
  resolvedAt: null,
  assignedFrom: null,
  takenBack: 0,
} as const
