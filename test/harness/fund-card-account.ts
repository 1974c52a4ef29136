import { newId } from '@svc/contract/id-kinds'
import {
  type CardAccount,
  fundingAccounts,
  fundingAudit,
  fundingTransfer,
} from '@svc/core/cards/account/card-account'
import { countAlone } from '@svc/core/ledger/approvals-of-batch'
import { journalOf, saveJournals } from '@svc/core/ledger/journals'
import type { RandomBytes } from '@svc/kernel/ids'
import type { Paise } from '@svc/kernel/money'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

const NOW = statement<{ now: Date }>('card_account_now', 'select clock_timestamp() as now')
const LOCK_FUNDING = statement(
  'card_account_lock_funding',
  'select from ledger_accounts where account_id = any ($1) order by account_id for no key update',
)

// In live mode money is moved by operators alone.
const FUNDER = statement(
  'card_account_funder',
  `insert into operators (operator_id, name, role, created_at)
   select $1, $2, 'finance', now() from approval_limit where administrators_by_two`,
)

const POSTING = { kind: 'card_funding', reference: '', facts: {}, reason: '' } as const

/** Enters money without a bank's reference, which the command `fundAccount` requires. */
export async function fundCardAccount(
  tx: Tx,
  { random, timeZone }: { readonly random: RandomBytes; readonly timeZone: string },
  funded: CardAccount,
  amountPaise: Paise,
): Promise<void> {
  await tx.query(LOCK_FUNDING, [fundingAccounts(funded).map((a) => a.accountId)])
  const [time] = await tx.query(NOW)
  const transferId = newId('trf', Date.now(), random)
  const transfer = fundingTransfer(funded, { transferId, createdAt: time!.now }, amountPaise)
  const journal = journalOf(transfer)
  const { partnerId: tenantId } = funded
  // A person of its own: what it enters takes nothing from the limit of others.
  const name = `harness.${transferId}`
  await tx.query(FUNDER, [newId('opr', Date.now(), random), name])
  countAlone(tx, [{ ...journal, ...POSTING, tenantId, amountPaise, person: `operator ${name}` }])
  saveJournals(tx, timeZone, [journal])
  recordAudit(tx, [fundingAudit(funded, amountPaise)])
}
