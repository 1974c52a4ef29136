import { required } from '@svc/kernel/invariant'
import type { OutboxEvent } from '@svc/platform/outbox'
import { accountId } from '../../ledger/accounts.ts'
import { referenceOf } from '../../ledger/bank-entries.ts'
import { type JournalWithLegs, reversing } from '../../ledger/reverse-journal.ts'
import { type FundsEvent, fundedEvent } from './funded-event.ts'
import { type OwnedAccount, ownedAccounts } from './owned-accounts.ts'

/** By the kind of the journal that an operator reverses. */
const EVENTS: Readonly<Record<string, FundsEvent>> = {
  card_funding: 'card_account.funding_reversed',
  card_withdrawal: 'card_account.withdrawal_reversed',
}

/** The card accounts that these journals funded or withdrew from. */
const fundedBy = (found: readonly JournalWithLegs[]) =>
  found
    .filter(({ journal }) => EVENTS[journal.kind])
    .flatMap(({ legs }) =>
      legs.map(({ tenantId, objectId }) => ({ partnerId: tenantId, cardAccountId: objectId })),
    )

/** An operator takes back a posting; the partner is notified of what it paid in or was paid back (decision R16). */
export const reverseJournal = reversing<Map<string, OwnedAccount>>({
  facts: (tx, found) => ownedAccounts(tx, fundedBy(found)),
  eventOf: reversalEvent,
})

function reversalEvent(
  { journal: { kind, reference }, legs: [leg] }: JournalWithLegs,
  owned: ReadonlyMap<string, OwnedAccount>,
  balances: ReadonlyMap<string, bigint>,
  made: { readonly eventId: string; readonly createdAt: Date; readonly timeZone: string },
): OutboxEvent | undefined {
  const type = EVENTS[kind]
  if (!type || !leg) return undefined
  const { transferId, amount, objectId, creditAccountId } = leg
  const funds = accountId('card_funding', objectId)
  return fundedEvent(type, {
    ...required(owned.get(objectId), 'a funding is of a card account'),
    ...made,
    transferId,
    amountPaise: amount,
    balancePaise: (balances.get(funds) ?? 0n) + (creditAccountId === funds ? -amount : amount),
    reference: referenceOf(reference ?? ''),
  })
}
