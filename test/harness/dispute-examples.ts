import { type Client, payloadOf } from './client.ts'
import { newDispute } from './disputes.ts'
import type { Recorder } from './recorder.ts'
import type { TestService } from './service.ts'

const PDF = { 'content-type': 'application/pdf' }

interface Disputed {
  readonly service: TestService
  readonly shop: Client
  readonly paymentId: string
}

/** Examples of disputes of a payment. */
export async function recordDisputes(
  recorder: Recorder,
  { service, shop, paymentId }: Disputed,
): Promise<void> {
  const { amount, utr } = payloadOf(await shop.get(`/api/v0/payments/${paymentId}`))
  const notice = { caseReference: 'UDIR2026040100017', utr, amount: 1, reason: 'Goods not received' }
  const opened = await recorder.works('receiveDispute', 'The payer disputes a part', service.client, {
    body: { ...notice, respondBy: '2030-04-08T00:00:00+05:30' },
  })
  const first = payloadOf(opened).disputeId
  const second = await newDispute(service, paymentId, { caseReference: 'UDIR2026040100018' })
  const params = { disputeId: first }
  const upload = { params, query: { name: 'delivery-note.pdf' }, headers: PDF, body: '%PDF-1.7 …' }
  const uploaded = payloadOf(await recorder.works('uploadAttachment', 'A delivery note', shop, upload))
  const { attachmentId } = uploaded
  const body = {
    evidence: 'Delivered on 3 April, signed by the recipient',
    attachmentIds: [attachmentId],
  }
  await recorder.works('submitEvidence', 'Proof of delivery', shop, { params, body })
  await recorder.fails('submitEvidence', 'attachment_in_use', 'The same file, with other words', shop, {
    params,
    body: { ...body, evidence: 'Another text' },
  })
  await recorder.works('listEvidence', 'Not sent yet', shop, { params })
  const file = { params: { ...params, attachmentId } }
  await recorder.works('downloadAttachment', 'The delivery note', shop, file)
  await recorder.fails('downloadAttachment', 'attachment_not_found', 'Not there, or not yours', shop, {
    params: { ...params, attachmentId: 'att_nothing' },
  })
  await recorder.works('acceptDispute', 'The payer is right', shop, {
    params: { disputeId: second },
    body: {},
  })
  await recorder.fails('submitEvidence', 'dispute_closed', 'After it was accepted', shop, {
    params: { disputeId: second },
    body: { evidence: 'Delivered after all' },
  })
  await recorder.works('listDisputes', 'Newest first', shop, {})
  await recorder.works('getDispute', 'One dispute', shop, { params })
  await recorder.works('receiveSettlement', 'A payment less the charge of the bank', service.client, {
    body: {
      batchUtr: 'HDFCN526001',
      valueDate: '2026-04-02',
      netAmount: (amount - 1.18).toFixed(2),
      lines: [
        { kind: 'payment', reference: utr, amount, date: '2026-04-01' },
        { kind: 'charge', amount: '-1.00' },
        { kind: 'charge_gst', amount: '-0.18' },
      ],
    },
  })
  const none = { params: { disputeId: 'dsp_nothing' } }
  await recorder.fails('getDispute', 'dispute_not_found', 'Not there, or not yours', shop, none)
}
