import { type BookMonth, bookMonths } from '@svc/core/ledger/book-months'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { listBankAccounts } from '@svc/core/statements/bank-account'
import { businessToday } from '@svc/core/statements/change-line'
import type { Tx } from '@svc/platform/db/database'

/** The months of the books, newest first: from that of the first tenant or bank account on. `zone`: that of business days. */
export async function monthsOfBooks(tx: Tx, nowMs: number, zone: string): Promise<BookMonth[]> {
  const today = businessToday(nowMs + (await furthestAhead(tx)), zone)
  const [opened] = (await listBankAccounts(tx)).map(({ openedOn }) => openedOn).sort()
  return bookMonths(tx, { today, zone, since: opened })
}
