import type { Outcome } from '@svc/kernel/outcome-words'
import type { ExceptionReason } from './card-exception.ts'
import type { MessageType } from './card-message.ts'

/** What a message of a type states, does and may leave for an operator (decision R1). */
export interface MessageKind {
  /** Whether it asks, and gets a decision; the others report what has happened. */
  readonly isDecided: boolean
  /** What it must state besides its identity and its card. */
  readonly needs: readonly ('advice' | 'amount' | 'channel')[]
  /** What it alone may state. */
  readonly reads: readonly ('partialApproval' | 'replacementAmount')[]
  /** What its status may say: that it happened, or of a question that it waits. */
  readonly happened: readonly Outcome[]
  /** What it does to the hold of its authorisation. */
  readonly hold: 'places or raises' | 'places or captures' | 'captures' | 'releases' | 'none'
  /** The kind of its journal, where it moves money. */
  readonly journal: 'card_advice' | 'card_capture' | 'card_return' | undefined
  /** The exceptions that it may be. */
  readonly excepts: readonly ExceptionReason[]
}

const CAPTURED = ['capture_after_void', 'over_authorization', 'over_balance'] as const

export const MESSAGE_KINDS: Readonly<Record<MessageType, MessageKind>> = {
  authorization: {
    isDecided: true,
    needs: ['amount', 'channel'],
    reads: ['partialApproval'],
    happened: ['success', 'not_yet'],
    hold: 'places or raises',
    journal: undefined,
    excepts: [],
  },
  capture: {
    isDecided: false,
    needs: ['amount'],
    reads: [],
    happened: ['success'],
    hold: 'captures',
    journal: 'card_capture',
    excepts: [...CAPTURED, 'unmatched_capture'],
  },
  void: {
    isDecided: false,
    needs: [],
    reads: ['replacementAmount'],
    happened: ['success', 'gone_back'],
    hold: 'releases',
    journal: undefined,
    excepts: ['void_after_capture'],
  },
  refund: {
    isDecided: false,
    needs: ['amount'],
    reads: [],
    happened: ['success', 'gone_back'],
    hold: 'none',
    journal: 'card_return',
    excepts: ['over_capture', 'unmatched_refund'],
  },
  advice: {
    isDecided: false,
    needs: ['advice', 'amount'],
    reads: [],
    happened: ['success', 'not_yet'],
    hold: 'places or captures',
    journal: 'card_advice',
    excepts: CAPTURED,
  },
  balance_inquiry: {
    isDecided: true,
    needs: [],
    reads: [],
    happened: ['success', 'not_yet'],
    hold: 'none',
    journal: undefined,
    excepts: [],
  },
}

/** The table of messages in Markdown, for the generated reference. */
export function messageTable(): string {
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')
  const rows = Object.entries(MESSAGE_KINDS).map(
    ([type, { isDecided, needs, reads, hold, excepts }]) =>
      `| \`${type}\` | ${isDecided ? 'decided' : 'recorded'} | ${list(needs)} | ${list(reads)} | ${hold} | ${list(excepts)} |`,
  )
  return [
    '| Message | | Must state | Alone reads | Its hold | May be the exception |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
