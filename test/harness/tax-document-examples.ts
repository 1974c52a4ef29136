import type { Client } from './client.ts'
import { newFirstInvoice } from './invoices.ts'
import { newCode } from './qr-codes.ts'
import type { Recorder } from './recorder.ts'
import type { TestMerchant, TestService } from './service.ts'

interface Invoiced {
  readonly service: TestService
  readonly merchant: TestMerchant
  readonly shop: Client
}

/** Examples of an invoice of the month before. */
export async function recordTaxDocuments(
  recorder: Recorder,
  { service, merchant: { merchantId }, shop }: Invoiced,
): Promise<void> {
  const { tr } = await newCode(service, shop, { multipleUse: true })
  const { documentId } = await newFirstInvoice(service, { merchantId, tr })
  await recorder.works('listTaxDocuments', 'Newest first', shop, {})
  await recorder.works('getTaxDocument', 'An invoice', shop, { params: { documentId } })
  await recorder.works('getTaxDocumentPdf', 'As a file', shop, { params: { documentId } })
  const none = { params: { documentId: 'txd_nothing' } }
  for (const id of ['getTaxDocument', 'getTaxDocumentPdf'])
    await recorder.fails(id, 'tax_document_not_found', 'Not there, or not yours', shop, none)
}
