import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Card, looksLikeCardId } from './card.ts'
import type { HistoryField } from './card-changes.ts'
import type { CardView } from './card-record.ts'
import type { CardStatus, KycStatus } from './card-states.ts'
import { type CardAt, readCardViewsAsOf } from './card-view.ts'

interface Change {
  readonly field: HistoryField
  readonly fromValue: string
  readonly toValue: string
  readonly reason: string
  readonly createdAt: Date
}

const CHANGES = statement<Change>(
  'card_changes_as_of',
  `select h.field, h.from_value as "fromValue", h.to_value as "toValue", h.reason, h.created_at as "createdAt"
   from card_changes h where h.partner_id = $1 and h.svc_card_id = $2 order by h.created_at, h.change_id`,
)

const REPLACED = statement<{ at: Date }>(
  'card_replaced_at',
  'select c.created_at as at from cards c where c.partner_id = $1 and c.replaces = $2',
)

/** A partner’s card as it was at the end of an instant; `undefined` before its creation, and for those of others. */
export async function readCardAsOf(tx: Tx, wanted: CardAt, timeZone: string): Promise<CardView | undefined> {
  if (!looksLikeCardId(wanted.svcCardId)) return undefined
  const [view] = await readCardViewsAsOf(tx, [wanted], timeZone)
  if (!view || view.card.createdAt > wanted.at) return undefined
  const key = [wanted.partnerId, wanted.svcCardId]
  const changes = await tx.query(CHANGES, key)
  const [replaced] = await tx.query(REPLACED, key)
  return { ...view, card: cardAsOf(view.card, changes, replaced?.at, wanted.at) }
}

/** Undoes what changed after the instant; the holder and the expiry of a card never change. */
function cardAsOf(card: Card, changes: readonly Change[], replacedAt: Date | undefined, at: Date): Card {
  const before = changes.filter(({ createdAt }) => createdAt <= at)
  const after = changes.slice(before.length)
  const was = after.reduceRight<Card>((later, change) => undo(later, change), card)
  // The replacement of a card that was blocked already leaves its remark, and no change.
  const isReplaced = replacedAt !== undefined && replacedAt <= at
  const modified = [
    card.createdAt,
    ...before.map(({ createdAt }) => createdAt),
    ...(isReplaced ? [replacedAt] : []),
  ]
  return {
    ...was,
    replacedBy: isReplaced ? card.replacedBy : null,
    blockCode: was.status === 'BL' ? 'BL' : '',
    remarks: isReplaced ? card.remarks : (before.findLast(isStatusChange)?.reason ?? ''),
    modifiedAt: new Date(Math.max(...modified.map(Number))),
  }
}

/** Whether it left a remark: the activation of a physical card leaves none. */
const isStatusChange = ({ field, fromValue, toValue }: Change): boolean =>
  field === 'cardStatus' && !(fromValue === 'AP' && toValue === 'UL')

function undo(card: Card, { field, fromValue }: Change): Card {
  switch (field) {
    case 'cardStatus':
      return { ...card, status: fromValue as CardStatus }
    case 'kycStatus':
      return { ...card, kycStatus: fromValue as KycStatus }
    case 'cardActivated':
      return { ...card, activated: fromValue === 'true' }
    default:
      return { ...card, [field]: fromValue === 'true' }
  }
}
