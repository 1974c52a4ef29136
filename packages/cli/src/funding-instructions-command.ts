import { findCardAccount } from '@svc/core/cards/account/card-account'
import { openVirtualAccount } from '@svc/core/cards/account/open-virtual-account'
import { beneficiaryOf, instructionsToWire } from '@svc/core/cards/account/virtual-account'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printRecord } from './print.ts'
import { UsageError } from './usage-error.ts'

export function addFundingInstructionsCommand(account: Command): void {
  account
    .command('instructions <cardAccountId>')
    .description('show where the partner transfers money for a card account')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin card-account instructions acc_…')
    .action(async (cardAccountId: string, { json = false }: { readonly json?: boolean }) => {
      const { modes, ...instructions } = await withInstallation(async ({ commands, config, database }) => {
        const beneficiary = beneficiaryOf(config)
        if (!beneficiary)
          throw new UsageError('Set FUNDING_IFSC: without it there are no funding instructions')
        const found = await database.operate((tx) => findCardAccount(tx, cardAccountId))
        if (!found)
          throw new UsageError(`There is no card account ${cardAccountId}. List: svc admin card-account list`)
        const { partnerId } = found
        const { opened } = await commands.open(openVirtualAccount).run({ partnerId, cardAccountId })
        return instructionsToWire(opened, beneficiary)
      })
      printRecord({ ...instructions, modes: modes.join(', ') }, json)
    })
}
