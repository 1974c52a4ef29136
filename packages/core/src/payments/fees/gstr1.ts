import { formatRupees } from '@svc/kernel/money'
import { placeOfSupply } from './gst.ts'
import { type TaxDocument, totalOf } from './tax-document.ts'

export const GSTR1_SECTIONS = ['b2b', 'b2cs', 'cdnr', 'hsn', 'docs'] as const
export type Gstr1Section = (typeof GSTR1_SECTIONS)[number]

export type Gstr1Row = Readonly<Record<string, string | number>>

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const dateText = (day: string): string => {
  const [year, month, of] = day.split('-') as [string, string, string]
  return `${of}-${MONTHS[Number(month) - 1]}-${year}`
}

const isInvoice = ({ kind }: TaxDocument): boolean => kind === 'INVOICE'
const signOf = ({ kind }: TaxDocument): bigint => (kind === 'CREDIT_NOTE' ? -1n : 1n)
const rateOf = ({ taxBasisPoints }: TaxDocument): string => formatRupees(BigInt(taxBasisPoints))

const b2b = (documents: readonly TaxDocument[]): Gstr1Row[] =>
  documents
    .filter((each) => isInvoice(each) && each.recipient.gstin !== null)
    .map((each) => ({
      'GSTIN/UIN of Recipient': each.recipient.gstin!,
      'Receiver Name': each.recipient.legalName,
      'Invoice Number': each.number,
      'Invoice date': dateText(each.issueDate),
      'Invoice Value': formatRupees(totalOf(each)),
      'Place Of Supply': placeOfSupply(each.placeOfSupply),
      'Reverse Charge': 'N',
      'Applicable % of Tax Rate': '',
      'Invoice Type': 'Regular B2B',
      'E-Commerce GSTIN': '',
      Rate: rateOf(each),
      'Taxable Value': formatRupees(each.taxablePaise),
      'Cess Amount': '',
    }))

const cdnr = (documents: readonly TaxDocument[]): Gstr1Row[] =>
  documents
    .filter((each) => !isInvoice(each) && each.recipient.gstin !== null)
    .map((each) => ({
      'GSTIN/UIN of Recipient': each.recipient.gstin!,
      'Receiver Name': each.recipient.legalName,
      'Note Number': each.number,
      'Note Date': dateText(each.issueDate),
      'Note Type': each.kind === 'CREDIT_NOTE' ? 'C' : 'D',
      'Place Of Supply': placeOfSupply(each.placeOfSupply),
      'Reverse Charge': 'N',
      'Note Supply Type': 'Regular B2B',
      'Note Value': formatRupees(totalOf(each)),
      'Applicable % of Tax Rate': '',
      Rate: rateOf(each),
      'Taxable Value': formatRupees(each.taxablePaise),
      'Cess Amount': '',
    }))

/** Sums of documents that agree in a key, in order of the key. */
function summed(documents: readonly TaxDocument[], keyOf: (document: TaxDocument) => string) {
  const sums = new Map<
    string,
    { of: TaxDocument; taxable: bigint; cgst: bigint; sgst: bigint; igst: bigint }
  >()
  for (const document of documents) {
    const key = keyOf(document)
    const sum = sums.get(key) ?? { of: document, taxable: 0n, cgst: 0n, sgst: 0n, igst: 0n }
    const sign = signOf(document)
    sum.taxable += sign * document.taxablePaise
    sum.cgst += sign * document.cgstPaise
    sum.sgst += sign * document.sgstPaise
    sum.igst += sign * document.igstPaise
    sums.set(key, sum)
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

/** Of merchants without a GSTIN, by place of supply and rate; credit notes lessen them, debit notes take that back. */
const b2cs = (documents: readonly TaxDocument[]): Gstr1Row[] =>
  summed(
    documents.filter(({ recipient }) => recipient.gstin === null),
    (each) => `${each.placeOfSupply} ${rateOf(each)}`,
  ).map(({ of, taxable }) => ({
    Type: 'OE',
    'Place Of Supply': placeOfSupply(of.placeOfSupply),
    'Applicable % of Tax Rate': '',
    Rate: rateOf(of),
    'Taxable Value': formatRupees(taxable),
    'Cess Amount': '',
    'E-Commerce GSTIN': '',
  }))

const hsn = (documents: readonly TaxDocument[]): Gstr1Row[] =>
  summed(documents, (each) => `${each.sac} ${rateOf(each)}`).map(({ of, taxable, cgst, sgst, igst }) => ({
    HSN: of.sac,
    Description: 'Platform fee',
    UQC: 'NA',
    'Total Quantity': '0.00',
    'Total Value': formatRupees(taxable + cgst + sgst + igst),
    Rate: rateOf(of),
    'Taxable Value': formatRupees(taxable),
    'Integrated Tax Amount': formatRupees(igst),
    'Central Tax Amount': formatRupees(cgst),
    'State/UT Tax Amount': formatRupees(sgst),
    'Cess Amount': '',
  }))

const NATURES = {
  INVOICE: 'Invoices for outward supply',
  CREDIT_NOTE: 'Credit Note',
  DEBIT_NOTE: 'Debit Note',
} as const

const docs = (documents: readonly TaxDocument[]): Gstr1Row[] =>
  summed(documents, ({ kind, number }) => `${kind} ${number.slice(0, -7)}`).map(({ of }) => {
    const numbers = documents
      .filter(({ kind, number }) => kind === of.kind && number.slice(0, -7) === of.number.slice(0, -7))
      .map(({ number }) => number)
      .sort()
    return {
      'Nature of Document': NATURES[of.kind],
      'Sr. No. From': numbers[0]!,
      'Sr. No. To': numbers.at(-1)!,
      'Total Number': numbers.length,
      Cancelled: 0,
    }
  })

const SECTIONS = { b2b, b2cs, cdnr, hsn, docs } as const

/** A section of the monthly return of outward supplies, with the columns of the tax office's offline tool. */
export const gstr1 = (section: Gstr1Section, documents: readonly TaxDocument[]): Gstr1Row[] =>
  SECTIONS[section](documents)
