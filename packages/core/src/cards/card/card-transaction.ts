import { type Paise, paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { instant, nullable, paise, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import { Type } from 'typebox'
import { NETWORK_CHANNELS, type NetworkChannel } from '../rail/card-message.ts'
import { APPROVED, DECLINES, type DeclineReason, PARTLY_APPROVED, VERIFIED } from '../rail/response-codes.ts'

export const TRANSACTION_KINDS = [
  'authorization',
  'capture',
  'refund',
  'load',
  'unload',
  'replacement',
  'unclaimed',
  'unclaimed_reversed',
  'return_to_source',
  'adjustment',
] as const
export type TransactionKind = (typeof TRANSACTION_KINDS)[number]

export const TRANSACTION_STATUSES = [
  'pending',
  'partly_captured',
  'captured',
  'voided',
  'expired',
  'declined',
  'verified',
  'completed',
] as const
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number]

/** What happened on cards (decision C25). Triggers write it: no login does. */
export const cardTransactions = table('card_transactions', 't', ['partnerId', 'transactionId'], {
  partnerId: text,
  transactionId: text,
  svcCardId: text,
  cardAccountId: text,
  companyId: text,
  kind: textOf<TransactionKind>(),
  amountPaise: paise,
  /** By what it changed the balance of the card; `null`: it did not. */
  movedPaise: nullable(paise),
  /** Of the card after it. */
  balancePaise: nullable(paise),
  /** The leg of the ledger that moved the money. */
  transferId: nullable(text),
  messageId: nullable(text),
  authorizationId: nullable(text),
  channel: nullable(textOf<NetworkChannel>()),
  merchantName: nullable(text),
  createdAt: instant,
})

/** A transaction with what its message says and what became of its authorisation. */
export interface CardTransaction extends RowOf<typeof cardTransactions> {
  readonly status: TransactionStatus
  readonly responseCode: string | null
  readonly reason: DeclineReason | null
  readonly spendRuleId: string | null
  readonly approvedPaise: Paise | null
  readonly captureId: string | null
  readonly mcc: string | null
  readonly merchantPlace: string | null
  readonly rrn: string | null
  readonly acquirerId: string | null
  readonly stan: string | null
  readonly transmissionAt: Date | null
  readonly authorizationCode: string | null
  readonly capturedPaise: Paise | null
  readonly heldPaise: Paise | null
  readonly expiresAt: Date | null
  /** The partner’s own, of a load after the first one or an unload. */
  readonly referenceNumber: string | null
}

const HOLD =
  'left join card_authorizations h on h.partner_id = t.partner_id and h.authorization_id = t.authorization_id'

/** Without a hold an approved authorisation was captured before it arrived. */
const STATUS = `case when t.kind <> 'authorization' then 'completed'
  when t.response_code = '${VERIFIED}' then 'verified'
  when t.response_code not in ('${APPROVED}', '${PARTLY_APPROVED}') then 'declined'
  when h.status = 'OPEN' and h.captured_paise = 0 then 'pending' when h.status = 'OPEN' then 'partly_captured'
  else coalesce(lower(h.status), 'captured') end`

/** The status of a transaction `t`, for a condition. */
export const STATUS_OF_TRANSACTION = `(select ${STATUS} from (select) one ${HOLD})`

/** Transactions `t` with all that is known of them. */
export const TRANSACTIONS = {
  columns: `${cardTransactions.columns}, ${STATUS} as status, t.response_code as "responseCode",
    m.response::jsonb ->> 'reason' as reason, m.response::jsonb ->> 'spendRuleId' as "spendRuleId",
    (100 * (m.response::jsonb -> 'approvedAmount')::numeric)::bigint as "approvedPaise", m.capture_id as "captureId", m.mcc, m.merchant_place as "merchantPlace",
    m.rrn, m.acquirer_id as "acquirerId", m.stan, m.transmission_at as "transmissionAt",
    h.authorization_code as "authorizationCode", h.captured_paise as "capturedPaise", h.held_paise as "heldPaise",
    h.expires_at as "expiresAt", l.reference_number as "referenceNumber"`,
  table: 'card_transactions t',
  alias: 't',
  joins: `left join card_messages m on m.partner_id = t.partner_id and m.message_id = t.message_id ${HOLD}
    left join card_loads l on t.kind in ('load', 'unload') and l.partner_id = t.partner_id
      and l.load_id = 'cld_' || substr(t.transfer_id, 5)`,
}

const optional = (description: string) => Type.Optional(Type.String({ description }))
const rupees = (description: string) => Type.Optional(Type.Number({ description: `Rupees ${description}` }))

export const CardTransactionRecord = Type.Object(
  {
    cardTransactionId: Type.String(),
    svcCardId: Type.String(),
    cardAccountId: Type.String({ description: 'The card account that funded the card' }),
    companyId: Type.String(),
    kind: Type.Enum([...TRANSACTION_KINDS], {
      description:
        '`replacement`: from a card to the one that replaces it, a transaction of each. `unclaimed`: what was left on an ended card left it, and waits; `return_to_source`: the card account has it',
    }),
    status: Type.Enum([...TRANSACTION_STATUSES], {
      description:
        'What became of an authorisation; `verified` is one of zero. All that moved money is `completed`',
    }),
    amount: Type.Number({ description: 'Rupees' }),
    direction: Type.Optional(
      Type.Enum(['debit', 'credit'], {
        description: '`debit`: it left the card. Absent where the balance of the card did not move',
      }),
    ),
    balance: rupees('on the card after it; present where the balance moved'),
    responseCode: optional('ISO 8583 field 39 of an authorisation'),
    reason: Type.Optional(
      Type.Enum(Object.keys(DECLINES) as DeclineReason[], { description: 'Why it was declined' }),
    ),
    spendRuleId: optional('The spend rule that declined it'),
    approvedAmount: rupees('approved of an authorisation, where that is a part'),
    capturedAmount: rupees('captured of an authorisation'),
    heldAmount: rupees('that an authorisation holds now'),
    holdExpiresOn: optional('RFC 3339; of an authorisation: when its hold expires or expired'),
    channel: Type.Optional(Type.Enum([...NETWORK_CHANNELS])),
    merchantName: optional('As the network wrote it'),
    merchantPlace: optional('As the network wrote it'),
    mcc: optional('Merchant category code'),
    rrn: optional('Retrieval reference number; acquirers use one again'),
    acquirerId: Type.Optional(Type.String()),
    stan: optional('System trace audit number'),
    authorizationId: optional('The authorisation that it is of'),
    authorizationCode: optional('ISO 8583 field 38'),
    captureId: optional('Of a refund: the message of the capture that it gives back'),
    messageId: optional('The message of the card network'),
    referenceNumber: optional('Your own reference of a load after the first one, or of an unload'),
    transactionId: optional('The entry of the ledger that moved the money, as in receipts and statements'),
    transmissionTime: optional('RFC 3339; when the network sent its message'),
    createdOn: Type.String({ description: 'RFC 3339; when it was recorded' }),
  },
  { title: 'CardTransaction', additionalProperties: false },
)

const rupeesOf = (amount: Paise | null) => (amount === null ? undefined : paiseToWire(amount))
const timeOf = (at: Date | null, timeZone: string) => (at === null ? undefined : rfc3339(at, timeZone))

/** What became of the hold, of authorisations alone: captures and refunds name it. */
const holdToWire = (row: CardTransaction, timeZone: string) =>
  row.kind === 'authorization'
    ? {
        responseCode: row.responseCode ?? undefined,
        reason: row.reason ?? undefined,
        spendRuleId: row.spendRuleId ?? undefined,
        approvedAmount: rupeesOf(row.approvedPaise),
        capturedAmount: rupeesOf(row.capturedPaise),
        heldAmount: rupeesOf(row.heldPaise),
        holdExpiresOn: timeOf(row.expiresAt, timeZone),
      }
    : {}

export const cardTransactionToWire = (row: CardTransaction, timeZone: string) => ({
  cardTransactionId: row.transactionId,
  svcCardId: row.svcCardId,
  cardAccountId: row.cardAccountId,
  companyId: row.companyId,
  kind: row.kind,
  status: row.status,
  amount: paiseToWire(row.amountPaise),
  direction: row.movedPaise === null ? undefined : row.movedPaise < 0n ? 'debit' : 'credit',
  balance: rupeesOf(row.balancePaise),
  ...holdToWire(row, timeZone),
  channel: row.channel ?? undefined,
  merchantName: row.merchantName ?? undefined,
  merchantPlace: row.merchantPlace ?? undefined,
  mcc: row.mcc ?? undefined,
  rrn: row.rrn ?? undefined,
  acquirerId: row.acquirerId ?? undefined,
  stan: row.stan ?? undefined,
  authorizationId: row.authorizationId ?? undefined,
  authorizationCode: row.authorizationCode ?? undefined,
  captureId: row.captureId ?? undefined,
  messageId: row.messageId ?? undefined,
  referenceNumber: row.referenceNumber ?? undefined,
  transactionId: row.transferId ?? undefined,
  transmissionTime: timeOf(row.transmissionAt, timeZone),
  createdOn: rfc3339(row.createdAt, timeZone),
})
