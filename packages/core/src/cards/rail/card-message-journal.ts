import type { Paise } from '@svc/kernel/money'
import { accountId } from '../../ledger/accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import type { LegKind } from '../../ledger/posting-rules.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import type { Effect } from '../card/card-effect.ts'
import type { MessageType, StoredMessage } from './card-message.ts'
import { MESSAGE_KINDS } from './card-message-kinds.ts'

/** Whether messages of a type can have a journal. */
export const movesMoney = (type: MessageType): boolean => MESSAGE_KINDS[type].journal !== undefined

/** The network's reference of a message, unique for its type. */
const referenceOf = ({ acquirerId, stan, transmissionAt }: StoredMessage): string =>
  `${acquirerId} ${stan} ${transmissionAt.toISOString()}`

/**
 * The journal of a message: what moves between the card and the network, and what moves between the network and the
 * account of exceptions. `undefined`: it moves nothing.
 */
export function messageJournal(
  message: StoredMessage,
  { debitPaise, creditPaise, exception }: Effect,
  transferIds: readonly string[],
): Journal | undefined {
  const { partnerId: tenantId, svcCardId, type, createdAt } = message
  const kind = MESSAGE_KINDS[type].journal
  if (svcCardId === null || kind === undefined) return undefined
  const card = accountId('card', svcCardId)
  const network = accountId('card_settlement', tenantId)
  const exceptions = accountId('card_exceptions', tenantId)
  const moves: readonly (readonly [
    kind: LegKind,
    debit: string,
    credit: string,
    amount: Paise | undefined,
  ])[] = [
    ['card_spend', card, network, debitPaise],
    ['card_refund', network, card, creditPaise],
    ['card_excess', exceptions, network, exception?.debitPaise],
    ['card_refund_excess', network, exceptions, exception?.creditPaise],
  ]
  const transfers: Transfer[] = []
  for (const [kind, debitAccountId, creditAccountId, amountPaise] of moves) {
    // A message debits or credits, never both: two ids are enough.
    const transferId = transferIds[transfers.length]
    if (!amountPaise || transferId === undefined) continue
    transfers.push({
      transferId,
      tenantId,
      kind,
      debitAccountId,
      creditAccountId,
      amountPaise,
      objectId: svcCardId,
      createdAt,
    })
  }
  if (transfers.length === 0) return undefined
  return {
    tenantId,
    journalId: `jrn_${message.messageId.slice(message.messageId.indexOf('_') + 1)}`,
    kind,
    reference: referenceOf(message),
    reverses: null,
    reason: null,
    at: createdAt,
    transfers,
  }
}
