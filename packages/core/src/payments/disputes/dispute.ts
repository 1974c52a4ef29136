import { type Paise, paiseToWire, paise as toPaise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import {
  bytes,
  generated,
  instant,
  nullable,
  paise,
  type RowOf,
  secret,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account, accountId } from '../../ledger/accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import type { JournalKind } from '../../ledger/posting-rules.ts'

export const DISPUTE_STATUSES = ['OPEN', 'EVIDENCE_SUBMITTED', 'ACCEPTED', 'WON', 'LOST'] as const
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number]
/** How a dispute ends: `ACCEPTED` by the merchant, `WON` or `LOST` by it. */
export type DisputeEnd = 'ACCEPTED' | 'WON' | 'LOST'

/** Accepted payments that their payers dispute (decision Q17). */
export const disputes = table('disputes', 'd', ['merchantId', 'disputeId'], {
  merchantId: text,
  disputeId: text,
  paymentId: text,
  /** The network's reference of the case, in canonical form: names one dispute among all merchants. */
  caseReference: text,
  amountPaise: paise,
  /** The part beyond what was payable to the merchant. */
  advancedPaise: paise,
  /** As the bank reports it. */
  reason: nullable(text),
  status: textOf<DisputeStatus>(),
  evidence: nullable(text),
  /** Lost when there is no evidence by then. */
  evidenceDueAt: instant,
  /** The notice as the bank signed it. */
  notice: secret(bytes),
  createdAt: instant,
  evidenceAt: nullable(instant),
  /** When the newest evidence was sent to the bank. */
  evidenceSentAt: generated(nullable(instant)),
  /** By which the bank names what it received. */
  evidenceReceipt: generated(nullable(text)),
  /** What an operator asked the merchant to add, the newest of it. */
  evidenceRequest: generated(nullable(text)),
  evidenceRequestedAt: generated(nullable(instant)),
  closedAt: nullable(instant),
})
export type Dispute = RowOf<typeof disputes>

export const DisputeRecord = Type.Object(
  {
    disputeId: Type.String(),
    paymentId: Type.String(),
    caseReference: Type.String({ description: 'The network’s reference of the case' }),
    amount: Type.Number({ description: 'Rupees: the payment or a part of it' }),
    reason: Type.Optional(Type.String({ description: 'As the bank reports it' })),
    status: Type.Enum([...DISPUTE_STATUSES], {
      description:
        '`OPEN` until `evidenceDueOn`, then `LOST`. `ACCEPTED` by the merchant, `WON` and `LOST` are final, except that a dispute which was lost because no evidence came in time becomes `WON` if the network decides so',
    }),
    evidence: Type.Optional(Type.String({ description: 'What the merchant submitted, the newest of it' })),
    evidenceDueOn: Type.String({ description: 'Until when evidence can be submitted' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    evidenceOn: Type.Optional(Type.String({ description: 'When the evidence was submitted' })),
    evidenceSentOn: Type.Optional(
      Type.String({ description: 'When it was sent to the bank; absent: not sent yet' }),
    ),
    evidenceReceipt: Type.Optional(
      Type.String({ description: 'By which the bank or the network names what it received' }),
    ),
    evidenceRequest: Type.Optional(
      Type.String({ description: 'What the operator asked you to add to the evidence, the newest of it' }),
    ),
    evidenceRequestedOn: Type.Optional(
      Type.String({
        description: 'When it was asked for; it is open until evidence with a later `evidenceOn`',
      }),
    ),
    closedOn: Type.Optional(Type.String({ description: 'When it was accepted, won or lost' })),
  },
  { title: 'Dispute', additionalProperties: false },
)

export const disputeToWire = (dispute: Dispute, timeZone: string) => ({
  disputeId: dispute.disputeId,
  paymentId: dispute.paymentId,
  caseReference: dispute.caseReference,
  amount: paiseToWire(dispute.amountPaise),
  reason: dispute.reason ?? undefined,
  status: dispute.status,
  evidence: dispute.evidence ?? undefined,
  evidenceDueOn: rfc3339(dispute.evidenceDueAt, timeZone),
  createdOn: rfc3339(dispute.createdAt, timeZone),
  evidenceOn: dispute.evidenceAt ? rfc3339(dispute.evidenceAt, timeZone) : undefined,
  evidenceSentOn: dispute.evidenceSentAt ? rfc3339(dispute.evidenceSentAt, timeZone) : undefined,
  evidenceReceipt: dispute.evidenceReceipt ?? undefined,
  evidenceRequest: dispute.evidenceRequest ?? undefined,
  evidenceRequestedOn: dispute.evidenceRequestedAt
    ? rfc3339(dispute.evidenceRequestedAt, timeZone)
    : undefined,
  closedOn: dispute.closedAt ? rfc3339(dispute.closedAt, timeZone) : undefined,
})

/** The event of a dispute that was opened or has ended; those of one payment are delivered in order. */
export const disputeEvent = (dispute: Dispute, eventId: string, timeZone: string): OutboxEvent => ({
  eventId,
  tenantId: dispute.merchantId,
  type:
    dispute.closedAt === null
      ? 'payment.disputed'
      : dispute.status === 'WON'
        ? 'dispute.won'
        : 'dispute.lost',
  objectId: dispute.paymentId,
  payload: disputeToWire(dispute, timeZone),
  createdAt: dispute.closedAt ?? dispute.createdAt,
})

interface Changed {
  readonly eventId: string
  readonly timeZone: string
  readonly at: Date
}

/** That something happened to a dispute that is open all the same. */
export const disputeChangedEvent = (
  type: 'dispute.evidence_sent' | 'dispute.evidence_requested',
  dispute: Dispute,
  { eventId, timeZone, at }: Changed,
): OutboxEvent => ({
  eventId,
  tenantId: dispute.merchantId,
  type,
  objectId: dispute.paymentId,
  payload: disputeToWire(dispute, timeZone),
  createdAt: at,
})

const ID = /^dsp_[0-9a-z]{26}$/
/** Whether the id can exist; any other gets the response of a missing one (decision A12). */
export const looksLikeDisputeId = (id: string): boolean => ID.test(id)

const KINDS = ['payable', 'merchant_advances', 'disputes', 'upi_clearing'] as const
type DisputeAccount = (typeof KINDS)[number]

/** Every account that a dispute may move; its own and the merchant's advances are opened by the first one. */
export const disputeAccounts = (merchantId: string): Account[] =>
  KINDS.map((kind) => account(kind, merchantId))

/** Ids of the two legs, and of the one that takes back a loss. */
export type LegIds = readonly [string, string, string]

/** Of the journal of a dispute that was lost because no evidence came in time. */
export const DEADLINE_PASSED = 'no evidence by the deadline'

/** A journal's id is the dispute's under another prefix, with a letter for what happened. */
function journal(
  { merchantId, disputeId, caseReference }: Dispute,
  [kind, suffix, at]: readonly [JournalKind, string, Date],
  legs: readonly (readonly [DisputeAccount, DisputeAccount, Paise, string])[],
): Journal {
  return {
    tenantId: merchantId,
    journalId: `jrn_${disputeId.slice(4)}${suffix}`,
    kind,
    reference: caseReference,
    reverses: null,
    reason: null,
    at,
    transfers: legs
      .filter(([, , amountPaise]) => amountPaise > 0n)
      .map(([debit, credit, amountPaise, transferId]) => ({
        transferId,
        tenantId: merchantId,
        kind,
        debitAccountId: accountId(debit, merchantId),
        creditAccountId: accountId(credit, merchantId),
        amountPaise,
        objectId: disputeId,
        createdAt: at,
      })),
  }
}

/** Out of what is payable to the merchant, and beyond it as an advance, until the dispute is decided. */
export function openedJournal(dispute: Dispute, [first, second]: LegIds): Journal {
  const { amountPaise, advancedPaise, createdAt } = dispute
  const payable = toPaise(amountPaise - advancedPaise)
  return journal(
    dispute,
    ['dispute', '', createdAt],
    [
      ['payable', 'disputes', payable, first],
      ['merchant_advances', 'disputes', advancedPaise, second],
    ],
  )
}

/** How a dispute ended. */
interface Ending {
  readonly dispute: Dispute
  readonly at: Date
  /** Lost, because no evidence came in time. */
  readonly isOverdue?: boolean
  /** Won after all: it was lost because no evidence came in time. */
  readonly isOverturned?: boolean
}

/** The journals of a dispute's end; of one that was lost before, the loss is taken back first. */
export const closedJournals = (ending: Ending, legs: LegIds): Journal[] =>
  ending.isOverturned
    ? [overturnedJournal(ending, legs), endJournal(ending, legs)]
    : [endJournal(ending, legs)]

const overturnedJournal = ({ dispute, at }: Ending, [, , third]: LegIds): Journal => ({
  ...journal(
    dispute,
    ['dispute_overturned', 'o', at],
    [['upi_clearing', 'disputes', dispute.amountPaise, third]],
  ),
  reverses: `jrn_${dispute.disputeId.slice(4)}l`,
  reason: 'won',
})

/** Won: the mirror of the opening. Lost or accepted: the bank keeps it of what it owes us, for the payer. */
function endJournal({ dispute, at, isOverdue = false }: Ending, [first, second]: LegIds): Journal {
  const { amountPaise, advancedPaise, disputeId } = dispute
  if (dispute.status !== 'WON')
    return {
      ...journal(dispute, ['dispute_lost', 'l', at], [['disputes', 'upi_clearing', amountPaise, first]]),
      reason: isOverdue ? DEADLINE_PASSED : null,
    }
  const payable = toPaise(amountPaise - advancedPaise)
  return {
    ...journal(
      dispute,
      ['dispute_won', 'w', at],
      [
        ['disputes', 'payable', payable, first],
        ['disputes', 'merchant_advances', advancedPaise, second],
      ],
    ),
    reverses: `jrn_${disputeId.slice(4)}`,
    reason: 'won',
  }
}
