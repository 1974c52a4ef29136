import { Alert, Text } from '@mantine/core'
import { type FormKey, newFormKey } from '../form-key.ts'
import { ConfirmAction } from './confirm-action.tsx'
import { notifyUndo } from './notify-undo.tsx'

const MOVES = {
  UL: {
    label: 'Unlock',
    confirm: 'Unlock card',
    danger: false,
    says: 'The card can be used again.',
    done: 'Unlocked.',
  },
  L: {
    label: 'Lock',
    confirm: 'Lock card',
    danger: false,
    says: 'The card cannot be used until it is unlocked. Its balance stays.',
    done: 'Locked.',
  },
  BL: {
    label: 'Block',
    confirm: 'Block for good',
    danger: true,
    says: 'Blocking is final: the card can never be unlocked or used again.',
    done: 'Blocked.',
  },
} as const

export type CardMove = keyof typeof MOVES

/** What takes a move back; nothing takes back a block. */
const OPPOSITE: Readonly<Partial<Record<CardMove, CardMove>>> = { L: 'UL', UL: 'L' }

interface CardMovesProps {
  readonly status: string
  readonly maskedNumber: string
  /** Statuses that the card may be given now. */
  readonly legal: readonly string[]
  /** The reason that the history has of a move that was taken back. */
  readonly undone: string
  readonly set: (status: CardMove, reason: string, key: FormKey) => Promise<unknown>
}

/** Locks, unlocks or blocks a card; a lock can be taken back at once. */
export function CardMoves({ status: now, maskedNumber, legal, undone, set }: CardMovesProps) {
  const move = async (status: CardMove, reason: string, key: FormKey) => {
    await set(status, reason, key)
    const back = OPPOSITE[status]
    if (back && reason !== undone)
      notifyUndo(MOVES[status].done, async () => {
        await move(back, undone, newFormKey())
        return MOVES[back].done
      })
  }
  // A physical card leaves `AP` by its activation, which is the holder's.
  const shown = (['UL', 'L', 'BL'] as const).filter(
    (status) => legal.includes(status) && !(status === 'UL' && now === 'AP'),
  )
  return (
    <>
      {shown.map((status) => {
        const { label, confirm, danger, says } = MOVES[status]
        return (
          <ConfirmAction
            key={status}
            label={label}
            confirm={confirm}
            danger={danger}
            withReason
            {...(danger && { typed: maskedNumber.slice(-4) })}
            run={(reason, key) => move(status, reason, key)}
          >
            {danger ? <Alert color="red">{says}</Alert> : says}
          </ConfirmAction>
        )
      })}
      {now === 'BL' && (
        <Text size="sm" c="dimmed">
          Blocked for good
        </Text>
      )}
    </>
  )
}
