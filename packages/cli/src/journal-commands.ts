import { fail } from '@svc/contract/errors'
import { reverseJournal } from '@svc/core/cards/account/reverse-posting'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { findJournal, type JournalWithLegs } from '@svc/core/ledger/reverse-journal'
import { formatRupees } from '@svc/kernel/money'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRows } from './print.ts'
import { readReason } from './read-reason.ts'

interface Options {
  readonly json?: boolean
}

export function addJournalCommands(program: Command): void {
  const journal = program
    .command('journal')
    .description('journals of the ledger: show one, reverse one that an operator posted')
  journal
    .command('show <journalId>')
    .description('show a journal, a line for each leg; `svc admin books statement` has the ids')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin journal show jrn_…')
    .action(async (journalId: string, { json = false }: Options) => {
      printRows(rowsOf(await withInstallation((context) => find(context, journalId))), json)
    })
  journal
    .command('reverse <journalId>')
    .description(
      'take a journal back by a mirrored one, once; above APPROVAL_ABOVE_RUPEES a second person approves',
    )
    .requiredOption('--reason <text>', 'why; it is in the journal', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin journal reverse jrn_… --reason "entered for the wrong company"',
    )
    .action((journalId: string, options: Options & { reason: string }) => reverse(journalId, options))
}

const rowsOf = ({ journal, legs, reversedBy }: JournalWithLegs) =>
  legs.map(({ debitAccountId, creditAccountId, amount, unit }) => ({
    journalId: journal.journalId,
    kind: journal.kind,
    effectiveDate: journal.effectiveDate,
    reference: journal.reference,
    debit: debitAccountId,
    credit: creditAccountId,
    amount: unit === 'INR' ? formatRupees(amount) : String(amount),
    unit,
    reason: journal.reason,
    reverses: journal.reverses,
    reversedBy,
  }))

async function find({ database }: CommandContext, journalId: string): Promise<JournalWithLegs> {
  const found = await database.operate((tx) => findJournal(tx, journalId))
  if (!found)
    return fail('journal_not_found', {
      description: `There is no journal ${journalId}. Ids: svc admin books statement`,
    })
  return found
}

async function reverse(
  journalId: string,
  { reason, json = false }: Options & { reason: string },
): Promise<void> {
  const reversal = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const { tenantId } = (await find(context, journalId)).journal
    const audit = { actor, action: 'journal.reversed', target: journalId, tenantId, details: { reason } }
    const outcome = await context.commands.open(reverseJournal).run({ tenantId, journalId, reason }, audit)
    return outcome instanceof WaitingApproval ? outcome : find(context, outcome.reversalId)
  })
  printOutcome(reversal, json, (found) => printRows(rowsOf(found), json))
}
