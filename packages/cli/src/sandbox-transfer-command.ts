import { type Command, Option } from 'commander'
import { printJson, printRecord } from './print.ts'
import { readRupees } from './read-rupees.ts'
import { readSandbox, TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface TransferOptions {
  readonly amount: number
  readonly utr?: string
  readonly mode?: string
  readonly duplicates?: string
  readonly json?: boolean
}

interface Transferred {
  readonly utr: string
  readonly status: number
  readonly response: Readonly<Record<string, string | number | undefined>>
}

export function addSandboxTransferCommand(sandbox: Command): void {
  sandbox
    .command('transfer')
    .description('play the bank: transfer money to a card account of the incentive partner, or to a number')
    .argument('[to]', 'card account or virtual account number; by default the card account of sandbox.json')
    .requiredOption('--amount <rupees>', 'the amount, such as 250000', readRupees)
    .option('--utr <reference>', 'the bank’s reference; a new one by default')
    .addOption(new Option('--mode <mode>', 'how it is transferred').choices(['NEFT', 'RTGS', 'IMPS']))
    .option('--duplicates <count>', 'send the notice so many times more')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc sandbox transfer --amount 250000 --mode RTGS')
    .action(transfer)
}

async function transfer(to: string | undefined, options: TransferOptions): Promise<void> {
  const { amount, utr, mode, duplicates, json = false } = options
  if (duplicates !== undefined && !/^\d$/.test(duplicates))
    throw new UsageError('--duplicates must be a whole number from 0 to 9')
  const sandbox = await readSandbox()
  const session = new TenantSession(sandbox.baseUrl, sandbox.incentivePartner)
  const target = to ?? sandbox.incentivePartner.cardAccountId
  const { virtualAccountNumber } = target.startsWith('acc_')
    ? await session.call<{ virtualAccountNumber: string }>(
        'GET',
        `/api/v0/partner/card-accounts/${encodeURIComponent(target)}/funding-instructions`,
      )
    : { virtualAccountNumber: target }
  const sent = await session.call<Transferred>('POST', '/sandbox/bank/transfers', {
    virtualAccountNumber,
    amount,
    utr,
    mode,
    ...(duplicates !== undefined && { duplicates: Number(duplicates) }),
  })
  if (json) return printJson(sent)
  const { status, reason, noticeId, creditId, cardAccountId } = sent.response
  printRecord(
    {
      utr: sent.utr,
      virtualAccountNumber,
      http: sent.status,
      status,
      reason,
      noticeId,
      creditId,
      cardAccountId,
    },
    false,
  )
}
