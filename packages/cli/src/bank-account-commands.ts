import { randomBytes } from 'node:crypto'
import { newId } from '@svc/contract/id-kinds'
import { isAccountNumber, isIfsc } from '@svc/core/payments/payouts/payout-terms'
import {
  type BankAccount,
  bankAccountToWire,
  createBankAccount,
  isPurpose,
  listBankAccounts,
  PURPOSE_NAMES,
} from '@svc/core/statements/bank-account'
import { readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { type Command, Option } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { readDay } from './payout-print.ts'
import { printRecord, printRows } from './print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface CreateOptions {
  readonly purpose: string
  readonly name: string
  readonly number: string
  readonly ifsc: string
  readonly opening: string
  readonly from: string
  readonly reason?: string
  readonly json?: boolean
}

export function addBankAccountCommands(program: Command): void {
  const accounts = program
    .command('bank-account')
    .description('our accounts at banks: the escrow of merchants, the escrow of cards, our funds')
  accounts
    .command('create')
    .description('create an account; a purpose has at most two')
    .addOption(
      new Option('--purpose <purpose>', 'what it is for').choices(PURPOSE_NAMES).makeOptionMandatory(),
    )
    .requiredOption('--name <name>', 'for people')
    .requiredOption('--number <number>', '6 to 18 digits')
    .requiredOption('--ifsc <ifsc>', 'code of the branch')
    .requiredOption('--opening <rupees>', 'what it has at the beginning of its first day')
    .requiredOption('--from <day>', 'the first day of its statements, YYYY-MM-DD', readDay)
    .option('--reason <text>', 'why; it is in the audit', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin bank-account create --purpose merchant_escrow --name "Escrow of merchants" --number 50100012345678 --ifsc HDFC0000123 --opening 0.00 --from 2026-04-01',
    )
    .action(create)
  accounts
    .command('list')
    .description('list the accounts; of their numbers, the last four digits')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin bank-account list')
    .action(async ({ json = false }: Pick<CreateOptions, 'json'>) => {
      const found = await withInstallation(({ database }) => database.report(listBankAccounts))
      printRows(found.map(bankAccountToWire), json)
    })
}

function checked({ purpose, name, number, ifsc, opening }: CreateOptions) {
  const openingPaise = valueIn(readAmount(opening, { signed: true }))
  const problems = [
    ...(isPurpose(purpose) ? [] : [`--purpose must be one of ${PURPOSE_NAMES.join(', ')}`]),
    ...(name.trim().length >= 1 && name.length <= 100 ? [] : ['--name must have 1 to 100 characters']),
    ...(isAccountNumber(number) ? [] : ['--number must be 6 to 18 digits']),
    ...(isIfsc(ifsc) ? [] : ['--ifsc must be four letters, a zero and six letters or digits']),
    ...(openingPaise === undefined ? ['--opening must be rupees with at most two decimals'] : []),
  ]
  if (problems.length > 0 || !isPurpose(purpose) || openingPaise === undefined)
    throw new UsageError(problems.join('\n'))
  return { purpose, name, accountNumber: number, ifsc, openingPaise }
}

async function create(options: CreateOptions): Promise<void> {
  const { from, reason, json = false } = options
  const requested = checked(options)
  const account = await withInstallation(async (context) => {
    const createdBy = await moneyActor(context)
    const bankAccountId = newId('bac', Date.now(), randomBytes)
    const work = async (tx: Tx): Promise<BankAccount> => {
      const created = await createBankAccount(tx, { ...requested, bankAccountId, openedOn: from, createdBy })
      const details = { purpose: created.purpose, ...(reason !== undefined && { reason }) }
      if (created.bankAccountId === bankAccountId)
        recordAudit(tx, [
          { actor: createdBy, action: 'bank_account.created', target: bankAccountId, details },
        ])
      return created
    }
    return context.database.operate(work, 'read committed', { actor: createdBy })
  })
  printRecord(bankAccountToWire(account), json)
}
