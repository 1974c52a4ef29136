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
const UTR_MIN = 6

export function addPayoutFileCommands(payout: Command): void {
  addBankFileCommands<Payout>(payout, {
    name: 'payout',
    waiting: 'approved',
    fields: {
      payoutId: { of: ({ payoutId }) => payoutId },
      amount: { of: ({ amountPaise }) => formatRupees(amountPaise) },
      accountNumber: { of: ({ accountNumber }) => accountNumber },
      ifsc: { of: ({ ifsc }) => ifsc },
      // Letters, digits and spaces: no spreadsheet takes a name for a formula.
      accountHolder: {
        of: ({ accountHolder }) =>
          accountHolder.replace(/[^\p{L}\p{M}\p{N} .&'-]/gu, ' ').replace(/^[^\p{L}\p{N}]+/u, ''),
      },
    },
    id: ({ payoutId }) => payoutId,
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
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin payout import response.csv --payout REFERENCE --status STATUS --paid SUCCESS --failed FAILED --returned RETURNED,REVERSED --utr UTR --reason REMARKS',
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
        if (!(error instanceof Failure && error.code === 'payout_state')) throw error
      })
    if (approved.length < CHUNK) return runId
  }
}

interface ImportOptions {
  readonly payout: string
  readonly status: string
  readonly paid: string
  readonly failed: string
  readonly returned: string
  readonly utr: string
  readonly reason: string
  readonly json?: boolean
}

interface Reported {
  readonly line: number
  readonly payoutId: string
  /** The bank's own word. */
  readonly word: string
  /** Absent for a word that says neither that it was paid nor that it failed or came back: the bank may still pay. */
  readonly step: PayoutStep | undefined
}

const plain = (word: string): string => word.trim().toUpperCase()

type Outcome = 'paid' | 'failed' | 'returned'

/** Throws `UsageError` where a word would mean two things, or none is given: an outcome that is empty means nothing. */
function readWords(options: ImportOptions): ReadonlyMap<string, Outcome> {
  const words = new Map<string, Outcome>()
  for (const outcome of ['paid', 'failed', 'returned'] as const)
    for (const word of outcome === 'paid' ? [options.paid] : options[outcome].split(',')) {
      const other = words.get(plain(word))
      if (plain(word) === '') throw new UsageError('--paid, --failed and --returned must name words')
      if (other !== undefined && other !== outcome)
        throw new UsageError(`${word} cannot mean both: it is in --${other} and --${outcome}`)
      words.set(plain(word), outcome)
    }
  return words
}

function readOutcomes(text: string, options: ImportOptions): Reported[] {
  const { payout, status, utr, reason } = options
  const words = readWords(options)
  const rows: Record<string, string>[] = parse(text, {
    columns: true,
    bom: true,
    trim: true,
    skip_empty_lines: true,
  })
  return rows.map((row, i) => {
    const at = (name: string) =>
      row[name] ?? reject(i + 1, `the file has no column ${name}, but ${Object.keys(row).join(', ')}`)
    const word = at(status)
    const of = { line: i + 1, payoutId: at(payout), word }
    const outcome = words.get(plain(word))
    if (outcome === undefined) return { ...of, step: undefined }
    if (outcome === 'failed') return { ...of, step: { to: 'FAILED', reason: at(reason) || word } }
    const reference = canonicalReference(at(utr))
    const isReference = reference.length >= UTR_MIN
    // A return without a reference is one of a payout that the bank never reported as paid.
    if (outcome === 'returned')
      return {
        ...of,
        step: { to: 'FAILED', reason: at(reason) || word, returnUtr: isReference ? reference : undefined },
      }
    if (!isReference)
      return reject(i + 1, `${utr} must be a reference of at least ${UTR_MIN} letters and digits`)
    return { ...of, step: { to: 'PAID', utr: reference } }
  })
}

const reject = (line: number, what: string): never => {
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
  if (!step) return `nothing recorded: ${JSON.stringify(word)} is not in --paid, --failed or --returned`
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
