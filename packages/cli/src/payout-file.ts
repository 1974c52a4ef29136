import { Failure } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import type { PayoutStep } from '@svc/core/payments/change-payout'
import { findPayout, listAllPayouts, payoutRuns, payoutsOfRun } from '@svc/core/payments/find-payouts'
import type { Payout } from '@svc/core/payments/payout'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees } from '@svc/kernel/money'
import type { Command } from 'commander'
import { parse } from 'csv-parse/sync'
import { addBankFileCommands } from './bank-file.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { changeInName } from './payout-steps.ts'
import { printRows } from './print.ts'
import { readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

const CHUNK = 1_000

export function addPayoutFileCommands(payout: Command): void {
  addBankFileCommands<Payout>(payout, {
    name: 'payout',
    waiting: 'approved',
    fields: {
      payoutId: ({ payoutId }) => payoutId,
      amount: ({ amountPaise }) => formatRupees(amountPaise),
      accountNumber: ({ accountNumber }) => accountNumber,
      ifsc: ({ ifsc }) => ifsc,
      // Letters, digits and spaces: no spreadsheet takes a name for a formula.
      accountHolder: ({ accountHolder }) =>
        accountHolder.replace(/[^\p{L}\p{M}\p{N} .&'-]/gu, ' ').replace(/^[^\p{L}\p{N}]+/u, ''),
    },
    example: 'accountNumber=ACCOUNT,ifsc=IFSC,amount=AMOUNT,payoutId=REFERENCE',
    send: sendApproved,
    ofRun: ({ database }, runId) => database.operate((tx) => payoutsOfRun(tx, runId)),
    runs: async ({ database }, limit) => {
      const runs = await database.operate((tx) => payoutRuns(tx, limit))
      return runs.map(({ payouts, ...run }) => ({ ...run, count: payouts }))
    },
  })
  payout
    .command('import <file>')
    .description('record what the bank says of payouts (CSV); again, it changes nothing')
    .option('--payout <column>', 'the column of our reference', 'payoutId')
    .option('--status <column>', 'the column of the outcome', 'status')
    .option('--paid <value>', 'what the outcome is called when it was paid, in any case', 'PAID')
    .option(
      '--failed <values>',
      'what it is called when it could not be paid, separated by commas, in any case; any other changes nothing',
      'FAILED,REJECTED,RETURNED',
    )
    .option('--utr <column>', 'the column of the bank’s own reference', 'utr')
    .option('--reason <column>', 'the column that says why it could not be paid', 'reason')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin payout import response.csv --payout REFERENCE --status STATUS --paid SUCCESS --failed FAILED,REVERSED --utr UTR --reason REMARKS',
    )
    .action(importOutcomes)
}

/** A payout that another run takes meanwhile stays in that run. */
async function sendApproved(context: CommandContext): Promise<string> {
  const { database, keyMaker } = context
  const actor = await moneyActor(context)
  const runId = newId('pyr', Date.now(), keyMaker.random)
  for (let approved: Payout[] = []; ; ) {
    approved = await database.operate((tx) => listAllPayouts(tx, { status: 'APPROVED', limit: CHUNK }))
    for (const payout of approved)
      await changeInName(context, payout, { to: 'SENT', runId }, actor).catch((error: unknown) => {
        if (!(error instanceof Failure && error.word === 'payout_state')) throw error
      })
    if (approved.length < CHUNK) return runId
  }
}

interface ImportOptions {
  readonly payout: string
  readonly status: string
  readonly paid: string
  readonly failed: string
  readonly utr: string
  readonly reason: string
  readonly json?: boolean
}

interface Reported {
  readonly line: number
  readonly payoutId: string
  /** The bank's own word. */
  readonly word: string
  /** Absent for a word that says neither that it was paid nor that it failed: the bank may still pay. */
  readonly step: PayoutStep | undefined
}

const plain = (word: string): string => word.trim().toUpperCase()

/** Throws `UsageError` where a word would mean both, or none is given: an outcome that is empty means nothing. */
function readWords({ paid, failed }: ImportOptions) {
  const words = { paid: plain(paid), failed: new Set(failed.split(',').map(plain)) }
  if (words.paid === '' || words.failed.has('')) throw new UsageError('--paid and --failed must name words')
  if (words.failed.has(words.paid))
    throw new UsageError(`${paid} cannot mean both: it is in --paid and --failed`)
  return words
}

function readOutcomes(text: string, options: ImportOptions): Reported[] {
  const { payout, status, utr, reason } = options
  const { paid, failed } = readWords(options)
  const rows: Record<string, string>[] = parse(text, {
    columns: true,
    bom: true,
    trim: true,
    skip_empty_lines: true,
  })
  return rows.map((row, i) => {
    const at = (name: string) =>
      row[name] ?? fault(i + 1, `the file has no column ${name}, but ${Object.keys(row).join(', ')}`)
    const word = at(status)
    const of = { line: i + 1, payoutId: at(payout), word }
    if (failed.has(plain(word))) return { ...of, step: { to: 'FAILED', reason: at(reason) || word } }
    if (plain(word) !== paid) return { ...of, step: undefined }
    const reference = canonicalReference(at(utr))
    if (reference.length < 6)
      return fault(i + 1, `${utr} must be a reference of at least 6 letters and digits`)
    return { ...of, step: { to: 'PAID', utr: reference } }
  })
}

const fault = (line: number, what: string): never => {
  throw new UsageError(`Nothing was imported. Line ${line}: ${what}`)
}

async function importOutcomes(file: string, options: ImportOptions): Promise<void> {
  const reported = readOutcomes(await readText(file, 'the file of the bank'), options)
  const rows = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const results = []
    for (const each of reported) results.push({ ...each, result: await recordOutcome(context, each, actor) })
    return results
  })
  printRows(
    rows.map(({ line, payoutId, result }) => ({ line, payoutId, result })),
    options.json ?? false,
  )
  if (rows.some(({ result }) => result !== 'PAID' && result !== 'FAILED')) process.exitCode = 1
}

/** What is recorded now, or why it cannot be. */
async function recordOutcome(
  context: CommandContext,
  { payoutId, step, word }: Reported,
  actor: string,
): Promise<string> {
  if (!step) return `nothing recorded: ${JSON.stringify(word)} is neither in --paid nor in --failed`
  const found = await context.database.operate((tx) => findPayout(tx, payoutId))
  if (!found) return 'no such payout'
  try {
    const { merchantId, paidLateAt, status } = await changeInName(context, found, step, actor)
    if (step.to === 'PAID' && paidLateAt !== null)
      return `FAILED before, and its money was paid again or spent: an exception on payout_exceptions:${merchantId}`
    return status
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
}
