import { type ByTenant, byTenant } from '@svc/kernel/by-tenant'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'

/** A card account with what fundings and withdrawals need to know of its owner. */
export interface OwnedAccount {
  readonly partnerId: string
  readonly cardAccountId: string
  readonly companyId: string
  /** Since when the partner is closed: transfers to it go to quarantine, until an operator enters them (decision A14). */
  readonly closedAt: Date | null
}

const OWNED = statement<OwnedAccount>(
  'card_accounts_owned',
  `select a.partner_id as "partnerId", a.card_account_id as "cardAccountId", a.company_id as "companyId",
     t.closed_at as "closedAt"
   from card_accounts a join tenants t on t.tenant_id = a.partner_id
   where (a.partner_id, a.card_account_id) in (select * from unnest($1::text[], $2::text[]))`,
)

type Key = Pick<OwnedAccount, 'partnerId' | 'cardAccountId'>

/** To be read once the ledger accounts are locked: the closing of a tenant locks them too. */
export const ownedAccounts = async (
  tx: Tx,
  keys: readonly Key[],
): Promise<ByTenant<Map<string, OwnedAccount>>> =>
  byTenant(
    await tx.query(
      OWNED,
      columns(
        keys,
        ({ partnerId }) => partnerId,
        ({ cardAccountId }) => cardAccountId,
      ),
    ),
    ({ partnerId }) => partnerId,
    ({ cardAccountId }) => cardAccountId,
    (account) => account,
  )
