import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import {
  looksLikeTaxDocumentId,
  TAX_DOCUMENT_KINDS,
  type TaxDocument,
  TaxDocumentRecord,
  taxDocuments,
  taxDocumentToRecord,
} from '@svc/core/payments/fees/tax-document'
import { isDay } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { Type } from 'typebox'
import { listWithCsv } from '../http/list-csv.ts'
import { tenantOperations } from '../http/operation.ts'
import {
  choiceFilter,
  exactFilter,
  findRow,
  idFilter,
  merchantNameOf,
  type Resource,
  showOf,
} from '../http/resource.ts'
import { pdfOperation } from '../statements/pdf-operation.ts'

const PATH = '/api/v0/tax-documents'
const ofTaxDocuments = tenantOperations({
  tag: 'Tax documents',
  auth: 'merchant',
  envelope: 'response_code',
})
const Params = Type.Object({ documentId: Type.String({ description: 'The id of the document' }) })

/** A tax document, and for operators whose it is. */
export type ListedTaxDocument = TaxDocument & { readonly merchantName: string }

/** Reads a month in the field of this name; 400 when it is none. */
export const readMonth = (month: string, name = 'month', where: 'body' | 'query' = 'body'): string =>
  isDay(`${month}-01`) ? month : failField(name, 'format', 'must be a month, such as 2026-04', where)

/** Invoices of fees and credit notes, as every reader sees and finds them. */
export const taxDocument = {
  titles: { tenant: 'TaxDocument', operator: 'TaxDocumentRow' },
  record: { schema: TaxDocumentRecord, toWire: taxDocumentToRecord },
  looksLikeId: looksLikeTaxDocumentId,
  from: { columns: taxDocuments.columns, table: 'tax_documents d', alias: 'd' },
  operatorFrom: merchantNameOf('d'),
  tenant: 'd.merchant_id',
  keys: [{ sql: 'd.document_id', type: 'text' }],
  fields: {
    merchantId: { schema: Type.String(), of: ({ merchantId }) => merchantId, operatorOnly: true },
    merchantName: { schema: Type.String(), of: ({ merchantName }) => merchantName, operatorOnly: true },
  },
  filters: {
    merchantId: { schema: idFilter('Of this merchant'), sql: 'd.merchant_id = ?', operatorOnly: true },
    kind: { schema: choiceFilter(TAX_DOCUMENT_KINDS), sql: 'd.kind = ?' },
    number: { schema: exactFilter('The number of the document'), sql: 'd.number = ?' },
    originalNumber: {
      schema: exactFilter('Credit and debit notes for the invoice of this number'),
      sql: 'd.original_number = ?',
    },
    period: {
      schema: exactFilter('Of fees of this month, `YYYY-MM`', 7),
      sql: (filters, month) => filters.add('d.month = ?::date', `${readMonth(month, 'period', 'query')}-01`),
    },
  },
} satisfies Resource<ListedTaxDocument>

/** Not in the specification (decision R24). */
export const listTaxDocuments = listWithCsv<ListedTaxDocument>(taxDocument, {
  ...ofTaxDocuments('payouts:read'),
  id: 'listTaxDocuments',
  path: PATH,
  summary: 'List tax documents',
  description:
    'Invoices of the fees of each month, credit notes and debit notes. Newest first; pass `next` back as `after` for the next page.',
})

/** Not in the specification (decision R24). */
export const getTaxDocument = showOf<ListedTaxDocument>(taxDocument, {
  ...ofTaxDocuments('payouts:read'),
  id: 'getTaxDocument',
  path: `${PATH}/:documentId`,
  summary: 'Get tax document',
  params: Params,
  errors: ['tax_document_not_found'],
  notFound: () => fail('tax_document_not_found'),
})

export const taxDocumentWriter = async () =>
  (await import('../statements/tax-document-pdf.ts')).taxDocumentPdf

/** Not in the specification (decision R24). */
export const getTaxDocumentPdf = pdfOperation(
  {
    ...ofTaxDocuments('payouts:read'),
    id: 'getTaxDocumentPdf',
    path: `${PATH}/:documentId/pdf`,
    summary: 'Get tax document as PDF',
    description: 'With the particulars of CGST rules 46 and 53.',
    params: Params,
    errors: ['tax_document_not_found'],
  },
  async ({ clock, database }, { caller: { tenantId }, params: { documentId } }) => {
    const scope = { reader: 'tenant', tenantId } as const
    const find = (tx: Tx) => findRow<ListedTaxDocument>(tx, taxDocument, scope, documentId)
    const document = (await database.read([tenantId], find)) ?? fail('tax_document_not_found')
    return { document, now: new Date(clock.of(tenantId).now()) }
  },
  taxDocumentWriter,
)
