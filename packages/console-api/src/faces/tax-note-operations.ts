import { issueCreditNote } from '@svc/core/payments/fees/issue-credit-note'
import { issueDebitNote } from '@svc/core/payments/fees/issue-debit-note'
import { taxDocumentToRecord } from '@svc/core/payments/fees/tax-document'
import { tdsCertificateToWire } from '@svc/core/payments/tds/certificate'
import { enterTdsCertificate } from '@svc/core/payments/tds/enter-certificate'
import { formatRupees } from '@svc/kernel/money'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { readDay } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  reasonText,
  record,
  referenceText,
  rupeesText,
  text,
} from '../console-schema.ts'
import { Day } from './own-funds-operations.ts'
import { readTransfer } from './read-transfer.ts'
import { IssuedDocuments } from './tax-document-operations.ts'

const entered = {
  ...consoleOperation,
  method: 'POST',
  tag: 'Tax documents',
  permission: 'finance',
  stepUp: true,
  accepted: ApprovalRecord,
} as const
const PATH = `${CONSOLE_API}/tax-documents`
const WAITS = 'Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.'
const Number = (description: string) => Type.String({ minLength: 1, maxLength: 32, description })
const Amount = (description: string) => Type.String({ maxLength: 20, description })

export const issueCreditNoteInConsole = query({
  ...entered,
  id: 'console.issueCreditNote',
  path: `${PATH}/credit-notes`,
  summary: 'Give fees of an invoice back with their GST',
  description: `By a credit note; the next payout of the merchant pays them. The same fee for the same reason is issued once. ${WAITS}`,
  body: closed({
    number: Number('Of the invoice'),
    amount: Amount('Rupees of fees, without GST'),
    reason: reasonText('Why; it is in the journal'),
  }),
  result: IssuedDocuments,
  errors: [...issueCreditNote.approval.failures, 'approval_open'],
  mount({ commands, config }) {
    const { run } = commands.open(issueCreditNote)
    return async ({ body: { amount, number, reason }, caller, requestId }) => {
      const feePaise = readTransfer('amount', amount)
      const act = { action: 'tax_document.credit_note', target: number, requestId, actor: actorOf(caller) }
      const details = { fee: formatRupees(feePaise), reason }
      const issued = await run({ number, feePaise, reason }, { ...act, details })
      return wireOrWait(issued, config.BUSINESS_TIME_ZONE, ({ document }) => ({
        data: [taxDocumentToRecord(document)],
      }))
    }
  },
})

export const issueDebitNoteInConsole = query({
  ...entered,
  id: 'console.issueDebitNote',
  path: `${PATH}/debit-notes`,
  summary: 'Take a credit note back that was issued by mistake',
  description: `Whole and once, by a debit note: its fee and GST are owed to us again, and the next payout of the merchant deducts them. A repeat returns the same debit note. ${WAITS}`,
  body: closed({ number: Number('Of the credit note'), reason: reasonText('Why; it is in the journal') }),
  result: IssuedDocuments,
  errors: [...issueDebitNote.approval.failures, 'approval_open'],
  mount({ commands, config }) {
    const { run } = commands.open(issueDebitNote)
    return async ({ body: { number, reason }, caller, requestId }) => {
      const act = { action: 'tax_document.debit_note', target: number, requestId, actor: actorOf(caller) }
      const issued = await run({ number, reason }, { ...act, details: { reason } })
      return wireOrWait(issued, config.BUSINESS_TIME_ZONE, ({ document }) => ({
        data: [taxDocumentToRecord(document)],
      }))
    }
  },
})

export const enterTdsCertificateInConsole = query({
  ...entered,
  id: 'console.enterTdsCertificate',
  path: `${CONSOLE_API}/merchants/:merchantId/tds-certificates`,
  summary: 'Enter the certificate of tax that a merchant deducted at source on our fees',
  description: `Fees were deducted whole, so the tax is payable to the merchant: its next payout has it. A number is entered once for each merchant. ${WAITS}`,
  params: idParam('merchantId'),
  body: closed({
    certificate: referenceText('Its number'),
    quarter: Type.String({ maxLength: 10, description: 'Of the financial year, such as `2026-27-Q1`' }),
    amount: Amount('Rupees with at most two decimals'),
    date: Day('Of the certificate, `YYYY-MM-DD`'),
    reason: reasonText('Why; it is in the journal'),
  }),
  result: record('TdsCertificate', {
    certificateId: text(),
    merchantId: text(),
    number: text(),
    quarter: text(),
    amount: rupeesText,
    date: text('`YYYY-MM-DD`'),
    journalId: text(),
    reversedBy: text('The journal that took it back; empty for none'),
    createdOn: text('RFC 3339'),
    isRepeat: Type.Boolean({ description: 'It was entered before: nothing was posted' }),
  }),
  errors: [...enterTdsCertificate.approval.failures, 'approval_open'],
  mount({ commands, config }) {
    const { run } = commands.open(enterTdsCertificate)
    return async ({ body, caller, params: { merchantId }, requestId }) => {
      const { amount, certificate: number, date, quarter, reason } = body
      const amountPaise = readTransfer('amount', amount)
      const act = { action: 'tds.certified', target: merchantId, requestId, actor: actorOf(caller) }
      const details = { number, quarter, amount: formatRupees(amountPaise), reason }
      const wanted = { merchantId, number, quarter, amountPaise, datedOn: readDay('date', date), reason }
      return wireOrWait(
        await run(wanted, { ...act, details }),
        config.BUSINESS_TIME_ZONE,
        ({ certificate, journal }) => ({
          ...tdsCertificateToWire(certificate),
          isRepeat: journal === undefined,
        }),
      )
    }
  },
})
