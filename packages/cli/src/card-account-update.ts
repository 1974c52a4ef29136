import { findCardAccount } from '@svc/core/cards/card-account'
import { cardAccount, type ListedAccount, updateCardAccountContract } from '@svc/server/cards/card-accounts'
import { bodyCheck } from '@svc/server/http/validator'
import type { Command } from 'commander'
import { cliActor, withInstallation } from './context.ts'
import { printNoun, recordAfter } from './noun-commands.ts'
import { UsageError } from './usage-error.ts'

type Body = Parameters<typeof updateCardAccountContract.args>[0]['body']

interface UpdateOptions {
  readonly json?: boolean
  readonly set: readonly string[]
}

const SETTABLE = Object.keys(updateCardAccountContract.body!.properties)

export function addCardAccountUpdate(account: Command): void {
  account
    .command('update <cardAccountId>')
    .description('change what its partner may set on a card account, and what the records of its cards say')
    .requiredOption(
      '--set <field=value>',
      `a field, again for more; an empty value unsets it: ${SETTABLE.join(', ')}`,
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin card-account update acc_… --set unallocateFundAllowed=true --set svcSupportEmail=help@acme.example',
    )
    .action(update)
}

/** Fields as the API accepts them: numbers and flags where the text is one and the field is no text. */
function bodyOf(assignments: readonly string[]): Body {
  const check = bodyCheck(updateCardAccountContract.body!)
  const body: Record<string, unknown> = {}
  for (const assignment of assignments) {
    const [, name, text] = /^([A-Za-z]+)=(.*)$/s.exec(assignment) ?? []
    if (name === undefined || text === undefined || !SETTABLE.includes(name))
      throw new UsageError(`--set ${assignment}: must be a field and its value: ${SETTABLE.join(', ')}`)
    const values = [
      text === '' ? null : text,
      ...(/^[0-9.]+$/.test(text) ? [Number(text)] : []),
      ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
    ]
    const fitting = values.findIndex((value) => !check({ [name]: value }))
    body[name] = values[Math.max(0, fitting)]
  }
  const invalid = check(body)
  if (invalid) throw new UsageError(invalid.description)
  return body as Body
}

async function update(cardAccountId: string, { set, json = false }: UpdateOptions): Promise<void> {
  const body = bodyOf(set)
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
