import { fail } from '@svc/contract/errors'
import {
  type BankCredit,
  BankCreditRecord,
  bankCredits,
  creditRecordToWire,
} from '@svc/core/cards/bank-credit'
import { findCardAccount } from '@svc/core/cards/card-account'
import { FundingInstructions } from '@svc/core/cards/virtual-account'
import { fundingInstructions } from '@svc/server/cards/funding-instructions'
import { Filters, type ListPlan, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import {
  BY_TIME,
  CONSOLE_API,
  consoleOperation,
  exact,
  idParam,
  listOf,
  listQuery,
} from './console-schema.ts'

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

export const listBankCredits = query({
  ...consoleOperation,
  id: 'console.listBankCredits',
  method: 'GET',
  path: `${CONSOLE_API}/bank-credits`,
  tag: TAG,
  summary: 'List bank transfers to card accounts',
  permission: 'view',
  query: listQuery(BY_TIME, {
    q: exact('The bank’s reference', 64),
    cardAccountId: exact('To this card account'),
    partnerId: exact('Of this partner'),
  }),
  result: listOf(BankCreditRecord),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, cardAccountId, partnerId, sort } = query
      const plan: ListPlan = {
        columns: bankCredits.columns,
        table: 'bank_credits b',
        alias: 'b',
        filters: new Filters()
          .add('b.utr = ?', q)
          .add('b.card_account_id = ?', cardAccountId)
          .add('b.partner_id = ?', partnerId),
        keys: [{ sql: 'b.credit_id', type: 'text' }],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: BankCredit) => creditRecordToWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})
