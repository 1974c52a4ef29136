import { Type } from 'typebox'
import { journalOf } from '../../ledger/journals.ts'
import type { Posting } from '../../ledger/posting.ts'
import { orNull, StoredBytes, StoredPaise, storedArgs } from '../../ledger/stored-args.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { type Assignment, StoredAssignment } from '../../rails/rail-notice.ts'
import type { NoticeFlag } from '../../rails/read-notice.ts'
import type { Credit } from '../credit-notice.ts'

/** As an operator reads it. */
const StoredCredit = Type.Object({
  utr: Type.String(),
  tr: Type.String(),
  amountPaise: StoredPaise,
  payerVpa: Type.Null(),
  payeeVpa: orNull(Type.String()),
  transactionAt: Type.Null(),
  flags: Type.Array(Type.Unsafe<NoticeFlag>(Type.String())),
})

interface Read {
  readonly isNew: boolean
  readonly transfer: Transfer | undefined
  readonly command: {
    readonly credit: Credit | undefined
    readonly args: {
      readonly assigns?: Omit<Assignment, 'paymentId'> | undefined
      readonly reason?: string | undefined
    }
  }
}

/** What an operator reads in a notice becomes money. */
function readByHand({ command: { args, credit }, isNew, transfer }: Read): Posting | undefined {
  if (!args.assigns || !isNew || !transfer || !credit) return undefined
  const { amountPaise, payeeVpa, tr, utr } = credit
  return {
    kind: 'notice_assigned',
    amountPaise,
    reference: args.assigns.noticeId,
    facts: { utr, tr, payeeVpa },
    reason: `in quarantine: ${args.reason}`,
    journalId: journalOf(transfer).journalId,
  }
}

/** An operator says what a notice in quarantine means (decision R10). */
export const READ_BY_HAND = {
  kinds: ['notice_assigned'],
  args: storedArgs(
    Type.Object({
      notice: StoredBytes,
      read: Type.Object({ credit: StoredCredit, isCertain: Type.Boolean() }),
      assigns: StoredAssignment,
      reason: Type.Optional(Type.String()),
    }),
  ),
  moves: readByHand,
  failures: ['notice_not_in_quarantine', 'utr_conflict'],
} as const
