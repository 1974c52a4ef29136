import { Type } from 'typebox'
import { findPartner, PRODUCTS } from '../access/partner.ts'
import {
  ACCOUNT_TYPES,
  type AccountType,
  type CardProduct,
  createCardAccount,
  FUNDING_MAX_PAISE,
  findCardAccount,
  fundingAccounts,
  fundingAudit,
  fundingTransfer,
} from '../cards/card-account.ts'
import { findCompany } from '../cards/list-onboarded.ts'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { formatRupees, parseRupees } from '../kernel/money.ts'
import { rfc3339 } from '../kernel/time.ts'
import { accountId, lockAccounts } from '../ledger/accounts.ts'
import { saveTransfers } from '../ledger/transfers.ts'
import type { CommandAudit } from '../platform/audit.ts'
import type { Command } from '../platform/db/batch.ts'
import type { Tx } from '../platform/db/database.ts'
import { command, query } from '../platform/http/operation.ts'
import { actorOf, asOperator } from './as-operator.ts'
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

interface AccountRow {
  card_account_id: string
  partner_id: string
  company_id: string
  company_name: string
  product: CardProduct
  account_type: AccountType
  bin_type: string
  programme: string
  denomination_paise: bigint
  balance: bigint
  created_at: Date
}

const toWire = (row: AccountRow, timeZone: string) => ({
  cardAccountId: row.card_account_id,
  partnerId: row.partner_id,
  companyId: row.company_id,
  companyName: row.company_name,
  product: row.product,
  accountType: row.account_type,
  binType: row.bin_type,
  programme: row.programme,
  denomination: formatRupees(row.denomination_paise),
  balance: formatRupees(row.balance),
  createdOn: rfc3339(row.created_at, timeZone),
})

export const readCardAccounts = (
  tx: Tx,
  filters: Filters,
  asked: PageRequest,
  timeZone: string,
  descending = true,
) =>
  readList(
    tx,
    {
      columns: `a.card_account_id, a.partner_id, a.company_id, c.name as company_name, a.product, a.account_type,
        a.bin_type, a.programme, a.denomination_paise, l.balance, a.created_at`,
      table: 'card_accounts a',
      alias: 'a',
      joins: `join companies c on c.company_id = a.company_id
        join ledger_accounts l on l.account_id = 'card_funding:' || a.card_account_id`,
      filters,
      keys: [{ sql: 'a.card_account_id', type: 'text' }],
      descending,
    },
    asked,
    (row: AccountRow) => toWire(row, timeZone),
  )

async function findOne(tx: Tx, cardAccountId: string, timeZone: string) {
  const filters = new Filters().add('a.card_account_id = ?', cardAccountId)
  return (await readCardAccounts(tx, filters, {}, timeZone)).data[0] ?? fail('card_account_not_found')
}

/** Money that is entered for a card account, as a command: a repeat with the same key enters nothing twice. */
interface Fund extends Command {
  readonly cardAccountId: string
  readonly partnerId: string
  readonly amountPaise: bigint
  readonly transferId: string
  readonly audit: CommandAudit
}

export const listCardAccountsInConsole = query({
  ...consoleOperation,
  id: 'listCardAccounts',
  method: 'GET',
  path: ACCOUNTS,
  tag: 'Card accounts',
  summary: 'List card accounts',
  role: 'viewer',
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
      const page = await database.operate((tx) =>
        readCardAccounts(tx, filters, query, timeZone, sort !== 'created'),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showCardAccount = query({
  ...consoleOperation,
  id: 'showCardAccount',
  method: 'GET',
  path: `${ACCOUNTS}/:cardAccountId`,
  tag: 'Card accounts',
  summary: 'Show card account',
  role: 'viewer',
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

export const createCardAccountInConsole = query({
  ...consoleOperation,
  id: 'createCardAccount',
  method: 'POST',
  path: ACCOUNTS,
  tag: 'Card accounts',
  summary: 'Create card account, empty',
  role: 'operator',
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
    const { config, random } = services
    return async (input) => {
      const { companyId, programme, binType, denomination } = input.body
      const product = input.body.product as CardProduct
      if (denomination > config.CARD_LOAD_MAX_RUPEES)
        fail('load_over_limit', {
          description: `denomination: must be at most ${config.CARD_LOAD_MAX_RUPEES}, the largest load of a card`,
        })
      const account = await asOperator(services, input, async (tx) => {
        const { partnerId } = (await findCompany(tx, companyId)) ?? fail('company_not_found')
        const { products } = (await findPartner(tx, partnerId))!
        if (!products.includes(product))
          fail('validation_failed', { description: `product: the partner uses ${products.join(' and ')}` })
        const id = await createCardAccount(tx, random, {
          partnerId,
          companyId,
          product,
          accountType: input.body.accountType as AccountType,
          binType,
          programme,
          denominationPaise: BigInt(denomination) * 100n,
        })
        return findOne(tx, id, config.BUSINESS_TIME_ZONE)
      })
      return { body: JSON.stringify(account) }
    }
  },
})

export const fundCardAccountInConsole = command({
  ...consoleOperation,
  id: 'fundCardAccount',
  method: 'POST',
  path: `${ACCOUNTS}/:cardAccountId/funds`,
  tag: 'Card accounts',
  summary: 'Enter money that the partner paid in',
  description: 'Send an `Idempotency-Key`: a repeat with it enters nothing twice.',
  role: 'operator',
  params: idParam('cardAccountId'),
  body: closed({
    amount: Type.String({
      pattern: '^[0-9]{1,13}(\\.[0-9]{1,2})?$',
      'x-rule': 'must be rupees with at most two decimals',
      description: 'Rupees as text, such as `250000.00`',
    }),
    reason: Type.Optional(Name),
  }),
  result: record('Funding', {
    cardAccountId: text(),
    transferId: text(),
    amount: rupeesText,
    balance: rupeesText,
  }),
  errors: ['card_account_not_found'],
  prepare(services) {
    const { clock, database, random } = services
    return async ({ body, caller, params: { cardAccountId }, requestId }): Promise<Fund> => {
      const amountPaise = parseRupees(body.amount)!
      if (amountPaise === 0n || amountPaise > FUNDING_MAX_PAISE)
        fail('validation_failed', {
          description: `amount: must be 0.01 to ${formatRupees(FUNDING_MAX_PAISE)} rupees`,
        })
      const account = await database.operate((tx) => findCardAccount(tx, cardAccountId))
      const { partnerId } = account ?? fail('card_account_not_found')
      const audit = fundingAudit({ cardAccountId, partnerId }, amountPaise)
      const details = { ...audit.details, ...(body.reason !== undefined && { reason: body.reason }) }
      return {
        tenantId: partnerId,
        partnerId,
        cardAccountId,
        amountPaise,
        transferId: newId('trf', clock.now(), random),
        audit: { ...audit, details, actor: actorOf(caller), requestId },
      }
    }
  },
  async lock(tx, funds): Promise<Map<string, bigint>> {
    return lockAccounts(tx, funds.flatMap(fundingAccounts))
  },
  decide: (balances, fund: Fund, now) => ({
    transfer: fundingTransfer(fund, { ...fund, createdAt: now }),
    balancePaise: balances.get(accountId('card_funding', fund.cardAccountId))! + fund.amountPaise,
  }),
  apply: (balances, { transfer, balancePaise }) => void balances.set(transfer.creditAccountId, balancePaise),
  save: (tx, decisions) =>
    saveTransfers(
      tx,
      decisions.map(({ transfer }) => transfer),
    ),
  answer: ({ transfer, balancePaise }) => ({
    status: 200,
    body: JSON.stringify({
      cardAccountId: transfer.objectId,
      transferId: transfer.transferId,
      amount: formatRupees(transfer.amountPaise),
      balance: formatRupees(balancePaise),
    }),
  }),
})
