import { CARD_CHECKS } from '../cards/reconcile-cards.ts'
import { COIN_CHECKS } from '../coins/reconcile-coins.ts'
import { type Reconciliation, reconcile } from '../ledger/reconcile.ts'
import type { Database } from '../platform/db/database.ts'
import { PAYMENT_CHECKS } from '../qr-codes/reconcile-payments.ts'

/** The proof of all books: the ledger's own checks and those of every slice that moves money. */
export const reconcileAll = (database: Database): Promise<Reconciliation> =>
  reconcile(database, [...PAYMENT_CHECKS, ...CARD_CHECKS, ...COIN_CHECKS])
