import { fail } from '@svc/contract/errors'
import { findVirtualAccount, openVirtualAccount } from '@svc/core/cards/account/open-virtual-account'
import {
  beneficiaryOf,
  FundingInstructions,
  instructionsToWire,
} from '@svc/core/cards/account/virtual-account'
import { query, type Services, succeedWithCode } from '../http/operation.ts'
import { ACCOUNTS, AccountParams, ofAccounts } from './card-accounts.ts'

/** The instructions of a partner’s card account; its number is drawn when they are read first (decision R15). */
export function fundingInstructions({ commands, config, database }: Services) {
  const { run } = commands.open(openVirtualAccount)
  return async (partnerId: string, cardAccountId: string) => {
    const beneficiary = beneficiaryOf(config) ?? fail('funding_not_set_up')
    const known = await database.read([partnerId], (tx) => findVirtualAccount(tx, partnerId, cardAccountId))
    const account = known ?? (await run({ partnerId, cardAccountId })).opened
    return instructionsToWire(account, beneficiary)
  }
}

/** Not in the specification. */
export const getFundingInstructions = query({
  ...ofAccounts('cards:read'),
  id: 'getFundingInstructions',
  method: 'GET',
  path: `${ACCOUNTS}/:cardAccountId/funding-instructions`,
  summary: 'Get funding instructions of card account',
  description:
    'Where to transfer money for the card account. Its virtual account number names it alone and never changes. A transfer is on the account once the bank has notified it: event `card_account.funded`.',
  params: AccountParams,
  result: FundingInstructions,
  errors: ['card_account_not_found', 'funding_not_set_up', 'outcome_unknown'],
  mount(services) {
    const instructions = fundingInstructions(services)
    return async ({ caller: { tenantId }, params: { cardAccountId } }) => ({
      body: succeedWithCode(await instructions(tenantId, cardAccountId)),
    })
  },
})
