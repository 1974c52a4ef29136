import { CARD_CHECKS } from '@svc/core/cards/card/reconcile-cards'
import { COIN_CHECKS } from '@svc/core/coins/reconcile-coins'
import { type Reconciliation, reconcile } from '@svc/core/ledger/reconcile'
import { PAYMENT_CHECKS } from '@svc/core/payments/reconcile-payments'
import type { Database } from '@svc/platform/db/database'

/** The proof of all books: the ledger's own checks and those of every slice that moves money. */
export const reconcileAll = (database: Database): Promise<Reconciliation> =>
  reconcile(database, [...PAYMENT_CHECKS, ...CARD_CHECKS, ...COIN_CHECKS])
