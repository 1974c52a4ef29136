import { fail } from '@svc/contract/errors'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { ByTenant } from '@svc/kernel/by-tenant'
import { type Paise, paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import { columns, statement } from '@svc/platform/db/statement'
import { accountId, lockAccounts } from '../ledger/accounts.ts'
import { useApprovals } from '../ledger/approvals.ts'
import { journalOf, saveJournals } from '../ledger/journals.ts'
import type { Transfer } from '../ledger/transfers.ts'
import { fundingAccounts, fundingTransfer } from './card-account.ts'

export interface FundAccount {
  readonly partnerId: string
  readonly cardAccountId: string
  readonly amountPaise: Paise
  /** The bank's reference of the partner's payment: it is entered once, however it is written. */
  readonly reference: string
  readonly reason: string
  /** Of a second person, above the limit. */
  readonly approvalId?: string | undefined
}

/** How often one reference may be entered: again after each reversal. */
const ENTRIES_MAX = 9

/** A funding that was entered before. */
interface Funding {
  readonly tenantId: string
  readonly reference: string
  readonly transferId: string
  readonly cardAccountId: string
  readonly amountPaise: bigint
  readonly createdAt: Date
  readonly isReversed: boolean
}

// Entered again after a reversal, a reference has a number behind it: `AXIS0042~2`.
const ENTERED = statement<Funding>(
  'fundings_by_reference',
  `select j.tenant_id as "tenantId", w.reference, t.transfer_id as "transferId", t.object_id as "cardAccountId",
     t.amount as "amountPaise", t.created_at as "createdAt",
     exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id) as "isReversed"
   from (select distinct * from unnest($1::text[], $2::text[])) as w (tenant_id, reference)
   cross join generate_series(1, ${ENTRIES_MAX}) as entry
   join journals j on j.tenant_id = w.tenant_id and j.kind = 'card_funding'
     and j.reference = w.reference || case when entry = 1 then '' else '~' || entry end
   join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id`,
)

interface Entered {
  /** How often the reference was entered. */
  readonly times: number
  /** The entry that was not reversed. */
  readonly standing: Omit<Funding, 'tenantId' | 'reference' | 'isReversed'> | undefined
}

interface State {
  readonly balances: Map<string, bigint>
  /** By reference. */
  readonly entered: Map<string, Entered>
}

/** Each reference with all its entries. */
function enteredByReference(found: readonly Funding[]): ByTenant<Map<string, Entered>> {
  const entered = new ByTenant(() => new Map<string, Entered>())
  for (const funding of found) {
    const ofTenant = entered.of(funding.tenantId)
    const { times = 0, standing } = ofTenant.get(funding.reference) ?? {}
    ofTenant.set(funding.reference, { times: times + 1, standing: funding.isReversed ? standing : funding })
  }
  return entered
}

/** Enters money that the partner paid in for a card account. A repeat of its reference enters nothing (decision R2). */
export const fundAccount = command({
  name: 'fundAccount',

  prepare:
    ({ config, newId }) =>
    (ask: FundAccount) => ({
      ...ask,
      reference: canonicalReference(ask.reference),
      tenantId: ask.partnerId,
      transferId: newId('trf'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  async lock(tx, funds): Promise<ByTenant<State>> {
    // In this order: a transaction that holds the accounts sees what others have entered.
    const [balances, found] = await Promise.all([
      lockAccounts(tx, funds.flatMap(fundingAccounts)),
      tx.query(
        ENTERED,
        columns(
          funds,
          ({ tenantId }) => tenantId,
          ({ reference }) => reference,
        ),
      ),
    ])
    const entered = enteredByReference(found)
    return new ByTenant((tenantId) => ({ balances: balances.of(tenantId), entered: entered.of(tenantId) }))
  },

  decide({ balances, entered }, fund, now) {
    const { cardAccountId, amountPaise, reference, timeZone } = fund
    const { times = 0, standing: before } = entered.get(reference) ?? {}
    if (before && (before.cardAccountId !== cardAccountId || before.amountPaise !== amountPaise))
      fail('funding_reference_used')
    if (!before && times >= ENTRIES_MAX) fail('funding_reference_used')
    const transfer: Transfer = fundingTransfer(fund, before ?? { ...fund, createdAt: now }, amountPaise)
    const balance = balances.get(accountId('card_funding', cardAccountId))!
    const balancePaise = paise(before ? balance : balance + amountPaise)
    const isNew = before === undefined
    return { transfer, fund, times: isNew ? times + 1 : times, timeZone, balancePaise, isNew }
  },

  apply({ balances, entered }, { transfer, fund, times, balancePaise }) {
    balances.set(transfer.creditAccountId, balancePaise)
    const { transferId, objectId: cardAccountId, amountPaise, createdAt } = transfer
    entered.set(fund.reference, { times, standing: { transferId, cardAccountId, amountPaise, createdAt } })
  },

  save(tx, decisions) {
    const made = decisions
      .filter(({ isNew }) => isNew)
      .map(({ transfer, times, fund: { approvalId, reason, reference } }) => {
        const entry = times === 1 ? reference : `${reference}~${times}`
        return { approvalId, journal: { ...journalOf(transfer, entry), reason } }
      })
    useApprovals(
      tx,
      made.map(({ approvalId, journal }) => ({ ...journal, approvalId })),
    )
    saveJournals(
      tx,
      decisions[0]!.timeZone,
      made.map(({ journal }) => journal),
    )
  },
})
