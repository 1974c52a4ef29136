import { fail } from '@svc/contract/errors'
import {
  ACCOUNT_TYPES,
  type AccountType,
  type CardAccount,
  type CardProduct,
  cardAccounts,
} from '@svc/core/cards/card-account'
import { createCardAccount } from '@svc/core/cards/create-card-account'
import { findCompany } from '@svc/core/cards/list-onboarded'
import { accountId } from '@svc/core/ledger/accounts'
import { PRODUCTS } from '@svc/core/tenants/partner'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  Name,
  oneOf,
  record,
  rupeesText,
  Total,
  text,
} from './console-schema.ts'
import { countRows, Filters, type PageRequest, readList } from './list.ts'
import { keyedQuery, onceOnBehalf } from './once.ts'

const ACCOUNTS = `${CONSOLE_API}/card-accounts`
const id = Type.String({ maxLength: 128 })

const accountFields = {
  cardAccountId: text(),
  partnerId: text(),
  companyId: text(),
  companyName: text(),
  product: Type.Enum([...PRODUCTS]),
  accountType: Type.Enum(Object.keys(ACCOUNT_TYPES)),
  binType: text(),
  programme: text(),
  denomination: rupeesText,
  balance: rupeesText,
  createdOn: instant,
}
export const CardAccountRecord = record('CardAccount', accountFields)

type ListedAccount = CardAccount & { readonly balancePaise: Paise }

const toWire = (account: ListedAccount, timeZone: string) => ({
  cardAccountId: account.cardAccountId,
  partnerId: account.partnerId,
  companyId: account.companyId,
  companyName: account.companyName,
  product: account.product,
  accountType: account.accountType,
  binType: account.binType,
  programme: account.programme,
  denomination: formatRupees(account.denominationPaise),
  balance: formatRupees(account.balancePaise),
  createdOn: rfc3339(account.createdAt, timeZone),
})

export const readCardAccounts = (
  tx: Tx,
  filters: Filters,
  pageRequest: PageRequest,
  timeZone: string,
  descending = true,
) =>
  readList(
    tx,
    {
      columns: `${cardAccounts.columns}, c.name as "companyName", l.balance as "balancePaise"`,
      table: 'card_accounts a',
      alias: 'a',
      joins: `join companies c on c.company_id = a.company_id
        join ledger_accounts l on l.account_id = 'card_funding:' || a.card_account_id`,
      filters,
      keys: [{ sql: 'a.card_account_id', type: 'text' }],
      descending,
    },
    pageRequest,
    (account: ListedAccount) => toWire(account, timeZone),
  )

async function findOne(tx: Tx, cardAccountId: string, timeZone: string) {
  const filters = new Filters().add('a.card_account_id = ?', cardAccountId)
  return (await readCardAccounts(tx, filters, {}, timeZone)).data[0] ?? fail('card_account_not_found')
}

export const listCardAccountsInConsole = query({
  ...consoleOperation,
  id: 'console.listCardAccounts',
  method: 'GET',
  path: ACCOUNTS,
  tag: 'Card accounts',
  summary: 'List card accounts',
  permission: 'view',
  query: listQuery(BY_TIME, {
    q: exact('Id'),
    partnerId: exact('Of this partner'),
    companyId: exact('Of this company'),
    product: oneOf(PRODUCTS, 'Of this product'),
  }),
  result: listOf(CardAccountRecord),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, partnerId, companyId, product, sort } = query
      const filters = new Filters()
        .add('a.card_account_id = ?', q)
        .add('a.partner_id = ?', partnerId)
        .add('a.company_id = ?', companyId)
        .add('a.product = ?', product)
      const page = await database.report((tx) =>
        readCardAccounts(tx, filters, query, timeZone, sort !== 'created'),
      )
      return { body: JSON.stringify(page) }
    }
  },
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
    ...accountFields,
    ledgerAccountId: text('Ledger account of its money'),
    cards: Total,
  }),
  errors: ['card_account_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { cardAccountId } }) => {
      const detail = await database.operate(async (tx) => {
        const account = await findOne(tx, cardAccountId, timeZone)
        const { partnerId, companyId } = account
        const filters = new Filters()
          .add('c.partner_id = ?', partnerId)
          .add('c.company_id = ?', companyId)
          .add('c.card_account_id = ?', cardAccountId)
        return {
          ...account,
          ledgerAccountId: accountId('card_funding', cardAccountId),
          cards: await countRows(tx, { table: 'cards c', filters }),
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})

export const createCardAccountInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.createCardAccount',
  method: 'POST',
  path: ACCOUNTS,
  tag: 'Card accounts',
  summary: 'Create card account, empty',
  permission: 'operations',
  body: closed({
    companyId: id,
    product: Type.Enum([...PRODUCTS]),
    accountType: Type.Enum(Object.keys(ACCOUNT_TYPES)),
    binType: Type.String({
      pattern: '^[A-Z][A-Z_]{0,39}$',
      'x-rule': 'must be capital letters and underscores, 40 at most',
    }),
    programme: Name,
    denomination: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Whole rupees' }),
  }),
  result: CardAccountRecord,
  errors: ['company_not_found', 'load_over_limit'],
  mount(services) {
    const { commands, config, database } = services
    const { respond } = commands.open(createCardAccount)
    return async (input) => {
      const { companyId, programme, binType, denomination } = input.body
      const company = await database.operate((tx) => findCompany(tx, companyId))
      const { partnerId } = company ?? fail('company_not_found')
      const plan = {
        partnerId,
        companyId,
        product: input.body.product as CardProduct,
        accountType: input.body.accountType as AccountType,
        binType,
        programme,
        denominationPaise: paise(BigInt(denomination) * 100n),
      }
      const { body } = await respond(plan, {
        reply: ({ cardAccountId }) => ({ status: 200, body: JSON.stringify({ cardAccountId }) }),
        ...onceOnBehalf(partnerId, { method: 'POST', path: ACCOUNTS }, input, {
          target: (made: { cardAccountId: string }) => made.cardAccountId,
        }),
      })
      const { cardAccountId } = JSON.parse(body) as { cardAccountId: string }
      const account = await database.operate((tx) => findOne(tx, cardAccountId, config.BUSINESS_TIME_ZONE))
      return { body: JSON.stringify(account) }
    }
  },
})
