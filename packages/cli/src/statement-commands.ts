import {
  assignStatementLine,
  matchStatementLine,
  resolveStatementLine,
  unmatchStatementLine,
} from '@svc/console-api/faces/statement-line-operations'
import { type ListedStatementLine, statementLine } from '@svc/server/statements/statement-lines'
import type { Command } from 'commander'
import { addNounList } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'
import { addStatementImport } from './statement-import.ts'

export function addStatementCommands(program: Command): void {
  const group = program
    .command('statement')
    .description('bank statements: import them, list their lines, say what they are')
  addStatementImport(group)
  addNounList<ListedStatementLine>(group, statementLine, {
    name: 'lines',
    limit: 1_000_000,
    description: 'list the lines of all statements, newest first',
    example: 'svc admin statement lines --status UNMATCHED --csv > unmatched.csv',
  })
  addOperation(group, matchStatementLine, {
    name: 'match',
    flags: { documentId: { name: 'to' } },
    description: 'say which movement a line is; an amount that is another one makes it differ',
    example: 'svc admin statement match stl_… --to pyo_… --reason "by letter"',
  })
  addOperation(group, unmatchStatementLine, {
    name: 'unmatch',
    description:
      'take the match of a line back, with what it had posted; what people resolved: svc admin journal reverse',
    example: 'svc admin statement unmatch stl_… --reason "of another payout"',
  })
  addOperation(group, assignStatementLine, {
    name: 'assign',
    description: 'name who is to find out what a line is',
    example: 'svc admin statement assign stl_… --owner "operator asha"',
  })
  addOperation(group, resolveStatementLine, {
    name: 'resolve',
    description: 'post what a line is that fits nothing, on its day',
    more: `exception: the bank took it without an explanation, or gave that back. suspense: money that belongs to a merchant or payer
who is not known yet. own_funds: our money, or money for us.`,
    example: 'svc admin statement resolve stl_… --as charge --reason "charges of April"',
  })
}
