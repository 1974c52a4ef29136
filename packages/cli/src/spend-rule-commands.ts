import { NETWORK_CHANNELS } from '@svc/core/cards/rail/card-message'
import { createSpendRule, removeSpendRule } from '@svc/core/cards/rules/set-spend-rule'
import type { SpendRule } from '@svc/core/cards/rules/spend-rule'
import { backtester, readTerms, SpendTermsRequest, spendRule } from '@svc/server/cards/spend-rules'
import { findRow } from '@svc/server/http/resource'
import { type Command, InvalidArgumentError } from 'commander'
import type { Static, TSchema } from 'typebox'
import { cliActor, withInstallation } from './context.ts'
import { addNounList, addNounShow, printNoun, recordAfter } from './noun-commands.ts'
import { requireName } from './partner-commands.ts'
import { printRecord } from './print.ts'
import { readCount } from './read-count.ts'
import { readRupees } from './read-rupees.ts'
import { requirePartner } from './require-partner.ts'
import { UsageError } from './usage-error.ts'

type Terms = Static<typeof SpendTermsRequest>
interface Json {
  readonly json?: boolean
}
interface CreateOptions extends Terms, Json {
  readonly name: string
  readonly replaces?: string
}
interface BacktestOptions extends Terms, Json {
  readonly remove?: string[]
}

const missing = (id: string): string => `There is no spend rule ${id}. List: svc admin spend-rules list`

interface ListSchema extends TSchema {
  readonly items: { readonly pattern?: string; readonly 'x-rule'?: string }
}

/** A list with commas, whose parts are as the API has them. */
function readList(name: keyof Terms): (text: string) => string[] {
  const { pattern, 'x-rule': rule } = (SpendTermsRequest.properties[name] as unknown as ListSchema).items
  return (text) => {
    const parts = [...new Set(text.split(',').map((part) => part.trim()))]
    const isWrong = (part: string) =>
      pattern === undefined
        ? !NETWORK_CHANNELS.some((channel) => channel === part)
        : !new RegExp(pattern).test(part)
    if (parts.some(isWrong))
      throw new InvalidArgumentError(`Each ${rule ?? `must be one of ${NETWORK_CHANNELS.join(', ')}`}.`)
    return parts
  }
}

/** What a rule is: the fields of the API as options. */
const withTerms = (command: Command): Command =>
  command
    .option('--svc-card-id <id>', 'of this card alone')
    .option('--card-account-id <id>', 'of the cards of this card account')
    .option('--channels <list>', NETWORK_CHANNELS.join(', '), readList('channels'))
    .option('--mccs <list>', 'merchant categories, such as 5411,3000-3299', readList('mccs'))
    .option('--except-mccs <list>', 'all categories but these', readList('exceptMccs'))
    .option('--countries <list>', 'countries of merchants, such as IN,NP', readList('countries'))
    .option('--except-countries <list>', 'all countries but these', readList('exceptCountries'))
    .option('--transaction-amount <rupees>', 'most for one transaction', readRupees)
    .option('--day-amount <rupees>', 'most for a business day', readRupees)
    .option('--month-amount <rupees>', 'most for a calendar month', readRupees)
    .option('--day-count <count>', 'most authorisations in a business day', readCount)
    .option('--month-count <count>', 'most authorisations in a calendar month', readCount)
    .option('--per-card', 'each card counts for itself, and not all together')
    .option('--json', 'print JSON')

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
    missing,
  })
  withTerms(group.command('create <partnerId>'))
    .description('set a spend rule, in force at once; without a limit it declines what it is about')
    .requiredOption('--name <name>', 'for people, 1 to 100 characters')
    .option('--replaces <spendRuleId>', 'the rule whose place it takes, with what was used of it')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin spend-rules create par_… --name "Cash: 2,000 rupees a day" --channels atm --day-amount 2000 --per-card',
    )
    .action(create)
  group
    .command('remove <spendRuleId>')
    .description('remove a spend rule; it is no longer in force')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin spend-rules remove spr_…')
    .action(remove)
  withTerms(group.command('backtest <partnerId>'))
    .description(
      'say what a spend rule would have changed of the recorded authorisations of the last 90 days; changes nothing',
    )
    .option('--remove <spendRuleIds...>', 'rules that would not be there')
    .addHelpText('after', '\nExample:\n  svc admin spend-rules backtest par_… --mccs 7995')
    .action(backtest)
}

async function create(partnerId: string, { json = false, name, replaces, ...terms }: CreateOptions) {
  requireName(name)
  const created = await withInstallation(async (context) => {
    const { commands, database } = context
    await database.operate((tx) => requirePartner(tx, partnerId))
    const { rule } = await commands.open(createSpendRule).run(
      { partnerId, name, replaces, ...readTerms(terms) },
      {
        actor: cliActor(),
        action: 'spend_rule.created',
        target: (made: { rule: SpendRule }) => made.rule.spendRuleId,
        tenantId: partnerId,
      },
    )
    return recordAfter<SpendRule>(context, spendRule, rule.spendRuleId, rule)
  })
  printNoun(created, json)
}

async function remove(spendRuleId: string, { json = false }: Json): Promise<void> {
  const removed = await withInstallation(async (context) => {
    const { commands, database } = context
    const found = await database.operate((tx) =>
      findRow<SpendRule>(tx, spendRule, { reader: 'operator' }, spendRuleId),
    )
    if (!found) throw new UsageError(missing(spendRuleId))
    const { partnerId } = found
    const audit = {
      actor: cliActor(),
      action: 'spend_rule.removed',
      target: spendRuleId,
      tenantId: partnerId,
    }
    const outcome = await commands.open(removeSpendRule).run({ partnerId, spendRuleId }, audit)
    return recordAfter<SpendRule>(context, spendRule, spendRuleId, outcome)
  })
  printNoun(removed, json)
}

async function backtest(
  partnerId: string,
  { json = false, remove: without = [], ...terms }: BacktestOptions,
): Promise<void> {
  const found = await withInstallation(async (context) => {
    await context.database.operate((tx) => requirePartner(tx, partnerId))
    const isProposed = Object.keys(terms).length > 0
    return backtester(context)(partnerId, { remove: without, ...(isProposed && { create: [terms] }) })
  })
  const { declined, approved, changes, ...rest } = found
  printRecord(
    json
      ? (found as never)
      : {
          ...rest,
          declined: declined.count,
          declinedAmount: declined.amount,
          approved: approved.count,
          approvedAmount: approved.amount,
          changes: changes.length,
        },
    json,
  )
}
