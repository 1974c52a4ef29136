import { moveOwnFundsInConsole, takeBackOwnFundsInConsole } from '@svc/console-api/faces/own-funds-operations'
import type { Command } from 'commander'
import { addOperation, type CommandFace } from './operation-command.ts'
import { UsageError } from './usage-error.ts'

type Kind = 'SWEEP' | 'GST' | 'OWNER' | 'ESCROW' | 'TDS'
type Field = 'through' | 'month' | 'taxes' | 'amount'

/** The only field by which a movement of this kind differs from others. */
const FIELD_OF: Readonly<Record<Kind, Field>> = {
  SWEEP: 'through',
  GST: 'month',
  OWNER: 'amount',
  ESCROW: 'amount',
  TDS: 'amount',
}

interface Shared {
  readonly shares: readonly object[]
}

/** A command that enters movements of one kind. */
export function addMovement(group: Command, kind: Kind, face: Omit<CommandFace, 'given' | 'shown'>): void {
  const others = (['through', 'month', 'taxes', 'amount'] as const).filter(
    (field) => field !== FIELD_OF[kind],
  )
  addOperation(group, moveOwnFundsInConsole, {
    ...face,
    given: { kind, ...Object.fromEntries(others.map((field) => [field, undefined])) },
    shown: ({ shares, ...moved }: Shared) => ({ ...moved, shares: shares.length }),
  })
}

const TAXES = ['cgst', 'sgst', 'igst'] as const

/** `<cash>+<credit>` of each tax. */
const taxesOf = (given: Readonly<Record<string, unknown>>) =>
  TAXES.flatMap((tax) => {
    const paid = given[tax]
    if (typeof paid !== 'string') return []
    const [cash, credit, more] = paid.split('+')
    if (credit === undefined || more !== undefined)
      throw new UsageError(`--${tax} must be cash and input credit in rupees, such as 90.00+18.00.`)
    return [{ account: `output_${tax}`, cash, credit }]
  })

export function addOwnFundsCommands(books: Command): void {
  addMovement(books, 'SWEEP', {
    name: 'sweep',
    description: 'enter that our fees and GST went from the escrow of merchants to our account',
    more: `What is moved are fees and GST of payouts that were paid, or paid otherwise, less credit notes, certificates of
deducted tax, charges of the bank with their GST and earlier sweeps. The command prints the amount: pay it at the bank under this reference.`,
    example:
      'svc admin books sweep --through 2026-10-31 --reference HDFCN526004242 --reason "fees of October"',
  })
  const pay = books
    .command('pay')
    .description('enter that our own money was paid: tax, to the owner, to the escrow')
  addMovement(pay, 'GST', {
    name: 'gst',
    extra: Object.fromEntries(
      TAXES.map((tax) => [
        tax,
        {
          type: 'string',
          description: `${tax.toUpperCase()}, in cash and from input credit: <cash>+<credit>`,
        },
      ]),
    ),
    resolve: async (given) => ({ ...given, taxes: taxesOf(given) }),
    description: 'enter that the GST of a month was paid, in cash and from input credit',
    more: `What is due is the tax of all invoices and debit notes less credit notes that are dated until the end of the month, less
what was paid before: each tax is paid whole. Its reference is that of the payment.`,
    example:
      'svc admin books pay gst --month 2026-10 --cgst 90.00+9.00 --sgst 90.00+9.00 --reference CPIN26110042 --reason "return"',
  })
  addMovement(pay, 'OWNER', {
    name: 'owner',
    extra: { capital: { type: 'boolean', description: 'the owner paid it in' } },
    resolve: async ({ capital, ...given }) => ({ ...given, kind: capital ? 'CAPITAL' : 'OWNER' }),
    description: 'enter what was paid to the owner, or with --capital what the owner paid in',
    example:
      'svc admin books pay owner --amount 5000.00 --reference HDFCN526004243 --reason "drawing of May"',
  })
  addMovement(pay, 'ESCROW', {
    name: 'escrow',
    description: 'enter what was paid from our account into the escrow of merchants, such as for a shortfall',
    example:
      'svc admin books pay escrow --amount 250.00 --reference HDFCN526004244 --reason "shortfall of 3 May"',
  })
  addOperation(books, takeBackOwnFundsInConsole, {
    name: 'undo',
    by: ['reference'],
    description:
      'take back a movement of our own money that was entered by mistake: a sweep, a payment, a refund of tax',
    more: `Each of its journals is entered the other way round, effective today, in the books of all merchants that have a share; then
its reference can be entered again. A movement that a bank statement shows stays: svc admin statement unmatch.`,
    example: 'svc admin books undo HDFCN526004243 --reason "500.00, not 5000.00"',
  })
}
