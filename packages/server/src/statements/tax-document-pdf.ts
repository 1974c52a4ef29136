import type { Readable } from 'node:stream'
import { placeOfSupply } from '@svc/core/payments/fees/gst'
import { type TaxDocument, type TaxParty, totalOf } from '@svc/core/payments/fees/tax-document'
import { formatRupees } from '@svc/kernel/money'
import { type Heading, rupeesText, statementPdf } from './pdf.ts'

const TITLES = { INVOICE: 'Tax invoice', CREDIT_NOTE: 'Credit note', DEBIT_NOTE: 'Debit note' } as const
const TOTAL = 'Total'

const gstinOf = ({ gstin }: TaxParty): string => gstin ?? 'not registered'

/** An invoice, credit note or debit note as CGST rules 46 and 53 want it. */
export function taxDocumentPdf({
  document,
  now,
}: {
  readonly document: TaxDocument
  readonly now: Date
}): Readable {
  const { supplier, recipient } = document
  const heading: Heading = {
    title: TITLES[document.kind],
    name: supplier.legalName,
    facts: [
      ['Number', document.number],
      ['Date', document.issueDate],
      ['Supplier', supplier.address],
      ['GSTIN of the supplier', gstinOf(supplier)],
      ['Recipient', recipient.legalName],
      ['Address', recipient.address || '–'],
      ['GSTIN of the recipient', gstinOf(recipient)],
      ['Place of supply', placeOfSupply(document.placeOfSupply)],
      ['Period', document.month.slice(0, 7)],
      ['Services accounting code', document.sac],
      ['Reverse charge', 'no'],
      ...(document.originalNumber ? [['Invoice', document.originalNumber] as const] : []),
      ...(document.creditNoteNumber
        ? [['Takes back the credit note', document.creditNoteNumber] as const]
        : []),
    ],
    foot: `${document.number}; signed electronically`,
    createdAt: now,
  }
  const rate = formatRupees(BigInt(document.taxBasisPoints))
  const rows = (
    [
      [`Platform fee, ${document.paymentCount} payments`, document.taxablePaise],
      ['Central GST', document.cgstPaise],
      ['State GST', document.sgstPaise],
      ['Integrated GST', document.igstPaise],
      [TOTAL, totalOf(document)],
    ] as const
  ).filter(([, amount], i) => amount !== 0n || i === 0)
  return statementPdf(heading, async (pdf) => {
    await pdf.table(
      `GST of ${rate} %`,
      [
        { title: 'What', share: 0.7, cell: ([what]) => what },
        { title: 'Amount', share: 0.3, align: 'right', cell: ([, amount]) => rupeesText(amount) },
      ],
      rows,
      ([what]) => what === TOTAL,
    )
    pdf.note('A fee of the platform; no merchant discount is charged on UPI payments.')
  })
}
