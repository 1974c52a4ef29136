import { formatRupees, paise } from '@svc/kernel/money'
import type { PreparedCommand } from '@svc/platform/db/batch'
import { Type } from 'typebox'
import { LINE_KINDS } from '../../bank-files/file-format.ts'
import { accountId } from '../../ledger/accounts.ts'
import type { AccountKind } from '../../ledger/chart-of-accounts.ts'
import { type Journal, movedBy } from '../../ledger/journals.ts'
import { personOf } from '../../ledger/money-command.ts'
import type { Posting } from '../../ledger/posting.ts'
import {
  StoredSignedPaise,
  StoredSignedPaiseOrNone,
  StoredTextOrNone,
  storedArgs,
} from '../../ledger/stored-args.ts'
import { amountOf } from '../../ledger/transfers.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { type BatchHead, type BatchLine, SETTLEMENT_RAILS, type SettlementBatch } from './batch.ts'
import { RAIL_BOOKS } from './postings.ts'

const StoredLine = Type.Object({
  line: Type.Integer(),
  kind: Type.Enum([...LINE_KINDS]),
  reference: StoredTextOrNone,
  amountPaise: StoredSignedPaise,
  date: Type.Optional(Type.String()),
  note: Type.Optional(Type.String()),
})

interface Recorded {
  readonly batch: SettlementBatch
  readonly journals: readonly Journal[]
  readonly command: BatchHead & PreparedCommand & { readonly lines: readonly BatchLine[] }
}

/** What the bank account gains by these journals from accounts of these kinds; below zero it loses it. */
function gained(journals: readonly Journal[], kinds: readonly AccountKind[]): string {
  const ids = new Set(kinds.map((kind) => accountId(kind, PLATFORM_TENANT)))
  const legs = journals.flatMap(({ transfers }) => transfers)
  const sum = (side: 'creditAccountId' | 'debitAccountId') =>
    legs.filter((leg) => ids.has(leg[side])).reduce((total, leg) => total + amountOf(leg), 0n)
  return formatRupees(paise(sum('creditAccountId') - sum('debitAccountId')))
}

/**
 * What a file moves beyond what is here already: charges, and what fits nothing. A line that fits a payment, refund, dispute
 * or message of a card only says that the bank has settled what we know of.
 */
function recordedByHand({ batch, journals, command }: Recorded): Posting | undefined {
  if (personOf(command) === undefined) return undefined
  const { charges, journals: kinds, unmatched } = RAIL_BOOKS[batch.rail]
  const beyond = journals.filter(
    ({ kind, tenantId }) =>
      tenantId === PLATFORM_TENANT && (kind === kinds.charged || kind === kinds.unmatched),
  )
  const [first] = beyond
  if (!first) return undefined
  return {
    kind: 'settlement_recorded',
    amountPaise: beyond.reduce((sum, journal) => sum + movedBy(journal), 0n),
    reference: batch.batchId,
    facts: {
      utr: batch.batchUtr,
      rail: batch.rail,
      valueDate: batch.valueDate,
      lines: String(command.lines.length),
      charges: gained(beyond, Object.values(charges)),
      unmatched: gained(beyond, [unmatched]),
    },
    reason: 'in a file that a person imported',
    journalId: first.journalId,
  }
}

/** A person imports a file of transfers, which no one has signed (decision R10). */
export const RECORDED_BY_HAND = {
  kinds: ['settlement_recorded'],
  args: storedArgs(
    Type.Object({
      rail: Type.Enum([...SETTLEMENT_RAILS]),
      batchUtr: Type.String(),
      valueDate: Type.String(),
      isDayStated: Type.Boolean(),
      netPaise: StoredSignedPaiseOrNone,
      isAwaited: Type.Boolean(),
      fileId: Type.String(),
      lines: Type.Array(StoredLine),
      isLast: Type.Boolean(),
    }),
  ),
  moves: recordedByHand,
  failures: ['settlement_batch_differs'],
} as const
