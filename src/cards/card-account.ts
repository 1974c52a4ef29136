import { newId, type RandomBytes } from '../kernel/ids.ts'
import { formatRupees, type Paise } from '../kernel/money.ts'
import { type Account, account, accountId, openAccounts } from '../ledger/accounts.ts'
import { saveTransfers, type Transfer } from '../ledger/transfers.ts'
import { recordAudit } from '../platform/audit.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'

export const ACCOUNT_TYPES = {
  RELOADABLE_GPR: { label: 'Reloadable', description: 'General-purpose reloadable card' },
  GIFT: { label: 'Gift', description: 'Gift card, loaded once' },
  MEAL: { label: 'Meal', description: 'Meal card' },
  FUEL: { label: 'Fuel', description: 'Fuel card' },
  VIRTUAL_ACCOUNT: { label: 'Virtual Account', description: 'Virtual account' },
  EMPLOYEE_REWARDS: { label: 'Employee Rewards', description: 'Rewards of employees' },
} as const
export type AccountType = keyof typeof ACCOUNT_TYPES
export type CardProduct = 'incentive' | 'employee_rewards'

/** A company's account that its cards are funded from. Not to be confused with a ledger account. */
export interface CardAccount {
  readonly cardAccountId: string
  readonly partnerId: string
  readonly companyId: string
  /** Legal name of the company. */
  readonly companyName: string
  /** Which record its cards' searches answer (decision S1). */
  readonly product: CardProduct
  readonly accountType: AccountType
  readonly binType: string
  readonly programme: string
  /** Load of a card whose request does not say (decision C6), whole rupees in paise. */
  readonly denominationPaise: bigint
  readonly createdAt: Date
}

export interface CardAccountRow {
  card_account_id: string
  partner_id: string
  company_id: string
  company_name: string
  product: CardProduct
  account_type: AccountType
  bin_type: string
  programme: string
  denomination_paise: bigint
  created_at: Date
}

export const CARD_ACCOUNT_SELECT = `select a.card_account_id, a.partner_id, a.company_id, co.name as company_name,
  a.product, a.account_type, a.bin_type, a.programme, a.denomination_paise, a.created_at
  from card_accounts a join companies co on co.company_id = a.company_id and co.partner_id = a.partner_id`

export const toCardAccount = (row: CardAccountRow): CardAccount => ({
  cardAccountId: row.card_account_id,
  partnerId: row.partner_id,
  companyId: row.company_id,
  companyName: row.company_name,
  product: row.product,
  accountType: row.account_type,
  binType: row.bin_type,
  programme: row.programme,
  denominationPaise: row.denomination_paise,
  createdAt: row.created_at,
})

const INSERT_COMPANY = statement(
  'company_insert',
  'insert into companies (company_id, partner_id, name, created_at) values ($1, $2, $3, clock_timestamp())',
)
const INSERT = statement(
  'card_account_insert',
  `insert into card_accounts (card_account_id, partner_id, company_id, product, account_type, bin_type, programme,
     denomination_paise, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())`,
)
const FIND = statement<CardAccountRow>(
  'card_account_find',
  `${CARD_ACCOUNT_SELECT} where a.card_account_id = $1`,
)
const NOW = statement<{ now: Date }>('card_account_now', 'select clock_timestamp() as now')
const LOCK_FUNDING = statement(
  'card_account_lock_funding',
  'select from ledger_accounts where account_id = any ($1) order by account_id for no key update',
)

/** Registers a company under a partner; answers its id. */
export async function createCompany(
  tx: Tx,
  random: RandomBytes,
  partnerId: string,
  name: string,
): Promise<string> {
  const companyId = newId('com', Date.now(), random)
  await tx.query(INSERT_COMPANY, [companyId, partnerId, name])
  return companyId
}

export type NewCardAccount = Pick<
  CardAccount,
  'partnerId' | 'companyId' | 'product' | 'accountType' | 'binType' | 'programme' | 'denominationPaise'
>

/** Opens a card account with its funding account in the ledger, empty; answers its id. */
export async function createCardAccount(tx: Tx, random: RandomBytes, plan: NewCardAccount): Promise<string> {
  const cardAccountId = newId('acc', Date.now(), random)
  const { partnerId, companyId, product, accountType, binType, programme, denominationPaise } = plan
  await tx.query(INSERT, [
    cardAccountId,
    partnerId,
    companyId,
    product,
    accountType,
    binType,
    programme,
    denominationPaise,
  ])
  openAccounts(tx, [account('card_funding', partnerId, cardAccountId)])
  return cardAccountId
}

export async function findCardAccount(tx: Tx, cardAccountId: string): Promise<CardAccount | undefined> {
  const [row] = await tx.query(FIND, [cardAccountId])
  return row && toCardAccount(row)
}

/** Below it, sums of money stay exact wherever they are added up. */
export const FUNDING_MAX_PAISE = 1_000_000_000_000_00n

type Funded = Pick<CardAccount, 'cardAccountId' | 'partnerId'>

/** The two sides of a funding, to be locked before. */
export const fundingAccounts = ({ cardAccountId, partnerId }: Funded): Account[] => [
  account('card_funding', partnerId, cardAccountId),
  account('funding_clearing', partnerId),
]

/** The movement that enters what the partner paid in. */
export const fundingTransfer = (
  { cardAccountId, partnerId }: Funded,
  { transferId, amountPaise, createdAt }: Pick<Transfer, 'transferId' | 'amountPaise' | 'createdAt'>,
): Transfer => ({
  transferId,
  tenantId: partnerId,
  kind: 'card_funding',
  debitAccountId: accountId('funding_clearing', partnerId),
  creditAccountId: accountId('card_funding', cardAccountId),
  amountPaise,
  objectId: cardAccountId,
  createdAt,
})

/** What the audit says of a funding. */
export const fundingAudit = ({ cardAccountId, partnerId }: Funded, amountPaise: bigint) => ({
  action: 'card_account.funded',
  target: cardAccountId,
  tenantId: partnerId,
  details: { amount: formatRupees(amountPaise) },
})

/** Money that the partner paid in, for the cards of this account. */
export async function fundCardAccount(
  tx: Tx,
  random: RandomBytes,
  funded: CardAccount,
  amountPaise: Paise,
): Promise<void> {
  await tx.query(LOCK_FUNDING, [fundingAccounts(funded).map((a) => a.accountId)])
  const [time] = await tx.query(NOW)
  const transferId = newId('trf', Date.now(), random)
  saveTransfers(tx, [fundingTransfer(funded, { transferId, amountPaise, createdAt: time!.now })])
  recordAudit(tx, [fundingAudit(funded, amountPaise)])
}
