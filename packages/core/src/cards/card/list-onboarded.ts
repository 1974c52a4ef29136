import type { Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { RowOf } from '@svc/platform/db/table'
import { accountIdOf } from '../../ledger/accounts.ts'
import { type Company, companies } from '../../tenants/company.ts'
import { cardAccounts } from '../account/card-account.ts'

const COMPANY = statement<Company>(
  'company_by_id',
  `select ${companies.columns} from companies co
   where co.company_id = $1`,
)

export const findCompany = async (tx: Tx, companyId: string): Promise<Company | undefined> =>
  (await tx.query(COMPANY, [companyId]))[0]

const USER_PARTNER = statement<{ partnerId: string }>(
  'user_partner',
  'select partner_id as "partnerId" from users where user_id = $1',
)

export const findUserPartner = async (tx: Tx, userId: string): Promise<string | undefined> =>
  (await tx.query(USER_PARTNER, [userId]))[0]?.partnerId

export type FundedAccount = Omit<RowOf<typeof cardAccounts>, 'createdAt'> & {
  /** What is left for cards. */
  readonly balancePaise: Paise
  readonly cards: number
}

const ACCOUNT = statement<FundedAccount>(
  'funded_account_by_id',
  `select ${cardAccounts.columns}, l.balance as "balancePaise",
     (select count(*)::int from cards c where c.partner_id = a.partner_id and c.company_id = a.company_id
       and c.card_account_id = a.card_account_id) as cards
   from card_accounts a cross join lateral ${accountIdOf('card_funding', 'a.card_account_id')}
     join ledger_accounts l on l.account_id = key.account_id
   where a.card_account_id = $1`,
)

export const findFundedAccount = async (tx: Tx, cardAccountId: string): Promise<FundedAccount | undefined> =>
  (await tx.query(ACCOUNT, [cardAccountId]))[0]
