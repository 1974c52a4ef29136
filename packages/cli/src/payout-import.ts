import { Failure } from '@svc/contract/errors'
import type { BankResponse } from '@svc/core/bank-files/response-rows'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import type { PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { findPayout } from '@svc/core/payments/payouts/find-payouts'
import type { Payout } from '@svc/core/payments/payouts/payout'
import type { Command } from 'commander'
import { type BankFileOptions, withFileOptions } from './bank-file-input.ts'
import type { CommandContext } from './context.ts'
import { changeInName } from './payout-steps.ts'
import {
  type Importing,
  importResponses,
  notNamed,
  type OutcomeOptions,
  otherAmount,
} from './response-import.ts'

interface ImportOptions extends BankFileOptions {
  readonly payout: string
  readonly status: string
  readonly paid: string
  readonly failed: string
  readonly returned: string
  readonly utr: string
  readonly reason: string
  readonly amount: string
}

export function addPayoutImport(payout: Command): void {
  const command = payout
    .command('import <file>')
    .description('record what the bank says of payouts (CSV); again, it changes nothing')
    .option('--payout <column>', 'the column of our reference', 'payoutId')
    .option('--status <column>', 'the column of the outcome', 'status')
    .option('--paid <values>', 'what the outcome is called when it was paid, in any case', 'PAID')
    .option(
      '--failed <values>',
      'what it is called when it could not be paid, separated by commas, in any case; any other changes nothing',
      'FAILED,REJECTED',
    )
    .option(
      '--returned <values>',
      'what it is called when the money came back, also after it was paid, likewise',
      'RETURNED',
    )
    .option(
      '--utr <column>',
      'the column of the bank’s own reference, of the payment or of its return',
      'utr',
    )
    .option('--reason <column>', 'the column that says why it could not be paid', 'reason')
    .option(
      '--amount <column>',
      'the column of the amount; where the file has it, it must be that of the payout',
      'amount',
    )
  withFileOptions(command, 'a JSON file')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin payout import response.csv --payout REFERENCE --status STATUS --paid SUCCESS --failed FAILED --returned RETURNED,REVERSED --utr UTR --reason REMARKS',
    )
    .action((file: string, options: ImportOptions) => {
      const { payout: id, status, utr, reason, amount, paid, failed, returned } = options
      const words: OutcomeOptions = {
        paid: ['done', paid],
        failed: ['failed', failed],
        returned: ['returned', returned],
      }
      return importResponses(file, options, {
        idName: 'payoutId',
        nameColumns: 'Name its columns with --payout, --status and --utr, or give --format.',
        columns: { id, status, utr, reason, amount },
        words,
        record: (context, response, by) => recordOutcome(context, response, { ...by, words }),
        preview: (context, response) => previewOutcome(context, response, words),
        isDone: (result) => result === 'PAID' || result === 'FAILED' || result.startsWith('would be '),
      })
    })
}

/** What the bank says, as a step of the payout. */
function stepOf({ outcome, utr, reason, word }: BankResponse): PayoutStep | undefined {
  if (outcome === undefined) return undefined
  if (outcome === 'done') return utr === undefined ? undefined : { to: 'PAID', utr }
  const failed = { to: 'FAILED', reason: reason ?? word } as const
  // A return without a reference is one of a payout that the bank never reported as paid.
  return outcome === 'returned' ? { ...failed, returnUtr: utr } : failed
}

/** The payout and its step, or why there is none. */
async function findStep(
  { database }: CommandContext,
  response: BankResponse,
  words: OutcomeOptions,
): Promise<{ readonly payout: Payout; readonly step: PayoutStep } | string> {
  const step = stepOf(response)
  if (!step) return notNamed(response, words)
  const payout = await database.operate((tx) => findPayout(tx, response.id))
  if (!payout) return 'no such payout'
  return otherAmount(response, payout.amountPaise) ?? { payout, step }
}

async function previewOutcome(
  context: CommandContext,
  response: BankResponse,
  words: OutcomeOptions,
): Promise<string> {
  const found = await findStep(context, response, words)
  if (typeof found === 'string') return found
  const { payout, step } = found
  return payout.status === step.to ? payout.status : `would be ${step.to}; it is ${payout.status}`
}

/** What is recorded now, or why it cannot be. */
async function recordOutcome(
  context: CommandContext,
  response: BankResponse,
  { actor, file, words }: Importing & { readonly words: OutcomeOptions },
): Promise<string> {
  const found = await findStep(context, response, words)
  if (typeof found === 'string') return found
  const { payout, step: stated } = found
  // A file of the bank needs a second person above the limit only.
  const step = stated.to === 'FAILED' ? { ...stated, file } : stated
  try {
    const changed = await changeInName(context, payout, step, actor)
    if (changed instanceof WaitingApproval) return 'waits for a second person: svc admin approval list'
    const { merchantId, paidLateAt, status } = changed
    if (step.to === 'PAID' && paidLateAt !== null)
      return `FAILED before, and its money was paid again or spent: an exception on payout_exceptions:${merchantId}`
    return status
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
}
