import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import {
  bytes,
  flag,
  instant,
  nullable,
  paise,
  type RowOf,
  secret,
  table,
  text,
  texts,
} from '@svc/platform/db/table'
import { Type } from 'typebox'
import type { NoticeFlag } from '../../rails/read-notice.ts'

/** Transfers to card accounts, as the bank reported them (decision R15). */
export const bankCredits = table('bank_credits', 'b', ['partnerId', 'creditId'], {
  partnerId: text,
  creditId: text,
  cardAccountId: text,
  utr: text,
  virtualAccount: text,
  amountPaise: paise,
  remitterName: nullable(text),
  remitterAccount: nullable(text),
  mode: nullable(text),
  transactionAt: nullable(instant),
  flags: texts<NoticeFlag>(),
  notice: secret(bytes),
  journalId: text,
  /** An operator had entered the funding before the notice came. */
  enteredBefore: flag,
  createdAt: instant,
})
export type BankCredit = RowOf<typeof bankCredits>

const fields = {
  creditId: Type.String(),
  cardAccountId: Type.String(),
  virtualAccount: Type.String(),
  utr: Type.String({ description: 'The bank’s reference of the transfer' }),
  amount: Type.Number({ description: 'Rupees' }),
  status: Type.Enum(['CREDITED', 'ENTERED_BEFORE'], {
    description:
      '`ENTERED_BEFORE`: an operator had entered it under this reference; nothing was credited again',
  }),
  transactionOn: Type.Optional(Type.String({ description: 'RFC 3339: when the bank made the transaction' })),
  createdOn: Type.String({ description: 'RFC 3339' }),
}

/** The response to a notice. */
export const BankCreditResponse = Type.Object(fields, { title: 'BankCredit', additionalProperties: false })

/** The record that operators see. */
export const BankCreditRecord = Type.Object(
  {
    ...fields,
    partnerId: Type.String(),
    remitterName: Type.Optional(Type.Unsafe<string>({ type: 'string', 'x-personal': 'name' })),
    remitterAccount: Type.Optional(Type.Unsafe<string>({ type: 'string', 'x-personal': 'account' })),
    mode: Type.Optional(Type.String({ description: 'Such as `NEFT`, as the bank has it' })),
    flags: Type.Array(Type.String()),
    journalId: Type.String(),
  },
  { title: 'BankCreditRecord', additionalProperties: false },
)

export const creditToWire = (credit: BankCredit, timeZone: string) => ({
  creditId: credit.creditId,
  cardAccountId: credit.cardAccountId,
  virtualAccount: credit.virtualAccount,
  utr: credit.utr,
  amount: paiseToWire(credit.amountPaise),
  status: credit.enteredBefore ? 'ENTERED_BEFORE' : 'CREDITED',
  transactionOn: credit.transactionAt ? rfc3339(credit.transactionAt, timeZone) : undefined,
  createdOn: rfc3339(credit.createdAt, timeZone),
})

export const creditRecordToWire = (credit: BankCredit, timeZone: string) => ({
  ...creditToWire(credit, timeZone),
  partnerId: credit.partnerId,
  remitterName: credit.remitterName ?? undefined,
  remitterAccount: credit.remitterAccount ?? undefined,
  mode: credit.mode ?? undefined,
  flags: credit.flags,
  journalId: credit.journalId,
})
