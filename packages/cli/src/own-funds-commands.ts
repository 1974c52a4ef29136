import { moveOwnFunds } from '@svc/core/payments/own-funds/move-own-funds'
import {
  type MoveOwnFunds,
  movementToWire,
  type TaxAccount,
  type TaxPaid,
} from '@svc/core/payments/own-funds/movement'
import { takeBackOwnFunds } from '@svc/core/payments/own-funds/take-back-own-funds'
import { formatRupees, type Paise, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { readMonth } from '@svc/server/payments/tax-documents'
import { type Command, InvalidArgumentError } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { readDay } from './payout-print.ts'
import { printJson, printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { readPaise } from './read-rupees.ts'

export interface MovementOptions {
  readonly reference: string
  readonly reason: string
  readonly date?: string
  readonly json?: boolean
}

type Parts = Pick<TaxPaid, 'cashPaise' | 'creditPaise'>
const NOTHING: Parts = { cashPaise: paise(0n), creditPaise: paise(0n) }

/** `<cash>+<credit>`, each zero or more. */
function readParts(text: string): Parts {
  const amounts = text.split('+').map((part) => valueIn(readAmount(part)))
  const [cashPaise, creditPaise] = amounts
  if (amounts.length !== 2 || cashPaise === undefined || creditPaise === undefined)
    throw new InvalidArgumentError('It must be cash and input credit in rupees, such as 90.00+18.00.')
  return { cashPaise, creditPaise }
}

const withOptions = (command: Command): Command =>
  command
    .requiredOption('--reference <reference>', 'of the bank or of the payment of tax: entered once')
    .requiredOption('--reason <text>', 'why; it is in the journal', readReason)
    .option('--date <day>', 'the day of the bank, YYYY-MM-DD; by default today', readDay)
    .option('--json', 'print JSON')

export function addOwnFundsCommands(books: Command): void {
  withOptions(books.command('sweep'))
    .description('enter that our fees and GST went from the escrow of merchants to our account')
    .requiredOption('--through <day>', 'fees of payouts that were paid until this day, YYYY-MM-DD', readDay)
    .addHelpText(
      'after',
      `
What is moved are fees and GST of payouts that were paid, or paid otherwise, less credit notes, certificates of
deducted tax, charges of the bank with their GST and earlier sweeps. The command prints the amount: pay it at the bank under this reference.

Example:
  svc admin books sweep --through 2026-10-31 --reference HDFCN526004242 --reason "fees of October"`,
    )
    .action(({ through, ...options }: MovementOptions & { through: string }) =>
      moveMoney({ kind: 'SWEEP', through }, options),
    )
  const pay = books
    .command('pay')
    .description('enter that our own money was paid: tax, to the owner, to the escrow')
  addPayGst(pay)
  withAmount(pay.command('owner'))
    .description('enter what was paid to the owner, or with --capital what the owner paid in')
    .option('--capital', 'the owner paid it in')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin books pay owner --amount 5000.00 --reference HDFCN526004243 --reason "drawing of May"',
    )
    .action(
      ({ amount, capital = false, ...options }: MovementOptions & { amount: Paise; capital?: boolean }) =>
        moveMoney({ kind: capital ? 'CAPITAL' : 'OWNER', amountPaise: amount }, options),
    )
  withAmount(pay.command('escrow'))
    .description('enter what was paid from our account into the escrow of merchants, such as for a shortfall')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin books pay escrow --amount 250.00 --reference HDFCN526004244 --reason "shortfall of 3 May"',
    )
    .action(({ amount, ...options }: MovementOptions & { amount: Paise }) =>
      moveMoney({ kind: 'ESCROW', amountPaise: amount }, options),
    )
  addUndo(books)
}

function addUndo(books: Command): void {
  books
    .command('undo <reference>')
    .description(
      'take back a movement of our own money that was entered by mistake: a sweep, a payment, a refund of tax',
    )
    .requiredOption('--reason <text>', 'why; it is in the journals', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Each of its journals is entered the other way round, effective today, in the books of all merchants that have a share; then
its reference can be entered again. A movement that a bank statement shows stays: svc admin statement unmatch.

Example:
  svc admin books undo HDFCN526004243 --reason "500.00, not 5000.00"`,
    )
    .action(undo)
}

export const withAmount = (command: Command): Command =>
  withOptions(command.requiredOption('--amount <rupees>', 'rupees, at most two decimals', readPaise))

interface GstOptions extends MovementOptions {
  readonly month: string
  readonly cgst?: Parts
  readonly sgst?: Parts
  readonly igst?: Parts
}

function addPayGst(pay: Command): void {
  const ofTax = (name: string) =>
    [`--${name} <cash+credit>`, `${name.toUpperCase()}, in cash and from input credit`, readParts] as const
  withOptions(pay.command('gst').requiredOption('--month <month>', 'of the return, YYYY-MM', readMonth))
    .description('enter that the GST of a month was paid, in cash and from input credit')
    .option(...ofTax('cgst'))
    .option(...ofTax('sgst'))
    .option(...ofTax('igst'))
    .addHelpText(
      'after',
      `
What is due is the tax of all invoices and debit notes less credit notes that are dated until the end of the month, less
what was paid before: each tax is paid whole. Its reference is that of the payment.

Example:
  svc admin books pay gst --month 2026-10 --cgst 90.00+9.00 --sgst 90.00+9.00 --reference CPIN26110042 --reason "return"`,
    )
    .action(({ cgst, igst, month, sgst, ...options }: GstOptions) => {
      const parts = { output_cgst: cgst, output_sgst: sgst, output_igst: igst }
      const taxes = Object.entries(parts).map(([account, paid = NOTHING]) => ({
        account: account as TaxAccount,
        ...paid,
      }))
      return moveMoney({ kind: 'GST', month, taxes }, options)
    })
}

type Wanted = Omit<MoveOwnFunds, 'reference' | 'reason' | 'movedOn'>

export async function moveMoney(
  wanted: Wanted,
  { date, json = false, reason, reference }: MovementOptions,
): Promise<void> {
  const moved = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const { amountPaise, kind, month, through } = wanted
    const amount = amountPaise === undefined ? {} : { amount: formatRupees(amountPaise) }
    const details = {
      kind,
      reference,
      reason,
      ...amount,
      ...(through && { through }),
      ...(month && { month }),
    }
    const audit = { actor, action: 'own_funds.moved', target: 'own_funds', details }
    return context.commands.open(moveOwnFunds).run({ ...wanted, movedOn: date, reason, reference }, audit)
  })
  printOutcome(moved, json, ({ journals, movement, shares }) => {
    const isRepeat = journals.length === 0
    const record = movementToWire(movement, shares)
    if (json) return printJson({ ...record, isRepeat })
    printRecord({ ...record, shares: shares.length, isRepeat }, false)
  })
}

async function undo(
  reference: string,
  { json = false, reason }: Pick<MovementOptions, 'json' | 'reason'>,
): Promise<void> {
  const taken = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const details = { reference, reason }
    const audit = { actor, action: 'own_funds.taken_back', target: 'own_funds', details }
    return context.commands.open(takeBackOwnFunds).run({ reference, reason }, audit)
  })
  printOutcome(taken, json, ({ journals, movement }) => {
    const { shares: _, ...record } = movementToWire(movement, [])
    printRecord({ ...record, isRepeat: journals.length === 0 }, json)
  })
}
