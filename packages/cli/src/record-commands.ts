import { TRANSACTION_KINDS } from '@svc/core/cards/card/card-transaction'
import { type Command, Option } from 'commander'
import { readCount } from './read-count.ts'
import { openProfile, pathWith, type RemoteOptions, remote, show } from './remote.ts'
import { addCreateCard } from './remote-card-command.ts'

interface PaymentOptions extends RemoteOptions {
  readonly status?: string
  readonly utr?: string
  readonly limit: number
}

interface CardOptions extends RemoteOptions {
  readonly company: string
  readonly account: string
  readonly card?: string
}

interface TransactionOptions extends RemoteOptions {
  readonly kind?: string
  readonly limit: number
}

interface StatementOptions extends RemoteOptions {
  readonly from?: string
  readonly to?: string
}

/** Payments of a merchant and cards of a partner, as the tenant of a profile reads them. */
export function addRecordCommands(program: Command): void {
  addPayments(program)
  addCards(program)
}

function addPayments(program: Command): void {
  const payments = program
    .command('payments')
    .description('payments of the merchant of a profile; svc admin payments has those of all merchants')
  remote(payments.command('list'))
    .description('list payments, newest first')
    .option('--status <status>', 'only payments of this status')
    .option('--utr <utr>', 'only the payment with this reference of the bank')
    .option('--limit <count>', 'how many', readCount, 50)
    .addHelpText('after', '\nExample:\n  svc payments list --limit 10')
    .action(async (options: PaymentOptions) => {
      const { status, utr, limit } = options
      const session = await openProfile(options, 'merchant')
      const path = pathWith('/api/v0/payments', { status, utr, limit })
      show((await session.call<{ data: readonly object[] }>('GET', path)).data, options)
    })
  remote(payments.command('show <paymentId>'))
    .description('show a payment')
    .addHelpText('after', '\nExample:\n  svc payments show pay_…')
    .action(async (paymentId: string, options: RemoteOptions) => {
      const session = await openProfile(options, 'merchant')
      show(await session.call<object>('GET', `/api/v0/payments/${encodeURIComponent(paymentId)}`), options)
    })
}

function addCards(program: Command): void {
  const cards = program
    .command('cards')
    .description('cards of the partner of a profile; svc admin cards has those of all partners')
  addCreateCard(cards)
  remote(cards.command('search'))
    .description('find cards of a company and card account; incentive partners name one card')
    .requiredOption('--company <companyId>', 'the company')
    .requiredOption('--account <cardAccountId>', 'the card account')
    .option('--card <svcCardId>', 'only this card')
    .addHelpText('after', '\nExample:\n  svc cards search --company com_… --account acc_… --card card_…')
    .action(async (options: CardOptions) => {
      const session = await openProfile(options, 'partner')
      const request = {
        companyId: options.company,
        cardAccountId: options.account,
        ...(options.card !== undefined && { svcCardId: options.card }),
      }
      const path = '/api/v0/partner/svcCard/search'
      show((await session.call<{ data: readonly object[] }>('POST', path, request)).data, options)
    })
  remote(cards.command('show <svcCardId>'))
    .description('show a card')
    .addHelpText('after', '\nExample:\n  svc cards show card_…')
    .action(async (svcCardId: string, options: RemoteOptions) => {
      const session = await openProfile(options, 'partner')
      show(
        await session.call<object>('GET', `/api/v0/partner/svcCard/${encodeURIComponent(svcCardId)}`),
        options,
      )
    })
  addTransactions(cards)
}

function addTransactions(cards: Command): void {
  remote(cards.command('transactions [svcCardId]'))
    .description('list transactions of all cards, or of one, newest first')
    .addOption(new Option('--kind <kind>', 'only these').choices(TRANSACTION_KINDS))
    .option('--limit <count>', 'how many', readCount, 50)
    .addHelpText('after', '\nExample:\n  svc cards transactions card_… --kind capture')
    .action(async (svcCardId: string | undefined, options: TransactionOptions) => {
      const { kind, limit } = options
      const session = await openProfile(options, 'partner')
      const path = pathWith('/api/v0/partner/card-transactions', { svcCardId, kind, limit })
      show((await session.call<{ data: readonly object[] }>('GET', path)).data, options)
    })
  remote(cards.command('statement <svcCardId>'))
    .description('show what moved the balance of a card, by default this month until today')
    .option('--from <day>', 'the first day, YYYY-MM-DD')
    .option('--to <day>', 'the last day, YYYY-MM-DD')
    .addHelpText('after', '\nExample:\n  svc cards statement card_… --from 2026-04-01')
    .action(async (svcCardId: string, options: StatementOptions) => {
      const { from, to } = options
      const session = await openProfile(options, 'partner')
      const path = pathWith(`/api/v0/partner/svcCard/${encodeURIComponent(svcCardId)}/statement`, {
        from,
        to,
      })
      const statement = await session.call<{ lines: readonly object[] }>('GET', path)
      show(options.json ? statement : statement.lines, options)
    })
}
