import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { accountId, lockAccounts } from '../../ledger/accounts.ts'
import { BankEntries, nextEntry } from '../../ledger/bank-entries.ts'
import { enteredReference } from '../../ledger/entered-reference.ts'
import { journalOf, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { StoredPaise, storedArgs } from '../../ledger/stored-args.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { fundingAccounts, withdrawalTransfer } from './card-account.ts'
import { fundedEvent } from './funded-event.ts'
import { type OwnedAccount, ownedAccounts } from './owned-accounts.ts'

export interface WithdrawFunds {
  readonly partnerId: string
  readonly cardAccountId: string
  readonly amountPaise: Paise
  /** The bank's reference of the transfer to the partner: it is entered once, however it is written. */
  readonly reference: string
  readonly reason: string
}

interface Prepared extends WithdrawFunds, PreparedCommand {
  readonly transferId: string
  readonly eventId: string
  readonly timeZone: string
}

interface State {
  readonly accounts: Map<string, OwnedAccount>
  readonly balances: Map<string, bigint>
  readonly entered: BankEntries
}

interface Withdrawn {
  readonly transfer: Transfer
  readonly command: Prepared
  readonly companyId: string
  /** Under which reference it is in the books; absent when it was entered before. */
  readonly entry: string | undefined
  readonly balancePaise: Paise
}

/**
 * Enters that what was left on a card account was paid back to its partner, at most its balance (decision R16). A repeat
 * of its reference enters nothing (decision R2).
 */
export const withdrawFunds = moneyCommand({
  name: 'withdrawFunds',

  approval: {
    kinds: ['card_withdrawal'],
    args: storedArgs(
      Type.Object({
        partnerId: Type.String(),
        cardAccountId: Type.String(),
        amountPaise: StoredPaise,
        reference: Type.String(),
        reason: Type.String(),
      }),
    ),
    moves: ({ entry, transfer, command: { cardAccountId, amountPaise, reference, reason } }) =>
      entry === undefined
        ? undefined
        : {
            kind: 'card_withdrawal',
            amountPaise,
            reference,
            facts: { cardAccountId },
            reason,
            journalId: journalOf(transfer).journalId,
          },
    failures: ['card_account_not_found', 'withdrawal_reference_used', 'insufficient_funds'],
  },

  prepare:
    ({ config, newId }) =>
    (args: WithdrawFunds): Prepared => ({
      ...args,
      reference: enteredReference(args.reference),
      tenantId: args.partnerId,
      transferId: newId('trf'),
      eventId: newId('evt'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock,
  decide,

  apply({ balances, entered }, { transfer, command: withdrawal, entry, balancePaise }) {
    if (entry === undefined) return
    balances.set(transfer.debitAccountId, balancePaise)
    const { journalId } = journalOf(transfer)
    entered.add({ ...withdrawal, ...transfer, journalId, isReversed: false })
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
      decisions.flatMap(({ entry, transfer, command: withdrawal, companyId, balancePaise }) =>
        entry === undefined
          ? []
          : [fundedEvent('card_account.withdrawn', { ...withdrawal, ...transfer, companyId, balancePaise })],
      ),
    )
  },
})

/** How a withdrawal is found by its reference. */
export const entryOf = ({ partnerId, reference }: Pick<WithdrawFunds, 'partnerId' | 'reference'>) => ({
  tenantId: partnerId,
  kinds: ['card_withdrawal'],
  reference,
})

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  // In this order: a transaction that holds the ledger accounts sees what others have entered.
  const [balances, accounts, entered] = await Promise.all([
    lockAccounts(tx, commands.flatMap(fundingAccounts)),
    ownedAccounts(tx, commands),
    BankEntries.read(tx, commands.map(entryOf)),
  ])
  return new ByTenant((tenantId) => ({
    accounts: accounts.of(tenantId),
    balances: balances.of(tenantId),
    entered,
  }))
}

function decide({ accounts, balances, entered }: State, withdrawal: Prepared, now: Date): Withdrawn {
  const { partnerId, cardAccountId, amountPaise, reference } = withdrawal
  const { companyId } = accounts.get(cardAccountId) ?? fail('card_account_not_found')
  const balance = balances.get(accountId('card_funding', cardAccountId)) ?? 0n
  const earlier = entered.of(partnerId, reference)
  const { standing: before } = earlier
  if (before && (before.objectId !== cardAccountId || before.amountPaise !== amountPaise))
    fail('withdrawal_reference_used')
  const entry = before ? undefined : (nextEntry(reference, earlier) ?? fail('withdrawal_reference_used'))
  if (!before && amountPaise > balance)
    fail('insufficient_funds', { description: `The card account has ${formatRupees(balance)} rupees` })
  return {
    transfer: withdrawalTransfer(withdrawal, before ?? { ...withdrawal, createdAt: now }, amountPaise),
    command: withdrawal,
    companyId,
    entry,
    balancePaise: paise(before ? balance : balance - amountPaise),
  }
}
