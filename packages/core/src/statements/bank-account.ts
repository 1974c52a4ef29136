import { fail } from '@svc/contract/errors'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { day, instant, paise, type RowOf, smallint, table, text, textOf } from '@svc/platform/db/table'
import type { AccountKind } from '../ledger/chart-of-accounts.ts'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'

/** What our accounts at banks are for, with the kind of ledger account that has the same money. */
export const PURPOSES = {
  merchant_escrow: 'bank',
  ppi_escrow: 'ppi_bank',
  own_funds: 'own_funds',
} as const satisfies Readonly<Record<string, AccountKind>>
export type Purpose = keyof typeof PURPOSES
export const PURPOSE_NAMES = Object.keys(PURPOSES) as readonly Purpose[]

/** A purpose has a second account for the day on which the first bank fails. */
const ACCOUNTS_A_PURPOSE = 2

/** Our accounts at banks (decision R14). */
export const bankAccounts = table('bank_accounts', 'b', ['tenantId', 'bankAccountId'], {
  tenantId: text,
  bankAccountId: text,
  purpose: textOf<Purpose>(),
  place: smallint,
  name: text,
  accountNumber: text,
  ifsc: text,
  /** What the bank has at the beginning of `openedOn`, the first day of which there are statements. */
  openingPaise: paise,
  openedOn: day,
  createdBy: text,
  createdAt: instant,
})
export type BankAccount = RowOf<typeof bankAccounts>

const LIST = statement<BankAccount>(
  'bank_accounts_list',
  `select ${bankAccounts.columns} from bank_accounts b order by b.purpose, b.place`,
)
// Two that are created at once have different places.
const LOCK = statement(
  'bank_accounts_lock',
  `select pg_advisory_xact_lock(hashtextextended('bank_accounts', 0))`,
)

export interface NewBankAccount {
  readonly bankAccountId: string
  readonly purpose: Purpose
  readonly name: string
  readonly accountNumber: string
  readonly ifsc: string
  readonly openingPaise: Paise
  readonly openedOn: string
  readonly createdBy: string
}

/** The accounts of a purpose, first one first. */
export const listBankAccounts = (tx: Tx): Promise<BankAccount[]> => tx.query(LIST)

/** Creates an account, in a transaction of the operator; the same again returns it. */
export async function createBankAccount(tx: Tx, requested: NewBankAccount): Promise<BankAccount> {
  await tx.query(LOCK)
  const all = await listBankAccounts(tx)
  const same = all.find(
    ({ accountNumber, ifsc }) => accountNumber === requested.accountNumber && ifsc === requested.ifsc,
  )
  if (same) return isSame(same, requested) ? same : fail('bank_account_exists')
  const place = all.filter(({ purpose }) => purpose === requested.purpose).length + 1
  if (place > ACCOUNTS_A_PURPOSE) fail('bank_accounts_of_purpose')
  const created = { ...requested, tenantId: PLATFORM_TENANT, place, createdAt: new Date() }
  bankAccounts.insert(tx, [created])
  return created
}

const isSame = (one: BankAccount, other: NewBankAccount): boolean =>
  one.purpose === other.purpose &&
  one.name === other.name &&
  one.openingPaise === other.openingPaise &&
  one.openedOn === other.openedOn

/** As operators see it: of its number, the last four digits. */
export const bankAccountToWire = (account: BankAccount) => ({
  bankAccountId: account.bankAccountId,
  purpose: account.purpose,
  name: account.name,
  accountEnds: account.accountNumber.slice(-4),
  ifsc: account.ifsc,
  openingBalance: formatRupees(account.openingPaise),
  from: account.openedOn,
})
