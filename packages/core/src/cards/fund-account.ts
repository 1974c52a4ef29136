import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { type Paise, paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import { columns, statement } from '@svc/platform/db/statement'
import { accountId, lockAccounts } from '../ledger/accounts.ts'
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
}

/** A funding that was entered before. */
interface Funding {
  readonly tenantId: string
  readonly reference: string
  readonly transferId: string
  readonly cardAccountId: string
  readonly amountPaise: bigint
  readonly createdAt: Date
}

const ENTERED = statement<Funding>(
  'fundings_by_reference',
  `select j.tenant_id as "tenantId", j.reference, t.transfer_id as "transferId", t.object_id as "cardAccountId",
     t.amount as "amountPaise", t.created_at as "createdAt"
   from journals j join ledger_transfers t using (tenant_id, journal_id)
   where j.kind = 'card_funding'
     and (j.tenant_id, j.reference) in (select * from unnest($1::text[], $2::text[]))`,
)

interface State {
  readonly balances: Map<string, bigint>
  /** By reference. */
  readonly entered: Map<string, Pick<Funding, 'transferId' | 'cardAccountId' | 'amountPaise' | 'createdAt'>>
}

/** Enters money that the partner paid in for a card account. A repeat of its reference enters nothing (decision R2). */
export const fundAccount = command({
  name: 'fundAccount',

  prepare:
    ({ clock, config, random }) =>
    (ask: FundAccount) => ({
      ...ask,
      reference: canonicalReference(ask.reference),
      tenantId: ask.partnerId,
      transferId: newId('trf', clock.now(), random),
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
    const entered = byTenant(
      found,
      ({ tenantId }) => tenantId,
      ({ reference }) => reference,
      (funding) => funding,
    )
    return new ByTenant((tenantId) => ({ balances: balances.of(tenantId), entered: entered.of(tenantId) }))
  },

  decide({ balances, entered }, fund, now) {
    const { cardAccountId, amountPaise, reference, reason, timeZone } = fund
    const before = entered.get(reference)
    if (before && (before.cardAccountId !== cardAccountId || before.amountPaise !== amountPaise))
      fail('funding_reference_used')
    const transfer: Transfer = fundingTransfer(fund, before ?? { ...fund, createdAt: now }, amountPaise)
    const balance = balances.get(accountId('card_funding', cardAccountId))!
    const balancePaise = paise(before ? balance : balance + amountPaise)
    return { transfer, reference, reason, timeZone, balancePaise, isNew: before === undefined }
  },

  apply({ balances, entered }, { transfer, reference, balancePaise }) {
    balances.set(transfer.creditAccountId, balancePaise)
    const { transferId, objectId: cardAccountId, amountPaise, createdAt } = transfer
    entered.set(reference, { transferId, cardAccountId, amountPaise, createdAt })
  },

  save: (tx, decisions) =>
    saveJournals(
      tx,
      decisions[0]!.timeZone,
      decisions
        .filter(({ isNew }) => isNew)
        .map(({ transfer, reference, reason }) => ({ ...journalOf(transfer, reference), reason })),
    ),
})
