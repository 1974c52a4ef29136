import { required } from '@svc/kernel/invariant'
import type { OutboxEvent } from '@svc/platform/outbox'
import { accountId } from './accounts.ts'
import { referenceOf } from './bank-entries.ts'
import { type FundsEvent, fundedEvent } from './funded-event.ts'
import type { OwnedAccount } from './owned-accounts.ts'

/** By the kind of the journal that an operator reverses. */
const EVENTS: Readonly<Record<string, FundsEvent>> = {
  card_funding: 'card_account.funding_reversed',
  card_withdrawal: 'card_account.withdrawal_reversed',
}

interface Leg {
  readonly tenantId: string
  readonly transferId: string
  readonly objectId: string
  readonly creditAccountId: string
  readonly amount: bigint
}

interface Reversed {
  readonly journal: { readonly kind: string; readonly reference: string | null }
  readonly legs: readonly Leg[]
}

/** The card accounts that these journals funded or withdrew from. */
export const fundedBy = (found: readonly Reversed[]) =>
  found
    .filter(({ journal }) => EVENTS[journal.kind])
    .flatMap(({ legs }) =>
      legs.map(({ tenantId, objectId }) => ({ partnerId: tenantId, cardAccountId: objectId })),
    )

interface Funds {
  readonly owned: ReadonlyMap<string, OwnedAccount>
  /** Of ledger accounts, before the reversal. */
  readonly balances: ReadonlyMap<string, bigint>
}

/** The partner is notified of a reversal of what it paid in or was paid back (decision R16). */
export function reversalEvent(
  { journal: { kind, reference }, legs: [leg] }: Reversed,
  { balances, owned }: Funds,
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
