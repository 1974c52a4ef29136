import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import type { AccountType, CardProduct } from './card-account.ts'
import { toUser, USER_COLUMNS, type User, type UserRow } from './user.ts'

interface CompanyRow {
  company_id: string
  partner_id: string
  name: string
  created_at: Date
}

const COMPANIES = statement<CompanyRow>(
  'companies_list',
  `select company_id, partner_id, name, created_at from companies
   where ($1::text is null or partner_id = $1) and ($2::text is null or company_id = $2) order by company_id`,
)

const toCompany = (row: CompanyRow) => ({
  companyId: row.company_id,
  partnerId: row.partner_id,
  name: row.name,
  createdAt: row.created_at,
})
type Company = ReturnType<typeof toCompany>

/** Companies of a partner, or of all. */
export const listCompanies = async (tx: Tx, partnerId?: string): Promise<Company[]> =>
  (await tx.query(COMPANIES, [partnerId, null])).map(toCompany)

export async function findCompany(tx: Tx, companyId: string): Promise<Company | undefined> {
  const [row] = await tx.query(COMPANIES, [null, companyId])
  return row && toCompany(row)
}

const USERS = statement<UserRow>(
  'users_of_company',
  `select ${USER_COLUMNS} from users u where u.company_id = $1 order by u.user_id`,
)

export const listUsers = async (tx: Tx, companyId: string): Promise<User[]> =>
  (await tx.query(USERS, [companyId])).map(toUser)

interface AccountRow {
  card_account_id: string
  partner_id: string
  company_id: string
  product: CardProduct
  account_type: AccountType
  bin_type: string
  programme: string
  denomination_paise: bigint
  balance: bigint
  cards: bigint
}

const ACCOUNTS = statement<AccountRow>(
  'card_accounts_list',
  `select a.card_account_id, a.partner_id, a.company_id, a.product, a.account_type, a.bin_type, a.programme,
     a.denomination_paise, l.balance,
     (select count(*) from cards c where c.partner_id = a.partner_id and c.company_id = a.company_id
       and c.card_account_id = a.card_account_id) as cards
   from card_accounts a join ledger_accounts l on l.account_id = 'card_funding:' || a.card_account_id
   where ($1::text is null or a.company_id = $1) and ($2::text is null or a.card_account_id = $2)
   order by a.card_account_id`,
)

const toFunded = (row: AccountRow) => ({
  cardAccountId: row.card_account_id,
  partnerId: row.partner_id,
  companyId: row.company_id,
  product: row.product,
  accountType: row.account_type,
  binType: row.bin_type,
  programme: row.programme,
  denominationPaise: row.denomination_paise,
  /** What is left for cards. */
  balancePaise: row.balance,
  cards: Number(row.cards),
})
export type FundedAccount = ReturnType<typeof toFunded>

/** Card accounts of a company, or of all, with what they have left. */
export const listCardAccounts = async (tx: Tx, companyId?: string): Promise<FundedAccount[]> =>
  (await tx.query(ACCOUNTS, [companyId, null])).map(toFunded)

export async function findFundedAccount(tx: Tx, cardAccountId: string): Promise<FundedAccount | undefined> {
  const [row] = await tx.query(ACCOUNTS, [null, cardAccountId])
  return row && toFunded(row)
}
