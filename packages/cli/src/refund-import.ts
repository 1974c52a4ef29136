import { Failure } from '@svc/contract/errors'
import type { BankResponse } from '@svc/core/bank-files/response-rows'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { findRefund } from '@svc/core/payments/refunds/find-refund'
import type { MerchantRefund } from '@svc/core/payments/refunds/merchant-refund'
import type { Command } from 'commander'
import { type BankFileOptions, withFileOptions } from './bank-file-input.ts'
import type { CommandContext } from './context.ts'
import {
  type Importing,
  importResponses,
  notNamed,
  type OutcomeOptions,
  otherAmount,
} from './response-import.ts'

interface ImportOptions extends BankFileOptions {
  readonly refund: string
  readonly status: string
  readonly refunded: string
  readonly failed: string
  readonly utr: string
  readonly reason: string
  readonly amount: string
}

export function addRefundImport(refund: Command): void {
  const command = refund
    .command('import <file>')
    .description('record what the bank says of refunds (CSV); again, it changes nothing')
    .option('--refund <column>', 'the column of our reference', 'refundId')
    .option('--status <column>', 'the column of the outcome', 'status')
    .option(
      '--refunded <values>',
      'what the outcome is called when it was made, separated by commas, in any case',
      'REFUNDED',
    )
    .option(
      '--failed <values>',
      'what it is called when it could not be made, likewise; any other changes nothing',
      'FAILED,REJECTED',
    )
    .option('--utr <column>', 'the column of the bank’s own reference of the refund', 'utr')
    .option('--reason <column>', 'the column that says why it could not be made', 'reason')
    .option(
      '--amount <column>',
      'the column of the amount; where the file has it, it must be that of the refund',
      'amount',
    )
  withFileOptions(command, 'a JSON file')
    .addHelpText(
      'after',
      '\nA refund that failed is payable to its merchant again; above APPROVAL_ABOVE_RUPEES a second person approves it.\n\nExample:\n  svc admin refund import response.csv --refund REFERENCE --status STATUS --refunded SUCCESS --utr RRN',
    )
    .action((file: string, options: ImportOptions) => {
      const { refund: id, status, utr, reason, amount, refunded, failed } = options
      const words: OutcomeOptions = { refunded: ['done', refunded], failed: ['failed', failed] }
      return importResponses(file, options, {
        idName: 'refundId',
        nameColumns: 'Name its columns with --refund, --status and --utr, or give --format.',
        columns: { id, status, utr, reason, amount },
        words,
        record: (context, response, by) => recordOutcome(context, response, { ...by, words }),
        preview: (context, response) => previewOutcome(context, response, words),
        isDone: (result) => result === 'REFUNDED' || result === 'FAILED' || result.startsWith('would be '),
      })
    })
}

async function findRefundOf(
  { database }: CommandContext,
  response: BankResponse,
  words: OutcomeOptions,
): Promise<MerchantRefund | string> {
  if (response.outcome === undefined) return notNamed(response, words)
  const refund = await database.operate((tx) => findRefund(tx, response.id))
  if (!refund) return 'no such refund'
  return otherAmount(response, refund.amountPaise) ?? refund
}

async function previewOutcome(
  context: CommandContext,
  response: BankResponse,
  words: OutcomeOptions,
): Promise<string> {
  const refund = await findRefundOf(context, response, words)
  if (typeof refund === 'string') return refund
  const to = response.outcome === 'done' ? 'REFUNDED' : 'FAILED'
  return refund.status === to ? to : `would be ${to}; it is ${refund.status}`
}

async function recordOutcome(
  context: CommandContext,
  response: BankResponse,
  { actor, file, words }: Importing & { readonly words: OutcomeOptions },
): Promise<string> {
  const refund = await findRefundOf(context, response, words)
  if (typeof refund === 'string') return refund
  const outcome = {
    refundId: refund.refundId,
    utr: response.utr ?? null,
    amountPaise: response.amountPaise,
    failureReason: response.outcome === 'failed' ? (response.reason ?? response.word) : null,
  }
  const audit = {
    actor,
    action: 'refund.completed',
    target: refund.refundId,
    tenantId: refund.merchantId,
  }
  try {
    const done = await context.commands.open(completeRefund).run({ read: { outcome }, file }, audit)
    if (done instanceof WaitingApproval) return 'waits for a second person: svc admin approval list'
    return done.refund?.status ?? refund.status
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
}
