import { fail } from '@svc/contract/errors'
import type { BankCredit } from '@svc/core/cards/account/bank-credit'
import { findCardAccount } from '@svc/core/cards/account/card-account'
import { FundingInstructions } from '@svc/core/cards/account/virtual-account'
import { bankCredit } from '@svc/server/cards/bank-credits'
import { fundingInstructions } from '@svc/server/cards/funding-instructions'
import { query } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { CONSOLE_API, consoleOperation, idParam } from '../console-schema.ts'

const TAG = 'Card accounts'

export const showFundingInstructions = query({
  ...consoleOperation,
  id: 'console.showFundingInstructions',
  method: 'GET',
  path: `${CONSOLE_API}/card-accounts/:cardAccountId/funding-instructions`,
  tag: TAG,
  summary: 'Show where the partner transfers money for a card account',
  permission: 'view',
  params: idParam('cardAccountId'),
  result: FundingInstructions,
  errors: ['card_account_not_found', 'funding_not_set_up', 'outcome_unknown'],
  mount(services) {
    const instructions = fundingInstructions(services)
    return async ({ params: { cardAccountId } }) => {
      const account = await services.database.operate((tx) => findCardAccount(tx, cardAccountId))
      const { partnerId } = account ?? fail('card_account_not_found')
      return { body: JSON.stringify(await instructions(partnerId, cardAccountId)) }
    }
  },
})

export const listBankCredits = listOf<BankCredit>(bankCredit, {
  ...consoleOperation,
  id: 'console.listBankCredits',
  path: `${CONSOLE_API}/bank-credits`,
  tag: TAG,
  summary: 'List bank transfers to card accounts',
  permission: 'view',
})
