import type { CardTransaction } from '@svc/core/cards/card/card-transaction'
import { cardTransaction } from '@svc/server/cards/card-transactions'
import { listOf } from '@svc/server/http/resource'
import { CONSOLE_API, consoleOperation } from '../console-schema.ts'

export const listCardTransactionsInConsole = listOf<CardTransaction>(cardTransaction, {
  ...consoleOperation,
  id: 'console.listCardTransactions',
  path: `${CONSOLE_API}/card-transactions`,
  tag: 'Cards',
  summary: 'List transactions of cards of all partners',
  permission: 'view',
})
