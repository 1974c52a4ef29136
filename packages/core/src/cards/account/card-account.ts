import { newId } from '@svc/contract/id-kinds'
import { type RandomBytes } from '@svc/kernel/ids'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import type { Tx, Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  flag,
  instant,
  json,
  type NewRowOf,
  nullable,
  paise as paiseColumn,
  type RowOf,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { type Account, account, accountId, openAccounts } from '../../ledger/accounts.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { partnerSettingsColumn, type RecordSettings } from './record-settings.ts'

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

/** Accounts of companies that cards are funded from. Not to be confused with ledger accounts. */
export const cardAccounts = table('card_accounts', 'a', ['partnerId', 'cardAccountId'], {
  cardAccountId: text,
  partnerId: text,
  companyId: text,
  /** Which record searches of its cards return (decision S1). */
  product: textOf<CardProduct>(),
  accountType: textOf<AccountType>(),
  binType: text,
  programme: text,
  /** Load of a card whose request names none (decision C6), whole rupees in paise. */
  denominationPaise: paiseColumn,
  /** The partner is notified when a load brings the balance below it. */
  lowBalancePaise: nullable(paiseColumn),
  /** Whether money of its cards may be taken back to it; never of gift cards (decision C26). */
  unallocateFundAllowed: flag,
  /** What the records of its cards say (decision C27). */
  recordSettings: json<RecordSettings>(),
  createdAt: instant,
})
export type CardAccount = RowOf<typeof cardAccounts> & {
  /** Legal name of the company. */
  readonly companyName: string
  /** What the partner sets for all its card accounts. */
  readonly partnerSettings: RecordSettings
}

export const CARD_ACCOUNT_SELECT = `select ${cardAccounts.columns}, co.name as "companyName", ${partnerSettingsColumn('a.partner_id')}
  from card_accounts a join companies co on co.company_id = a.company_id and co.partner_id = a.partner_id`

const FIND = statement<CardAccount>(
  'card_account_find',
  `${CARD_ACCOUNT_SELECT} where a.card_account_id = $1`,
)

export interface NewCardAccount
  extends Omit<
    NewRowOf<typeof cardAccounts>,
    | 'cardAccountId'
    | 'denominationPaise'
    | 'lowBalancePaise'
    | 'unallocateFundAllowed'
    | 'recordSettings'
    | 'createdAt'
  > {
  readonly denominationPaise: bigint
}

/** Puts an empty card account under a new partner, in its transaction. Everybody else runs `createCardAccount`. */
export function insertCardAccount(tx: Writes, random: RandomBytes, plan: NewCardAccount): string {
  const cardAccountId = newId('acc', Date.now(), random)
  const denominationPaise = paise(plan.denominationPaise)
  const opened = {
    ...plan,
    cardAccountId,
    denominationPaise,
    lowBalancePaise: null,
    unallocateFundAllowed: false,
    recordSettings: {},
    createdAt: new Date(),
  }
  cardAccounts.insert(tx, [opened])
  openAccounts(tx, [account('card_funding', plan.partnerId, cardAccountId)])
  return cardAccountId
}

export const findCardAccount = async (tx: Tx, cardAccountId: string): Promise<CardAccount | undefined> =>
  (await tx.query(FIND, [cardAccountId]))[0]

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
  { transferId, createdAt }: Pick<Transfer, 'transferId' | 'createdAt'>,
  amountPaise: Paise,
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

/** The movement that pays back to the partner what is left on the account. */
export const withdrawalTransfer = (
  funded: Funded,
  made: Pick<Transfer, 'transferId' | 'createdAt'>,
  amountPaise: Paise,
): Transfer => {
  const { debitAccountId, creditAccountId, ...rest } = fundingTransfer(funded, made, amountPaise)
  return {
    ...rest,
    kind: 'card_withdrawal',
    debitAccountId: creditAccountId,
    creditAccountId: debitAccountId,
  }
}

/** What the audit says of a funding, or a withdrawal. */
export const fundingAudit = (
  { cardAccountId, partnerId }: Funded,
  amountPaise: bigint,
  given?: Readonly<Record<'reference' | 'reason', string>>,
  action: 'card_account.funded' | 'card_account.withdrawn' = 'card_account.funded',
) => ({
  action,
  target: cardAccountId,
  tenantId: partnerId,
  details: { amount: formatRupees(amountPaise), ...given },
})
