import { reverseJournalInConsole, showJournal } from '@svc/console-api/faces/journal-operations'
import type { Command } from 'commander'
import { addOperation } from './operation-command.ts'

interface Journal {
  readonly legs: readonly object[]
  readonly reason?: string
  readonly reverses?: string
  readonly reversedBy?: string
}

/** A line for each leg, with what is said of the journal. */
const legsOf = ({ legs, reason, reverses, reversedBy }: Journal): readonly object[] =>
  legs.map((leg) => ({ ...leg, reason, reverses, reversedBy }))

export function addJournalCommands(program: Command): void {
  const group = program
    .command('journal')
    .description('journals of the ledger: show one, reverse one that an operator posted')
  addOperation(group, showJournal, {
    name: 'show',
    description: 'show a journal, a line for each leg; `svc admin books statement` has the ids',
    example: 'svc admin journal show jrn_…',
    shown: legsOf,
  })
  addOperation(group, reverseJournalInConsole, {
    name: 'reverse',
    description:
      'take a journal back by a mirrored one, once; above APPROVAL_ABOVE_RUPEES a second person approves',
    example: 'svc admin journal reverse jrn_… --reason "entered for the wrong company"',
    shown: legsOf,
  })
}
