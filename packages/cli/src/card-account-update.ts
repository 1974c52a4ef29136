import { findCardAccount } from '@svc/core/cards/account/card-account'
import { cardAccount, type ListedAccount, updateCardAccountContract } from '@svc/server/cards/card-accounts'
import type { Command } from 'commander'
import { addAssignment, assignmentsOf, readAssignments } from './assignments.ts'
import { cliActor, withInstallation } from './context.ts'
import { printNoun, recordAfter } from './noun-commands.ts'
import { UsageError } from './usage-error.ts'

type Body = Parameters<typeof updateCardAccountContract.args>[0]['body']

interface UpdateOptions {
  readonly json?: boolean
  readonly set: readonly string[]
}

const BODY = updateCardAccountContract.body!

export function addCardAccountUpdate(account: Command): void {
  account
    .command('update <cardAccountId>')
    .description('change what its partner may set on a card account, and what the records of its cards say')
    .requiredOption('--set <field=value>', assignmentsOf(BODY), addAssignment)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin card-account update acc_… --set unallocateFundAllowed=true --set svcSupportEmail=help@acme.example',
    )
    .action(update)
}

async function update(cardAccountId: string, { set, json = false }: UpdateOptions): Promise<void> {
  const body = readAssignments(BODY, set) as Body
  const changed = await withInstallation(async (context) => {
    const { commands, database } = context
    const account = await database.operate((tx) => findCardAccount(tx, cardAccountId))
    if (!account)
      throw new UsageError(`There is no card account ${cardAccountId}. List: svc admin card-account list`)
    const caller = { tenantId: account.partnerId }
    const input = { caller, params: { cardAccountId }, body } as Parameters<
      typeof updateCardAccountContract.args
    >[0]
    const args = await updateCardAccountContract.args(input, context as never)
    const decided = await commands.open(updateCardAccountContract.run).run(args, {
      actor: cliActor(),
      target: cardAccountId,
      tenantId: account.partnerId,
    })
    return recordAfter<ListedAccount>(context, cardAccount, cardAccountId, decided)
  })
  printNoun(changed, json)
}
