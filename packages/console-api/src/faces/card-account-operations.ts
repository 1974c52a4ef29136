import { fail } from '@svc/contract/errors'
import { findCardAccount } from '@svc/core/cards/account/card-account'
import { findCompany } from '@svc/core/cards/card/list-onboarded'
import { accountId } from '@svc/core/ledger/accounts'
import {
  cardAccount,
  createCardAccountContract,
  type ListedAccount,
  updateCardAccountContract,
} from '@svc/server/cards/card-accounts'
import { countRows, Filters } from '@svc/server/http/list'
import { query, type Services } from '@svc/server/http/operation'
import { fieldsOf, findRow, listOf, recordOf, toRecord } from '@svc/server/http/resource'
import { CONSOLE_API, consoleOperation, idParam, record, Total, text } from '../console-schema.ts'
import { onBehalf } from '../on-behalf.ts'

const ACCOUNTS = `${CONSOLE_API}/card-accounts`
export const CardAccountRecord = recordOf(cardAccount, 'operator')
export const cardAccountToWire = toRecord<ListedAccount>(cardAccount, 'operator')

export const listCardAccountsInConsole = listOf<ListedAccount>(cardAccount, {
  ...consoleOperation,
  id: 'console.listCardAccounts',
  path: ACCOUNTS,
  tag: 'Card accounts',
  summary: 'List card accounts',
  permission: 'view',
})

export const showCardAccount = query({
  ...consoleOperation,
  id: 'console.showCardAccount',
  method: 'GET',
  path: `${ACCOUNTS}/:cardAccountId`,
  tag: 'Card accounts',
  summary: 'Show card account',
  permission: 'view',
  params: idParam('cardAccountId'),
  result: record('CardAccountDetail', {
    ...fieldsOf(cardAccount, 'operator'),
    ledgerAccountId: text('Ledger account of its money'),
    cards: Total,
  }),
  errors: ['card_account_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { cardAccountId } }) => {
      const detail = await database.operate(async (tx) => {
        const account =
          (await findRow<ListedAccount>(tx, cardAccount, { reader: 'operator' }, cardAccountId)) ??
          fail('card_account_not_found')
        const filters = new Filters()
          .add('c.partner_id = ?', account.partnerId)
          .add('c.company_id = ?', account.companyId)
          .add('c.card_account_id = ?', cardAccountId)
        return {
          ...cardAccountToWire(account, timeZone),
          ledgerAccountId: accountId('card_funding', cardAccountId),
          cards: await countRows(tx, { table: 'cards c', filters }),
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})

export const createCardAccountInConsole = onBehalf(createCardAccountContract, {
  id: 'console.createCardAccount',
  path: ACCOUNTS,
  permission: 'operations',
  tenantOf: async ({ body: { companyId } }, { database }: Services) =>
    ((await database.operate((tx) => findCompany(tx, companyId))) ?? fail('company_not_found')).partnerId,
  target: ({ cardAccountId }) => cardAccountId,
})

export const updateCardAccountInConsole = onBehalf(updateCardAccountContract, {
  id: 'console.updateCardAccount',
  path: `${ACCOUNTS}/:cardAccountId`,
  permission: 'operations',
  tenantOf: async ({ params: { cardAccountId } }, { database }: Services) =>
    ((await database.operate((tx) => findCardAccount(tx, cardAccountId))) ?? fail('card_account_not_found'))
      .partnerId,
  target: ({ cardAccountId }) => cardAccountId,
})
