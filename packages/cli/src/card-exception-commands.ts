import { type CardException, cardExceptions } from '@svc/core/cards/card-exception'
import { formatRupees } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printRows } from './print.ts'
import { readCount } from './read-count.ts'

const LIST = statement<CardException>(
  'cli_card_exceptions',
  `select ${cardExceptions.columns} from card_exceptions x
   where $1::text is null or x.svc_card_id = $1
   order by x.created_at desc, x.exception_id desc limit $2`,
)

interface ListOptions {
  readonly card?: string
  readonly limit: number
  readonly json?: boolean
}

export function addExceptionCommands(card: Command): void {
  card
    .command('exceptions')
    .description(
      'list what the card network reported and no card, authorisation or capture fits; newest first',
    )
    .option('--card <svcCardId>', 'of one card')
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin cards exceptions --limit 10')
    .action(async ({ card: svcCardId, limit, json = false }: ListOptions) => {
      const rows = await withInstallation(({ database }) =>
        database.operate((tx) => tx.query(LIST, [svcCardId ?? null, limit])),
      )
      printRows(rows.map(shown), json)
    })
}

const shown = (exception: CardException) => ({
  exceptionId: exception.exceptionId,
  reason: exception.reason,
  detail: exception.detail,
  partnerId: exception.partnerId,
  svcCardId: exception.svcCardId,
  messageId: exception.messageId,
  debit: formatRupees(exception.debitPaise),
  credit: formatRupees(exception.creditPaise),
  body: exception.body?.toString('utf8') ?? null,
  createdAt: exception.createdAt,
})
