import { Type } from 'typebox'
import { PRODUCTS } from '../access/partner.ts'
import { ACCOUNT_TYPES } from '../cards/card-account.ts'
import { query } from '../platform/http/operation.ts'
import {
  BY_TIME,
  BY_TIME_OR_NAME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  Name,
  oneOf,
  record,
  rupeesText,
  Total,
  text,
} from './console-schema.ts'
import { later } from './later.ts'

const COMPANIES = `${CONSOLE_API}/companies`
const ACCOUNTS = `${CONSOLE_API}/card-accounts`
const USERS = `${CONSOLE_API}/users`
const id = Type.String({ maxLength: 128 })

const companyFields = {
  companyId: text(),
  partnerId: text(),
  partnerName: text(),
  name: text(),
  createdOn: instant,
}
const CompanyRecord = record('Company', companyFields)
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
const CardAccountRecord = record('CardAccount', accountFields)
const UserRecord = record('User', {
  userId: text(),
  partnerId: text(),
  companyId: text(),
  companyName: text(),
  title: maybe(),
  firstName: maybe(),
  middleName: maybe(),
  lastName: maybe(),
  email: maybe(),
  mobile: maybe(),
  createdOn: instant,
})

export const listCompaniesInConsole = query({
  ...consoleOperation,
  id: 'listCompanies',
  method: 'GET',
  path: COMPANIES,
  tag: 'Companies',
  summary: 'List companies',
  role: 'viewer',
  query: listQuery(BY_TIME_OR_NAME, {
    q: exact('Id, or begin of the name', 100),
    partnerId: exact('Of this partner'),
  }),
  result: listOf(CompanyRecord),
  errors: [],
  mount: later,
})

export const showCompany = query({
  ...consoleOperation,
  id: 'showCompany',
  method: 'GET',
  path: `${COMPANIES}/:companyId`,
  tag: 'Companies',
  summary: 'Show company, with its card accounts',
  role: 'viewer',
  params: idParam('companyId'),
  result: record('CompanyDetail', {
    ...companyFields,
    cardAccounts: Type.Array(CardAccountRecord),
    users: Total,
  }),
  errors: ['company_not_found'],
  mount: later,
})

export const createCompanyInConsole = query({
  ...consoleOperation,
  id: 'createCompany',
  method: 'POST',
  path: COMPANIES,
  tag: 'Companies',
  summary: 'Create company',
  role: 'operator',
  body: closed({ partnerId: id, name: Name }),
  result: CompanyRecord,
  errors: ['partner_not_found'],
  mount: later,
})

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
  mount: later,
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
  mount: later,
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
  mount: later,
})

export const fundCardAccountInConsole = query({
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
  result: CardAccountRecord,
  errors: ['card_account_not_found'],
  mount: later,
})

export const listUsersInConsole = query({
  ...consoleOperation,
  id: 'listUsers',
  method: 'GET',
  path: USERS,
  tag: 'Users',
  summary: 'List users',
  role: 'viewer',
  query: listQuery(BY_TIME, {
    q: exact('Id, whole mobile number, or begin of the e-mail address', 254),
    partnerId: exact('Of this partner'),
    companyId: exact('Of this company'),
  }),
  result: listOf(UserRecord),
  errors: [],
  mount: later,
})

export const showUser = query({
  ...consoleOperation,
  id: 'showUser',
  method: 'GET',
  path: `${USERS}/:userId`,
  tag: 'Users',
  summary: 'Show user',
  role: 'viewer',
  params: idParam('userId'),
  result: UserRecord,
  errors: ['user_not_found'],
  mount: later,
})

const part = Type.Optional(Name)

export const createUserInConsole = query({
  ...consoleOperation,
  id: 'createUser',
  method: 'POST',
  path: USERS,
  tag: 'Users',
  summary: 'Create user of a company',
  role: 'operator',
  body: closed({
    companyId: id,
    firstName: part,
    lastName: part,
    mobile: Type.Optional(Type.String({ pattern: '^[0-9]{10}$', 'x-rule': 'must be exactly 10 digits' })),
    email: Type.Optional(
      Type.String({
        maxLength: 254,
        pattern: '^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$',
        'x-rule': 'must be an e-mail address',
      }),
    ),
  }),
  result: UserRecord,
  errors: ['company_not_found', 'already_exists'],
  mount: later,
})
