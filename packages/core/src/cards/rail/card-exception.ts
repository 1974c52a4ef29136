import { createHash } from 'node:crypto'
import { base32 } from '@svc/kernel/ids'
import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { bytes, instant, nullable, paise, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import { Type } from 'typebox'

/** Why a signed message could not be read. */
export const UNREADABLE = [
  'not_json',
  'not_decrypted',
  'card_unreadable',
  'card_number_not_encrypted',
  'identity_unreadable',
  'amount_unreadable',
  'channel_unreadable',
  'advice_unreadable',
  'status_unreadable',
  'currency_not_inr',
  'reference_unreadable',
  'final_unreadable',
  'partial_unreadable',
] as const
export type UnreadableReason = (typeof UNREADABLE)[number]

/** What an operator has to look at (decision R1). */
export const EXCEPTION_REASONS = [
  ...UNREADABLE,
  'unknown_card',
  'contradicts_earlier_message',
  'unmatched_capture',
  'capture_after_void',
  'over_authorization',
  'over_balance',
  'unmatched_refund',
  'over_capture',
  'void_after_capture',
] as const
export type ExceptionReason = (typeof EXCEPTION_REASONS)[number]

/** Messages that could not be read, and money that fits no card, authorisation or capture. */
export const cardExceptions = table('card_exceptions', 'x', ['partnerId', 'exceptionId'], {
  partnerId: text,
  exceptionId: text,
  reason: textOf<ExceptionReason>(),
  svcCardId: nullable(text),
  messageId: nullable(text),
  /** What the network took beyond the card or the authorisation, or gave back beyond the capture. */
  debitPaise: paise,
  creditPaise: paise,
  /** Of a message that is not among the messages: as it was signed, without card numbers. */
  body: nullable(bytes),
  /** Of one that could not be read: the field, what it states and why it cannot be read. */
  detail: nullable(text),
  createdAt: instant,
})
export type CardException = RowOf<typeof cardExceptions>

const KEEP = statement(
  'card_exceptions_keep',
  `insert into card_exceptions (partner_id, exception_id, reason, svc_card_id, message_id, debit_paise, credit_paise,
     body, detail, created_at)
   select k.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
     $8::bytea[], $9::text[], $10::timestamptz[])
     as k (partner_id, exception_id, reason, svc_card_id, message_id, debit_paise, credit_paise, body, detail,
       created_at)
   order by k.partner_id, k.exception_id
   on conflict (partner_id, exception_id) do nothing`,
)

/** Stores exceptions, each once: the same bytes that could not be read are one exception, however often they come. */
export function storeExceptions(tx: Writes, exceptions: readonly CardException[]): void {
  if (exceptions.length === 0) return
  tx.write(
    KEEP,
    columns(
      exceptions,
      (e) => e.partnerId,
      (e) => e.exceptionId,
      (e) => e.reason,
      (e) => e.svcCardId,
      (e) => e.messageId,
      (e) => e.debitPaise,
      (e) => e.creditPaise,
      (e) => e.body,
      (e) => e.detail,
      (e) => e.createdAt,
    ),
  )
}

/** The id of an exception that is made of a body alone. */
export const exceptionIdOf = (body: Uint8Array): string =>
  `cex_${base32(createHash('sha256').update(body).digest().subarray(0, 17)).slice(0, 26)}`

const DETAIL =
  'The field that cannot be read, what it states and why: `amount "five" is not an amount`. Card numbers are masked'

/** The response to a message that could not be recorded. */
export const QuarantinedMessage = Type.Object(
  {
    exceptionId: Type.String(),
    status: Type.Literal('quarantined'),
    reason: Type.Enum([...EXCEPTION_REASONS]),
    detail: Type.Optional(Type.String({ description: DETAIL })),
  },
  { title: 'QuarantinedCardMessage', additionalProperties: false },
)

export const quarantinedToWire = ({ exceptionId, reason, detail }: CardException) => ({
  exceptionId,
  status: 'quarantined',
  reason,
  detail: detail ?? undefined,
})

/** The record that operators see. */
export const CardExceptionRecord = Type.Object(
  {
    exceptionId: Type.String(),
    reason: Type.Enum([...EXCEPTION_REASONS]),
    partnerId: Type.String(),
    svcCardId: Type.Optional(Type.String()),
    messageId: Type.Optional(Type.String()),
    debitAmount: Type.Number({
      description: 'Rupees that the network took beyond the card or the authorisation',
    }),
    creditAmount: Type.Number({ description: 'Rupees that the network gave back beyond the capture' }),
    detail: Type.Optional(Type.String({ description: DETAIL })),
    body: Type.Optional(Type.String({ description: 'The message as it was signed, card numbers masked' })),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardException', additionalProperties: false },
)

export const exceptionToWire = (exception: CardException, timeZone: string) => ({
  exceptionId: exception.exceptionId,
  reason: exception.reason,
  partnerId: exception.partnerId,
  svcCardId: exception.svcCardId ?? undefined,
  messageId: exception.messageId ?? undefined,
  debitAmount: paiseToWire(exception.debitPaise),
  creditAmount: paiseToWire(exception.creditPaise),
  detail: exception.detail ?? undefined,
  body: exception.body?.toString('utf8'),
  createdOn: rfc3339(exception.createdAt, timeZone),
})
