import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { type Paise, paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { accountId, lockAccounts } from '../../ledger/accounts.ts'
import { BankEntries, type BankEntry, nextEntry } from '../../ledger/bank-entries.ts'
import { enteredReference } from '../../ledger/entered-reference.ts'
import { journalOf, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { StoredPaise, storedArgs } from '../../ledger/stored-args.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { type Assignment, assignNotices, StoredAssignment } from '../../rails/rail-notice.ts'
import { lockWaiting, requireWaiting, type WaitingNotices } from '../../rails/waiting-notices.ts'
import { fundingAccounts, fundingTransfer } from './card-account.ts'
import { fundedEvent } from './funded-event.ts'
import { type OwnedAccount, ownedAccounts } from './owned-accounts.ts'

export interface FundAccount {
  readonly partnerId: string
  readonly cardAccountId: string
  readonly amountPaise: Paise
  /** The bank's reference of the partner's payment: it is entered once, however it is written. */
  readonly reference: string
  readonly reason: string
  /** The notice in quarantine that an operator follows. */
  readonly assigns?: Omit<Assignment, 'paymentId' | 'cardAccountId'> | undefined
}

interface Prepared extends FundAccount, PreparedCommand {
  readonly transferId: string
  readonly eventId: string
  readonly timeZone: string
}

interface State {
  readonly accounts: Map<string, OwnedAccount>
  readonly balances: Map<string, bigint>
  readonly entered: BankEntries
  readonly waiting: WaitingNotices
}

interface Funded {
  readonly transfer: Transfer
  readonly command: Prepared
  readonly companyId: string
  /** Under which reference it is in the books; absent when it was entered before. */
  readonly entry: string | undefined
  readonly balancePaise: Paise
  readonly at: Date
}

/**
 * Enters money that the partner paid in for a card account. A repeat of its reference enters nothing (decision R2); a
 * reference under which money of another partner came in is refused (R15).
 */
export const fundAccount = moneyCommand({
  name: 'fundAccount',

  approval: {
    kinds: ['card_funding'],
    args: storedArgs(
      Type.Object({
        partnerId: Type.String(),
        cardAccountId: Type.String(),
        amountPaise: StoredPaise,
        reference: Type.String(),
        reason: Type.String(),
        assigns: Type.Optional(StoredAssignment),
      }),
    ),
    moves: ({ entry, transfer, command: { assigns, cardAccountId, amountPaise, reference, reason } }) =>
      entry === undefined
        ? undefined
        : {
            kind: 'card_funding',
            amountPaise,
            reference,
            facts: { cardAccountId, ...(assigns && { noticeId: assigns.noticeId }) },
            reason,
            journalId: journalOf(transfer).journalId,
          },
    failures: ['card_account_not_found', 'funding_reference_used', 'notice_not_in_quarantine'],
  },

  prepare:
    ({ config, newId }) =>
    (args: FundAccount): Prepared => ({
      ...args,
      reference: enteredReference(args.reference),
      tenantId: args.partnerId,
      otherTenantId: args.assigns?.noticeTenantId,
      transferId: newId('trf'),
      eventId: newId('evt'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock,
  decide,

  apply({ balances, entered, waiting }, { transfer, command: fund, entry, balancePaise }) {
    if (fund.assigns) waiting.delete(fund.assigns.noticeId)
    if (entry === undefined) return
    balances.set(transfer.creditAccountId, balancePaise)
    const { journalId } = journalOf(transfer)
    entered.add({ ...fund, ...transfer, journalId, isReversed: false })
  },

  save(tx, decisions) {
    saveJournals(
      tx,
      decisions[0]!.command.timeZone,
      decisions.flatMap(({ entry, transfer, command: { reason } }) =>
        entry === undefined ? [] : [{ ...journalOf(transfer, entry), reason }],
      ),
    )
    saveEvents(
      tx,
      decisions.flatMap(({ entry, transfer, command: fund, companyId, balancePaise }) =>
        entry === undefined
          ? []
          : [fundedEvent('card_account.funded', { ...fund, ...transfer, companyId, balancePaise })],
      ),
    )
    assignNotices(
      tx,
      decisions.flatMap(({ command: { assigns, cardAccountId } }) =>
        assigns ? [{ ...assigns, paymentId: null, cardAccountId }] : [],
      ),
      decisions[0]!.at,
    )
  },
})

async function lock(tx: BatchTx, funds: readonly Prepared[]): Promise<ByTenant<State>> {
  // In this order: a transaction that holds the ledger accounts sees what others have entered.
  const [balances, accounts, entered, waiting] = await Promise.all([
    lockAccounts(tx, funds.flatMap(fundingAccounts)),
    ownedAccounts(tx, funds),
    BankEntries.readIncoming(
      tx,
      funds.map(({ reference }) => reference),
    ),
    lockWaiting(
      tx,
      funds.map(({ assigns }) => assigns),
    ),
  ])
  return new ByTenant((tenantId) => ({
    accounts: accounts.of(tenantId),
    balances: balances.of(tenantId),
    entered,
    waiting,
  }))
}

function decide({ accounts, balances, entered, waiting }: State, fund: Prepared, now: Date): Funded {
  requireWaiting(waiting, fund.assigns)
  const { partnerId, cardAccountId, amountPaise, reference } = fund
  const { companyId } = accounts.get(cardAccountId) ?? fail('card_account_not_found')
  const earlier = entered.of(partnerId, reference)
  const { standing: before } = earlier
  // An account of another partner is another one.
  const isOther = (funding: BankEntry) =>
    funding.objectId !== cardAccountId || funding.amountPaise !== amountPaise
  if (entered.everywhere(reference).some(isOther)) fail('funding_reference_used')
  const entry = before ? undefined : (nextEntry(reference, earlier) ?? fail('funding_reference_used'))
  const transfer = fundingTransfer(fund, before ?? { ...fund, createdAt: now }, amountPaise)
  const balance = balances.get(accountId('card_funding', cardAccountId))!
  const balancePaise = paise(before ? balance : balance + amountPaise)
  return { transfer, command: fund, companyId, entry, balancePaise, at: now }
}
