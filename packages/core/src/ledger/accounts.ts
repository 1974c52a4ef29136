import { type ByTenant, byTenant, lastOfEach } from '@svc/kernel/by-tenant'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import {
  bigint,
  instant,
  type NewRowOf,
  nullable,
  stamped,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { type AccountKind, kindOf, type Unit } from './chart-of-accounts.ts'

export const ledgerAccounts = table('ledger_accounts', 'a', ['tenantId', 'accountId'], {
  accountId: text,
  tenantId: text,
  kind: textOf<AccountKind>(),
  unit: textOf<Unit>(),
  /** Least balance in the unit's smallest part; `null` for none. */
  floor: nullable(bigint),
  balance: bigint,
  createdAt: stamped(instant),
})
/** An account as its transfers name it. */
export type Account = Omit<NewRowOf<typeof ledgerAccounts>, 'balance'>

type AccountKey = Pick<Account, 'tenantId' | 'accountId'>

/** An account is named by what it is for and by whose it is: a tenant, a card account, a card. */
export const accountId = (kind: AccountKind, ownerId: string): string => `${kind}:${ownerId}`

/**
 * The same in SQL, as `key.account_id`. Behind row-level security no index serves a condition in which a function may leak
 * what a column holds, and before PostgreSQL 18 `||` is one: all accounts of a tenant were read for one card.
 */
export const accountIdOf = (kind: AccountKind, ownerId: string): string =>
  `(select '${kind}:' || ${ownerId} as account_id offset 0) key`

export const account = (kind: AccountKind, tenantId: string, ownerId = tenantId): Account => ({
  accountId: accountId(kind, ownerId),
  tenantId,
  kind,
  unit: kindOf(kind).unit,
  floor: kindOf(kind).isBounded ? 0n : null,
})

/** Opens accounts, empty. */
export function openAccounts(tx: Writes, accounts: readonly Account[]): void {
  ledgerAccounts.insert(
    tx,
    accounts.map((account) => ({ ...account, balance: 0n })),
  )
}

const LOCK = ledgerAccounts.lock('lock')

/**
 * Locks accounts in order of id and returns the balance of each that exists, by tenant and account. To be called after
 * codes and cards are locked.
 */
export async function lockAccounts(
  tx: BatchTx,
  accounts: readonly Account[],
): Promise<ByTenant<Map<string, bigint>>> {
  const tenantOf = (a: AccountKey) => a.tenantId
  const idOf = (a: AccountKey) => a.accountId
  const wanted = lastOfEach<AccountKey>(accounts, tenantOf, idOf)
  const rows = wanted.length === 0 ? [] : await tx.lock(LOCK, ledgerAccounts.keys(wanted), wanted.length)
  return byTenant(rows, tenantOf, idOf, ({ balance }) => balance)
}
