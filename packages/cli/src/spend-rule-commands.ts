import {
  backtestSpendRulesInConsole,
  createSpendRuleInConsole,
  removeSpendRuleInConsole,
} from '@svc/console-api/faces/spend-rule-operations'
import type { SpendRule } from '@svc/core/cards/rules/spend-rule'
import { spendRule } from '@svc/server/cards/spend-rules'
import type { Command } from 'commander'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

/** Rules of what cards may be used for, set by operators as partners set them. */
export function addSpendRuleCommands(program: Command): void {
  const group = program
    .command('spend-rules')
    .description('spend rules: what cards may be used for, and how much of it')
  addNounList<SpendRule>(group, spendRule, {
    by: 'partnerId',
    description: 'list the spend rules of a partner, or of all, newest first',
    example: 'svc admin spend-rules list par_… --status in_force',
  })
  addNounShow<SpendRule>(group, spendRule, {
    id: 'spendRuleId',
    description: 'show a spend rule',
    example: 'svc admin spend-rules show spr_…',
  })
  addOperation(group, createSpendRuleInConsole, {
    name: 'create',
    by: ['partnerId'],
    description: 'set a spend rule, in force at once; without a limit it declines what it is about',
    example:
      'svc admin spend-rules create par_… --name "Cash: 2,000 rupees a day" --channels atm --day-amount 2000 --per-card',
  })
  addOperation(group, removeSpendRuleInConsole, {
    name: 'remove',
    description: 'remove a spend rule; it is no longer in force',
    example: 'svc admin spend-rules remove spr_…',
  })
  addOperation(group, backtestSpendRulesInConsole, {
    name: 'backtest',
    by: ['partnerId'],
    one: 'create',
    example: 'svc admin spend-rules backtest par_… --mccs 7995',
  })
}
