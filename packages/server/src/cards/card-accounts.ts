import { fail } from '@svc/contract/errors'
import {
  ACCOUNT_TYPES,
  type AccountType,
  type CardAccount,
  cardAccounts,
} from '@svc/core/cards/account/card-account'
import { createCardAccount } from '@svc/core/cards/account/create-card-account'
import {
  inheritedSettings,
  partnerSettingsColumn,
  RECORD_SETTINGS,
  settingsInForce,
} from '@svc/core/cards/account/record-settings'
import { updateCardAccount } from '@svc/core/cards/account/update-card-account'
import { accountId, accountIdOf } from '@svc/core/ledger/accounts'
import { balanceAsOf } from '@svc/core/ledger/balance-as-of'
import { PRODUCTS } from '@svc/core/tenants/partner'
import { type Paise, paise, paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { AsOfQuery, readAsOf } from '../http/as-of.ts'
import { Rupees, readRupees } from '../http/fields.ts'
import { commandContract, operation, query, succeedWithCode, tenantOperations } from '../http/operation.ts'
import { fieldsOf, findRow, idFilter, listOf, type Resource, recordOf, toRecord } from '../http/resource.ts'
import {
  InheritedSettings,
  ofEachSetting,
  SettingsGiven,
  SettingsShown,
  settingsIn,
} from './setting-fields.ts'

export const ACCOUNTS = '/api/v0/partner/card-accounts'
export const ofAccounts = tenantOperations({ tag: 'Card accounts', auth: 'partner', envelope: 'code' })
export const AccountParams = Type.Object({
  cardAccountId: Type.String({ description: 'One of your card accounts' }),
})

const Denomination = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Whole rupees' })
const Unallocate = Type.Boolean({
  description: 'Whether money of its cards may be taken back; never of gift cards',
})
const LowBalance = Type.Union([Rupees({ minimum: 0, maximum: 1e12 }), Type.Null()], {
  description: 'Rupees; `null` for no threshold',
})

/** A card account with the balance of its money. */
export type ListedAccount = CardAccount & { readonly balancePaise: bigint }

/** Card accounts, as every reader sees and finds them. */
export const cardAccount = {
  titles: { tenant: 'PartnerCardAccount', operator: 'CardAccount' },
  from: {
    columns: `${cardAccounts.columns}, co.name as "companyName", ${partnerSettingsColumn('a.partner_id')}, l.balance as "balancePaise"`,
    table: 'card_accounts a',
    alias: 'a',
    joins: `join companies co on co.partner_id = a.partner_id and co.company_id = a.company_id
      cross join lateral ${accountIdOf('card_funding', 'a.card_account_id')}
      join ledger_accounts l on l.account_id = key.account_id and l.tenant_id = a.partner_id`,
  },
  tenant: 'a.partner_id',
  keys: [{ sql: 'a.card_account_id', type: 'text' }],
  fields: {
    cardAccountId: { schema: Type.String(), of: (account) => account.cardAccountId },
    denomination: {
      schema: Type.Integer({ description: 'Rupees: the load of a card whose order names none' }),
      of: (account) => paiseToWire(account.denominationPaise),
    },
    lowBalance: {
      schema: Type.Optional(
        Type.Number({
          description: 'Rupees: a load that brings the balance below it sends the event `card_account.low`',
        }),
      ),
      of: ({ lowBalancePaise }) => (lowBalancePaise === null ? undefined : paiseToWire(lowBalancePaise)),
    },
    unallocateFundAllowed: { schema: Unallocate, of: (account) => account.unallocateFundAllowed },
    ...ofEachSetting((name) => ({
      schema: Type.Optional(RECORD_SETTINGS[name]),
      of: (account: ListedAccount) => settingsInForce(account)[name],
    })),
    inheritedSettings: { schema: InheritedSettings, of: inheritedSettings },
    partnerId: { schema: Type.String(), of: (account) => account.partnerId, operatorOnly: true },
    companyId: { schema: Type.String(), of: (account) => account.companyId },
    companyName: { schema: Type.String(), of: (account) => account.companyName },
    product: { schema: Type.Enum([...PRODUCTS]), of: (account) => account.product },
    accountType: { schema: Type.Enum(Object.keys(ACCOUNT_TYPES)), of: (account) => account.accountType },
    binType: { schema: Type.String(), of: (account) => account.binType, operatorOnly: true },
    cardProgramme: { schema: Type.String(), of: (account) => account.programme },
    balance: {
      schema: Type.Number({ description: 'Rupees that new cards can be loaded with' }),
      of: (account) => paiseToWire(account.balancePaise),
    },
    createdOn: {
      schema: Type.String({ description: 'RFC 3339' }),
      of: (account, timeZone) => rfc3339(account.createdAt, timeZone),
    },
  },
  filters: {
    q: {
      schema: idFilter('Id'),
      sql: 'a.card_account_id = ?',
      operatorOnly: true,
    },
    partnerId: {
      schema: idFilter('Of this partner'),
      sql: 'a.partner_id = ?',
      operatorOnly: true,
    },
    companyId: {
      schema: idFilter('Of this company'),
      sql: 'a.company_id = ?',
    },
    product: {
      schema: Type.Optional(Type.Enum([...PRODUCTS], { description: 'Of this product' })),
      sql: 'a.product = ?',
    },
  },
} satisfies Resource<ListedAccount>

export const AccountRecord = recordOf(cardAccount, 'tenant')
const toWire = toRecord<ListedAccount>(cardAccount, 'tenant')

const { cardAccountId, denomination, lowBalance, unallocateFundAllowed } = fieldsOf(cardAccount, 'tenant')
const AccountSettings = Type.Object(
  {
    cardAccountId: cardAccountId!,
    denomination: denomination!,
    lowBalance: lowBalance!,
    unallocateFundAllowed: unallocateFundAllowed!,
    ...SettingsShown,
    inheritedSettings: InheritedSettings,
  },
  { title: 'CardAccountSettings', additionalProperties: false },
)

/** Not in the specification. */
export const listCardAccounts = listOf<ListedAccount>(cardAccount, {
  ...ofAccounts('cards:read'),
  id: 'listCardAccounts',
  path: ACCOUNTS,
  summary: 'List card accounts',
  description: 'Newest first; pass `next` back as `after` for the next page.',
})

/** Not in the specification. */
export const getCardAccount = query({
  ...ofAccounts('cards:read'),
  id: 'getCardAccount',
  method: 'GET',
  path: `${ACCOUNTS}/:cardAccountId`,
  summary: 'Get card account',
  description: 'With `asOf` its balance is that of then; its settings are the present ones.',
  params: AccountParams,
  query: AsOfQuery,
  result: AccountRecord,
  errors: ['card_account_not_found'],
  mount({ clock, database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, params: { cardAccountId }, query }) => {
      const at = readAsOf(query, clock, tenantId)
      const account = await database.read([tenantId], async (tx) => {
        const scope = { reader: 'tenant', tenantId } as const
        const found =
          (await findRow<ListedAccount>(tx, cardAccount, scope, cardAccountId)) ??
          fail('card_account_not_found')
        if (!at) return found
        if (found.createdAt > at) fail('card_account_not_found')
        const funding = { tenantId, accountId: accountId('card_funding', cardAccountId), at }
        return { ...found, balancePaise: await balanceAsOf(tx, funding, clock) }
      })
      return { body: succeedWithCode(toWire(account, timeZone)) }
    }
  },
})

/** Not in the specification. */
export const createCardAccountContract = commandContract({
  ...ofAccounts('cards:write'),
  id: 'createCardAccount',
  method: 'POST',
  path: ACCOUNTS,
  summary: 'Create card account, empty',
  description:
    'An account of a company, from which its cards are loaded. Its funding instructions say where to transfer money for it.',
  body: Type.Object(
    {
      companyId: Type.String({ description: 'One of your companies' }),
      product: Type.Enum([...PRODUCTS], { description: 'One that you use' }),
      accountType: Type.Enum(Object.keys(ACCOUNT_TYPES) as AccountType[], {
        description: '`EMPLOYEE_REWARDS` for the product `employee_rewards`',
      }),
      binType: Type.String({
        pattern: '^[A-Z][A-Z_]{0,39}$',
        'x-rule': 'must be capital letters and underscores, 40 at most',
      }),
      cardProgramme: Type.String({ minLength: 1, maxLength: 100 }),
      denomination: Denomination,
      lowBalance: Type.Optional(LowBalance),
      unallocateFundAllowed: Type.Optional(Unallocate),
      ...SettingsGiven,
    },
    { additionalProperties: false },
  ),
  result: AccountRecord,
  errors: ['company_not_found', 'load_over_limit'],
  run: createCardAccount,
  args: ({ caller, body: { cardProgramme, denomination, lowBalance, ...rest } }) => ({
    companyId: rest.companyId,
    product: rest.product,
    accountType: rest.accountType,
    binType: rest.binType,
    unallocateFundAllowed: rest.unallocateFundAllowed,
    recordSettings: settingsIn(rest),
    partnerId: caller.tenantId,
    programme: cardProgramme,
    denominationPaise: paise(BigInt(denomination) * 100n),
    lowBalancePaise: readLow(lowBalance),
  }),
  reply: (account, { ok, timeZone }) => ok(toWire({ ...account, balancePaise: 0n }, timeZone)),
})
export const createCardAccountOperation = operation(createCardAccountContract)

/** Not in the specification. */
export const updateCardAccountContract = commandContract({
  ...ofAccounts('cards:write'),
  id: 'updateCardAccount',
  method: 'PATCH',
  path: `${ACCOUNTS}/:cardAccountId`,
  summary: 'Change card account',
  description:
    'Denomination, threshold, whether cards are unloaded, and what the records of its cards say. Fields that are absent stay as they are; `null` unsets one. What the account does not state of its cards’ records is that of `…/partner/record-settings`.',
  params: AccountParams,
  body: Type.Object(
    {
      denomination: Type.Optional(Denomination),
      lowBalance: Type.Optional(LowBalance),
      unallocateFundAllowed: Type.Optional(Unallocate),
      ...SettingsGiven,
    },
    { additionalProperties: false },
  ),
  result: AccountSettings,
  errors: ['card_account_not_found', 'load_over_limit'],
  run: updateCardAccount,
  args: ({ caller, params, body: { denomination, lowBalance, unallocateFundAllowed, ...settings } }) => ({
    unallocateFundAllowed,
    recordSettings: settingsIn(settings),
    partnerId: caller.tenantId,
    cardAccountId: params.cardAccountId,
    denominationPaise: denomination === undefined ? undefined : paise(BigInt(denomination) * 100n),
    lowBalancePaise: readLow(lowBalance),
  }),
  reply: (account, { ok }) => {
    const { cardAccountId, denominationPaise, lowBalancePaise, unallocateFundAllowed } = account
    return ok({
      cardAccountId,
      ...settingsInForce(account),
      inheritedSettings: inheritedSettings(account),
      unallocateFundAllowed,
      denomination: paiseToWire(denominationPaise),
      lowBalance: lowBalancePaise === null ? undefined : paiseToWire(lowBalancePaise),
    })
  },
})
export const updateCardAccountOperation = operation(updateCardAccountContract)

function readLow(lowBalance: number | null | undefined): Paise | null | undefined {
  if (lowBalance === undefined || lowBalance === null) return lowBalance
  return lowBalance === 0 ? paise(0n) : readRupees('lowBalance', lowBalance)
}
