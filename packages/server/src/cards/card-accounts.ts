import { fail } from '@svc/contract/errors'
import {
  ACCOUNT_TYPES,
  type AccountType,
  CARD_ACCOUNT_SELECT,
  type CardAccount,
} from '@svc/core/cards/card-account'
import { createCardAccount } from '@svc/core/cards/create-card-account'
import { updateCardAccount } from '@svc/core/cards/update-card-account'
import { accountId, accountIdOf } from '@svc/core/ledger/accounts'
import { balanceAsOf } from '@svc/core/ledger/balance-as-of'
import { PRODUCTS } from '@svc/core/tenants/partner'
import { type Paise, paise, paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { AsOfQuery, readAsOf } from '../http/as-of.ts'
import { Rupees, readRupees } from '../http/fields.ts'
import { okWithCode, operation, query, succeedWithCode } from '../http/operation.ts'
import { PAGE_IN_QUERY, PageOf, page, readPage } from '../http/page.ts'

export const ACCOUNTS = '/api/v0/partner/card-accounts'
export const ACCOUNTS_TAG = 'Card accounts'
export const AccountParams = Type.Object({
  cardAccountId: Type.String({ description: 'One of your card accounts' }),
})

const settings = {
  denomination: Type.Integer({ description: 'Rupees: the load of a card whose order names none' }),
  lowBalance: Type.Optional(
    Type.Number({
      description: 'Rupees: a load that brings the balance below it sends the event `card_account.low`',
    }),
  ),
}

const Denomination = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Whole rupees' })
const LowBalance = Type.Union([Rupees({ minimum: 0, maximum: 1e12 }), Type.Null()], {
  description: 'Rupees; `null` for no threshold',
})

const AccountSettings = Type.Object(
  { cardAccountId: Type.String(), ...settings },
  { title: 'CardAccountSettings', additionalProperties: false },
)

export const AccountRecord = Type.Object(
  {
    cardAccountId: Type.String(),
    companyId: Type.String(),
    companyName: Type.String(),
    product: Type.Enum([...PRODUCTS]),
    accountType: Type.Enum(Object.keys(ACCOUNT_TYPES)),
    cardProgramme: Type.String(),
    ...settings,
    balance: Type.Number({ description: 'Rupees that new cards can be loaded with' }),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'PartnerCardAccount', additionalProperties: false },
)

const settingsToWire = (account: Omit<CardAccount, 'companyName'>) => ({
  cardAccountId: account.cardAccountId,
  denomination: paiseToWire(account.denominationPaise),
  lowBalance: account.lowBalancePaise === null ? undefined : paiseToWire(account.lowBalancePaise),
})

type Listed = CardAccount & { readonly balancePaise: bigint }

const SELECT = `${CARD_ACCOUNT_SELECT.replace(' from ', ', l.balance as "balancePaise" from ').trimEnd()}
  cross join lateral ${accountIdOf('card_funding', 'a.card_account_id')}
  join ledger_accounts l on l.account_id = key.account_id and l.tenant_id = a.partner_id`
const LIST = statement<Listed>(
  'partner_card_accounts',
  `${SELECT} where a.partner_id = $1 and ($2::text is null or a.company_id = $2)
     and ($3::timestamptz is null or (a.created_at, a.card_account_id) < ($3, $4::text))
   order by a.created_at desc, a.card_account_id desc limit $5`,
)
const FIND = statement<Listed>(
  'partner_card_account',
  `${SELECT} where a.partner_id = $1 and a.card_account_id = $2`,
)

const toWire = (account: Listed, timeZone: string) => ({
  ...settingsToWire(account),
  companyId: account.companyId,
  companyName: account.companyName,
  product: account.product,
  accountType: account.accountType,
  cardProgramme: account.programme,
  balance: paiseToWire(account.balancePaise),
  createdOn: rfc3339(account.createdAt, timeZone),
})

/** A partner’s own card account. */
export async function findAccount(tx: Tx, partnerId: string, cardAccountId: string): Promise<Listed> {
  const [account] = await tx.query(FIND, [partnerId, cardAccountId])
  return account ?? fail('card_account_not_found')
}

/** Not in the specification. */
export const listCardAccounts = query({
  id: 'listCardAccounts',
  method: 'GET',
  path: ACCOUNTS,
  tag: ACCOUNTS_TAG,
  summary: 'List card accounts',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  auth: 'partner',
  scope: 'cards:read',
  envelope: 'code',
  query: Type.Object(
    {
      ...PAGE_IN_QUERY,
      companyId: Type.Optional(Type.String({ description: 'Of this company' })),
    },
    { additionalProperties: false },
  ),
  result: PageOf(AccountRecord),
  errors: [],
  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, query }) => {
      const { limit, after } = readPage(query)
      const rows = await database.read([tenantId], (tx) =>
        tx.query(LIST, [tenantId, query.companyId ?? null, after?.at, after?.id, limit + 1]),
      )
      const positionOf = (account: Listed) => ({ at: account.createdAt, id: account.cardAccountId })
      return { body: succeedWithCode(page(rows, limit, positionOf, (account) => toWire(account, timeZone))) }
    }
  },
})

/** Not in the specification. */
export const getCardAccount = query({
  id: 'getCardAccount',
  method: 'GET',
  path: `${ACCOUNTS}/:cardAccountId`,
  tag: ACCOUNTS_TAG,
  summary: 'Get card account',
  auth: 'partner',
  scope: 'cards:read',
  envelope: 'code',
  description: 'With `asOf` its balance is that of then; its settings are the present ones.',
  params: AccountParams,
  query: AsOfQuery,
  result: AccountRecord,
  errors: ['card_account_not_found'],
  mount({ clock, database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, params: { cardAccountId }, query }) => {
      const at = readAsOf(query, clock, tenantId)
      const account = await database.read([tenantId], async (tx) => {
        const found = await findAccount(tx, tenantId, cardAccountId)
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
export const createCardAccountOperation = operation({
  id: 'createCardAccount',
  method: 'POST',
  path: ACCOUNTS,
  tag: ACCOUNTS_TAG,
  summary: 'Create card account, empty',
  description:
    'An account of a company, from which its cards are loaded. Its funding instructions say where to transfer money for it.',
  auth: 'partner',
  scope: 'cards:write',
  envelope: 'code',
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
    },
    { additionalProperties: false },
  ),
  result: AccountRecord,
  errors: ['company_not_found', 'load_over_limit'],
  run: createCardAccount,
  args: ({ caller, body: { cardProgramme, denomination, lowBalance, ...rest } }) => ({
    ...rest,
    partnerId: caller.tenantId,
    programme: cardProgramme,
    denominationPaise: paise(BigInt(denomination) * 100n),
    lowBalancePaise: readLow(lowBalance),
  }),
  reply: (account, { timeZone }) => okWithCode(toWire({ ...account, balancePaise: paise(0n) }, timeZone)),
})

/** Not in the specification. */
export const updateCardAccountOperation = operation({
  id: 'updateCardAccount',
  method: 'PATCH',
  path: `${ACCOUNTS}/:cardAccountId`,
  tag: ACCOUNTS_TAG,
  summary: 'Set denomination and low balance',
  auth: 'partner',
  scope: 'cards:write',
  envelope: 'code',
  params: AccountParams,
  body: Type.Object(
    {
      denomination: Type.Optional(Denomination),
      lowBalance: Type.Optional(LowBalance),
    },
    { additionalProperties: false },
  ),
  result: AccountSettings,
  errors: ['card_account_not_found', 'load_over_limit'],
  run: updateCardAccount,
  args: ({ caller, params, body: { denomination, lowBalance } }) => ({
    partnerId: caller.tenantId,
    cardAccountId: params.cardAccountId,
    denominationPaise: denomination === undefined ? undefined : paise(BigInt(denomination) * 100n),
    lowBalancePaise: readLow(lowBalance),
  }),
  reply: (account) => okWithCode(settingsToWire(account)),
})

function readLow(lowBalance: number | null | undefined): Paise | null | undefined {
  if (lowBalance === undefined || lowBalance === null) return lowBalance
  return lowBalance === 0 ? paise(0n) : readRupees('lowBalance', lowBalance)
}
