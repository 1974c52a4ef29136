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
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { placeOfSupply } from './gst.ts'

export const TAX_DOCUMENT_KINDS = ['INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE'] as const
export type TaxDocumentKind = (typeof TAX_DOCUMENT_KINDS)[number]

/** Who supplies or receives a service, as documents name them. */
export interface TaxParty {
  readonly legalName: string
  readonly address: string
  readonly gstin: string | null
  readonly state: string
}

/** Invoices of fees and their GST (decision R24), credit notes and debit notes (decision R27). */
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
  /** The invoice of a note. */
  originalNumber: nullable(text),
  /** The credit note that a debit note takes back. */
  creditNoteNumber: nullable(text),
  /** Compact JWS of what it says. */
  signed: text,
  createdAt: instant,
})
export type TaxDocument = RowOf<typeof taxDocuments>

export const totalOf = ({
  taxablePaise,
  cgstPaise,
  sgstPaise,
  igstPaise,
}: Pick<TaxDocument, 'taxablePaise' | 'cgstPaise' | 'sgstPaise' | 'igstPaise'>): bigint =>
  taxablePaise + cgstPaise + sgstPaise + igstPaise

/** The parts of a tax document, in the order of the accounts of fees. */
export const PARTS = ['taxablePaise', 'cgstPaise', 'sgstPaise', 'igstPaise'] as const
export type Part = (typeof PARTS)[number]

/** What of a debit note was not payable to its merchant any more, and is an advance. */
export const advancedOfNote = (of: string): string =>
  `coalesce((select sum(t.amount)::bigint from ledger_transfers t where t.tenant_id = ${of}.merchant_id
     and t.object_id = ${of}.document_id and split_part(t.debit_account_id, ':', 1) = 'merchant_advances'), 0)`

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
  ...(document.creditNoteNumber !== null && { creditNoteNumber: document.creditNoteNumber }),
})

/** What a document says, as a compact JWS that anyone can verify with the published keys. */
export const signedDocument = (document: Unsigned, keyring: Keyring): string =>
  signed(keyring, 'svc-tax-document', stated(document))

const Rupees = (description: string) =>
  Type.String({ description: `Rupees with two decimals: ${description}`, pattern: '^\\d+\\.\\d{2}$' })
const Party = (title: string, whose: string) =>
  Type.Object(
    {
      legalName: Type.String({ description: `As ${whose} is registered` }),
      address: Type.String(),
      gstin: Type.Optional(Type.String({ description: 'Absent where there is none' })),
      state: Type.String({ description: 'GST state code' }),
    },
    { title, additionalProperties: false },
  )

/** An invoice, credit note or debit note, as the API and events have it: what is signed, without what has no value. */
export const TaxDocumentRecord = Type.Object(
  {
    documentId: Type.String(),
    number: Type.String({ description: 'Without gaps within a series and financial year' }),
    kind: Type.Enum([...TAX_DOCUMENT_KINDS]),
    issueDate: Type.String({ description: '`YYYY-MM-DD`' }),
    period: Type.String({ description: 'The month whose fees it is of, `YYYY-MM`' }),
    supplier: Party('TaxSupplier', 'the company that runs the service'),
    recipient: Party('TaxRecipient', 'the merchant'),
    placeOfSupply: Type.String({ description: 'As returns name it, such as `27-Maharashtra`' }),
    sac: Type.String({ description: 'Services accounting code' }),
    count: Type.Integer({ description: 'Payments that were charged' }),
    taxableValue: Rupees('fees'),
    rate: Type.String({ description: 'Percent with two decimals' }),
    cgst: Rupees('central GST'),
    sgst: Rupees('state GST'),
    igst: Rupees('integrated GST'),
    total: Rupees('fees and GST'),
    originalNumber: Type.Optional(Type.String({ description: 'Of a credit or debit note: the invoice' })),
    creditNoteNumber: Type.Optional(
      Type.String({ description: 'Of a debit note: the credit note that it takes back, whole' }),
    ),
    signed: Type.String({ description: 'Compact JWS of it; verify it with the published keys' }),
  },
  { title: 'TaxDocument', additionalProperties: false },
)

const partyToWire = ({ gstin, ...party }: TaxParty) => ({ ...party, ...(gstin !== null && { gstin }) })

export function taxDocumentToRecord(document: TaxDocument) {
  const { originalNumber, recipient, supplier, ...rest } = stated(document)
  return {
    ...rest,
    signed: document.signed,
    supplier: partyToWire(supplier),
    recipient: partyToWire(recipient),
    ...(originalNumber !== null && { originalNumber }),
  }
}

/** Notifies the merchant of a document. */
export const issuedEvent = (document: TaxDocument, eventId: string): OutboxEvent => ({
  eventId,
  tenantId: document.merchantId,
  type: 'tax_document.issued',
  objectId: document.documentId,
  payload: taxDocumentToRecord(document),
  createdAt: document.createdAt,
})

/** Ids are opaque: whatever looks like none is not there. */
export const looksLikeTaxDocumentId = (id: string): boolean => /^txd_[0-9a-z]{26}$/.test(id)
