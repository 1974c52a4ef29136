import { fail } from '@svc/contract/errors'
import { GSTR1_SECTIONS, gstr1 } from '@svc/core/payments/fees/gstr1'
import { listTaxDocuments } from '@svc/core/payments/fees/issue-invoices'
import { issueMonth } from '@svc/core/payments/fees/issue-month'
import { TaxDocumentRecord, taxDocumentToRecord } from '@svc/core/payments/fees/tax-document'
import { CSV_MEDIA_TYPE, csvLine } from '@svc/kernel/csv'
import { recordAudit } from '@svc/platform/audit'
import { query } from '@svc/server/http/operation'
import { findRow, listOf, showOf } from '@svc/server/http/resource'
import {
  type ListedTaxDocument,
  readMonth,
  taxDocument,
  taxDocumentWriter,
} from '@svc/server/payments/tax-documents'
import { pdfOperation } from '@svc/server/statements/pdf-operation'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, exact, idParam, record } from '../console-schema.ts'

const TAG = 'Tax documents'
const PATH = `${CONSOLE_API}/tax-documents`
const Month = (description: string) => Type.String({ minLength: 7, maxLength: 7, description })

export const IssuedDocuments = record('IssuedTaxDocuments', {
  data: Type.Array(TaxDocumentRecord, { description: 'The documents that are new' }),
})

export const listTaxDocumentsInConsole = listOf<ListedTaxDocument>(taxDocument, {
  ...consoleOperation,
  id: 'console.listTaxDocuments',
  path: PATH,
  tag: TAG,
  summary: 'List invoices and credit notes',
  permission: 'view',
})

export const showTaxDocument = showOf<ListedTaxDocument>(taxDocument, {
  ...consoleOperation,
  id: 'console.showTaxDocument',
  path: `${PATH}/:documentId`,
  tag: TAG,
  summary: 'Show tax document',
  permission: 'view',
  params: idParam('documentId'),
  errors: ['tax_document_not_found'],
  notFound: () => fail('tax_document_not_found'),
})

export const issueTaxDocuments = query({
  ...consoleOperation,
  id: 'console.issueTaxDocuments',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Issue the invoices of a month that is over',
  description:
    'One for each merchant, of the fees that are in none; fees of the month are entered first. A repeat issues only what was found since.',
  permission: 'finance',
  takesLong: true,
  body: closed({
    month: Month('The month of the fees, `YYYY-MM`'),
    merchantId: exact('Only to this merchant'),
  }),
  result: IssuedDocuments,
  errors: ['period_not_over', 'supplier_not_set', 'business_day_not_over'],
  mount(services) {
    return async ({ body, caller, requestId }) => {
      const by = { actor: actorOf(caller), requestId }
      const wanted = { month: readMonth(body.month), merchantId: body.merchantId, by }
      const data = (await issueMonth(services, wanted)).map(taxDocumentToRecord)
      return { body: JSON.stringify({ data }) }
    }
  },
})

export const showTaxDocumentPdf = pdfOperation(
  {
    ...consoleOperation,
    id: 'console.showTaxDocumentPdf',
    path: `${PATH}/:documentId/document.pdf`,
    tag: TAG,
    summary: 'Get invoice or credit note as PDF',
    permission: 'view',
    params: idParam('documentId'),
    errors: ['tax_document_not_found'],
  },
  async (services, input) => {
    const { documentId } = input.params
    const document = await asOperator(services, input, async (tx) => {
      const row = await findRow<ListedTaxDocument>(tx, taxDocument, { reader: 'operator' }, documentId)
      recordAudit(tx, [{ action: 'tax_document.exported', target: documentId }])
      return row ?? fail('tax_document_not_found')
    })
    return { document, now: new Date(services.clock.now()) }
  },
  taxDocumentWriter,
)

export const showTaxReturn = query({
  ...consoleOperation,
  id: 'console.showTaxReturn',
  method: 'GET',
  path: `${CONSOLE_API}/tax-returns/:month/:section`,
  tag: TAG,
  summary: 'Get a section of the return of outward supplies as CSV',
  description: 'With the columns of the tax office’s offline tool, of documents that are dated in the month.',
  permission: 'view',
  params: Type.Object({
    month: Month('`YYYY-MM`'),
    section: Type.Enum([...GSTR1_SECTIONS]),
  }),
  result: Type.String({ description: 'CSV (RFC 4180)' }),
  produces: CSV_MEDIA_TYPE,
  errors: [],
  mount(services) {
    return async (input) => {
      const { month, section } = input.params
      const datedIn = readMonth(month, 'month', 'query')
      const documents = await asOperator(services, input, async (tx) => {
        recordAudit(tx, [{ action: 'tax_return.exported', target: `${month} ${section}` }])
        return listTaxDocuments(tx, { datedIn })
      })
      const rows = gstr1(section, documents)
      const names = Object.keys(rows[0] ?? {})
      const lines = rows.map((row) => csvLine(names.map((name) => row[name])))
      return {
        headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` },
        body: rows.length === 0 ? '' : [csvLine(names), ...lines].join(''),
      }
    }
  },
})
