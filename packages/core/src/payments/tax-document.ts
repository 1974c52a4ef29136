import { formatRupees } from '@svc/kernel/money'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { signed } from '@svc/platform/crypto/signed'
import {
  day,
  instant,
  integer,
  json,
  nullable,
  paise,
  type RowOf,
  stamped,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { placeOfSupply } from './gst.ts'

export const TAX_DOCUMENT_KINDS = ['INVOICE', 'CREDIT_NOTE'] as const
export type TaxDocumentKind = (typeof TAX_DOCUMENT_KINDS)[number]

/** Who supplies or receives a service, as documents name them. */
export interface TaxParty {
  readonly legalName: string
  readonly address: string
  readonly gstin: string | null
  readonly state: string
}

/** Invoices of fees and their GST, and credit notes (decision R24). */
export const taxDocuments = table('tax_documents', 'd', ['merchantId', 'documentId'], {
  merchantId: text,
  documentId: text,
  number: text,
  kind: textOf<TaxDocumentKind>(),
  issueDate: day,
  /** The first day of the month that it is of. */
  month: day,
  supplier: json<TaxParty>(),
  recipient: json<TaxParty>(),
  /** GST state code. */
  placeOfSupply: text,
  sac: text,
  /** How many payments were charged. */
  paymentCount: integer,
  taxablePaise: paise,
  taxBasisPoints: integer,
  cgstPaise: paise,
  sgstPaise: paise,
  igstPaise: paise,
  originalNumber: nullable(text),
  /** Compact JWS of what it says. */
  signed: text,
  createdAt: stamped(instant),
})
export type TaxDocument = RowOf<typeof taxDocuments>

export const totalOf = ({
  taxablePaise,
  cgstPaise,
  sgstPaise,
  igstPaise,
}: Pick<TaxDocument, 'taxablePaise' | 'cgstPaise' | 'sgstPaise' | 'igstPaise'>): bigint =>
  taxablePaise + cgstPaise + sgstPaise + igstPaise

type Unsigned = Omit<TaxDocument, 'signed' | 'createdAt'>

const stated = (document: Unsigned) => ({
  documentId: document.documentId,
  number: document.number,
  kind: document.kind,
  issueDate: document.issueDate,
  period: document.month.slice(0, 7),
  supplier: document.supplier,
  recipient: document.recipient,
  placeOfSupply: placeOfSupply(document.placeOfSupply),
  sac: document.sac,
  count: document.paymentCount,
  taxableValue: formatRupees(document.taxablePaise),
  rate: formatRupees(BigInt(document.taxBasisPoints)),
  cgst: formatRupees(document.cgstPaise),
  sgst: formatRupees(document.sgstPaise),
  igst: formatRupees(document.igstPaise),
  total: formatRupees(totalOf(document)),
  originalNumber: document.originalNumber,
})

/** What a document says, as a compact JWS that anyone can verify with the published keys. */
export const signedDocument = (document: Unsigned, keyring: Keyring): string =>
  signed(keyring, 'svc-tax-document', stated(document))

/** Amounts as texts of rupees, so that no program rounds them. */
export const taxDocumentToWire = (document: TaxDocument) => ({ ...stated(document), signed: document.signed })
