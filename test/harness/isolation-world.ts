import { OPERATIONS } from '@svc/server/operations'
import { done, encryptOrder, upload } from './bulk.ts'
import { type ApiResponse, type Client, type Json, payloadOf } from './client.ts'
import { COINS } from './coins.ts'
import { newRefundAndDispute } from './disputes.ts'
import { newHooks } from './hooks.ts'
import { newFirstInvoice } from './invoices.ts'
import { type Ids, ROWS } from './isolation-rows.ts'
import { asPartner, createCard, newPartner, type TestPartner } from './partner.ts'
import { giveAccount } from './payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from './qr-codes.ts'
import type { TestService } from './service.ts'

/** Ids that the service draws, and names that a tenant gives and another one may give too. */
export const IDS = new Set([
  'qrCodeId',
  'paymentId',
  'refundId',
  'attachmentId',
  'payoutId',
  'documentId',
  'svcCardId',
  'jobId',
  'coinConfigId',
  'spendRuleId',
  'allocationId',
  'userId',
  'companyId',
  'cardAccountId',
  'endpointId',
  'eventId',
])
export const NAMES = new Set(['referenceNumber', 'customerId', 'requestId', 'event'])

export interface Tenant {
  readonly client: Client
  readonly ids: Ids
  readonly partner?: TestPartner
}

export async function newMerchantTenant(service: TestService): Promise<Tenant> {
  const merchant = await service.newMerchant()
  const client = await service.as(merchant)
  await giveAccount(service, merchant.merchantId)
  const names = { referenceNumber: `ref-${newUtr()}`, customerId: `cus-${newUtr()}` }
  const code = await newCode(service, client, { multipleUse: true, ...names })
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(code.tr)))
  const taken = await newRefundAndDispute(service, client, paymentId)
  const { attachmentId } = payloadOf(
    await client.send(
      'POST',
      `/api/v0/disputes/${taken.disputeId}/attachments?name=note.pdf`,
      Buffer.from(`%PDF-1.7 ${merchant.merchantId}`),
      { 'content-type': 'application/pdf' },
    ),
  )
  const { payoutId } = payloadOf(await client.post('/sandbox/payouts', {}))
  const { documentId } = await newFirstInvoice(service, { ...merchant, tr: code.tr })
  const ids = { qrCodeId: code.qrCodeId, paymentId, payoutId, documentId, attachmentId, ...taken, ...names }
  return { client, ids: { ...ids, ...(await newHooks(client)) } }
}

export async function newPartnerTenant(
  service: TestService,
  products: readonly ('incentive' | 'employee_rewards')[],
): Promise<Tenant> {
  const partner = await newPartner(service, { products })
  const client = await asPartner(service.client, partner)
  const { companyId, cardAccountId, userId } = partner
  const referenceNumber = `ref-${newUtr()}`
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: 100, referenceNumber }))
  const { jobId } = payloadOf(await upload(client, [JSON.stringify(await encryptOrder(partner))]))
  await done(client, jobId)
  const rule = { name: 'Up to 500', svcCardId, dayAmount: 500 }
  const { spendRuleId } = payloadOf(await client.post('/api/v0/partner/spend-rules', rule))
  const [event, requestId] = [`event.${newUtr()}`, `req-${newUtr()}`]
  const { coinConfigId } = payloadOf(await client.post(COINS, { event, amount: 3, title: 'Hello' }))
  payloadOf(await client.post(`${COINS}/allocate`, { requestId, event, userId, companyId }))
  const { allocationId } = payloadOf(
    await client.post(`${COINS}/allocate`, { requestId: `${requestId}/2`, event, userId, companyId }),
  )
  // An allocation is voided once: whatever is asked of it afterwards is refused for any id of a request.
  const path = `${COINS}/allocations/${allocationId}/void`
  payloadOf(await client.post(path, { requestId, reason: 'returned' }))
  const names = { event, requestId, referenceNumber }
  const made = { svcCardId, spendRuleId, jobId, coinConfigId, allocationId }
  const ids = { companyId, cardAccountId, userId, ...made, ...names }
  return { client, partner, ids: { ...ids, ...(await newHooks(client)) } }
}

// What deletes goes last, so that the others find what they ask for.
export const rowsToSend = OPERATIONS.filter(({ id }) => typeof ROWS[id] === 'function').sort(
  (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
)
/** An id of the same form that does not exist. */
export const unknown = (id: string): string => id.replace(/.{20}$/, (end) => [...end].reverse().join(''))

/** What any two answers may differ in: ids drawn for it, times, secrets, counters, and the ids that were requested. */
export const masked = ({ status, text, headers }: ApiResponse, ...requestedIds: string[]) => ({
  status,
  names: Object.keys(headers).sort(),
  text: requestedIds
    .reduce((rest, id) => rest.replaceAll(id, '<requested>'), text)
    .replace(/[a-z]{2,4}_[0-9a-z]{26}/g, '<id>')
    .replace(/\b\d{6}XXXXXX\d{4}\b/g, '<number>')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.+:\d]*/g, '<time>')
    .replace(/"(?:qrCodeBase64|upiUri)":"[^"]+"/g, '')
    .replace(/whsec_[^"]+|"(?:sequence|balance)":\d+/g, ''),
})

/** Where an operation takes ids: found in its schemas, so that a new field is in the matrix by itself. */
export function placesOf({ path, body, query }: (typeof OPERATIONS)[number]): string[] {
  const fields = [body, query].flatMap((schema) => Object.keys((schema as Json)?.properties ?? {}))
  const params = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  return [...params, ...fields].filter((name) => IDS.has(name) || NAMES.has(name))
}
