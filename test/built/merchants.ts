import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { handedOver, refusesToShow } from '../harness/handed-over.ts'
import { type Live, RAIL_KEY } from '../harness/live.ts'
import { creditOf } from '../harness/qr-codes.ts'
import { AS_RAVI } from './administration.ts'

export interface LiveMerchant {
  readonly merchantId: string
  readonly apiKey: string
  readonly client: Client
}

/** Of the rail's notice of a payment. */
export const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'

/** A merchant of the command line, with a webhook endpoint of the receiver and a token. */
export async function newMerchant({ svc, receiver }: Live, client: Client): Promise<LiveMerchant> {
  const plan = ['--name', 'Corner Shop', '--vpa', 'corner.shop@bank', '--mcc', '5411']
  const created = await svc(['admin', 'merchant', 'create', ...plan])
  expect(created).not.toHaveProperty('credential')
  const { merchantId } = created.merchant
  const { secret: apiKey } = (await handedOver({ svc }, client, merchantId)).credential
  const response = await client.post('/api/v0/merchant/token', undefined, { 'api-key': apiKey })
  expect(response.status, response.text).toBe(200)
  const merchant = client.with({ authorization: `Bearer ${response.json.token}` })
  const { secret } = payloadOf(
    await merchant.post('/api/v0/webhook-endpoints', { url: receiver.url(merchantId) }),
  )
  receiver.expect(merchantId, secret)
  return { merchantId, apiKey, client: merchant }
}

/** A code that is paid, and cancelled; then what comes for it goes back to the payer. */
export async function sellWithCodes(
  { folder, server, svc }: Live,
  { client, merchantId }: LiveMerchant,
): Promise<void> {
  const order = { qrName: 'Order 1042', multipleUse: true, referenceNumber: 'order-1042' }
  const key = { 'idempotency-key': 'order-1042' }
  const made = await client.post('/api/v0/qr-code', order, key)
  const { qrCodeId } = payloadOf(made)
  expect((await client.post('/api/v0/qr-code', order, key)).text).toBe(made.text)
  const path = `/api/v0/qr-code/${qrCodeId}`
  expect(payloadOf(await client.get(path)).qrCodeBase64).toMatch(/^iVBOR/)
  const [row] = await server.query<{ tr: string }>('select tr from qr_codes where qr_code_id = $1', [
    qrCodeId,
  ])
  const credit = creditOf(row!.tr, { amount: 75 })
  const notify = (notice: object, caller = client) => caller.notify('/rails/upi/credits', notice, RAIL_KEY)
  const traced = client.with({ traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` })
  expect(payloadOf(await notify(credit, traced))).toMatchObject({ status: 'ACCEPTED' })
  expect(payloadOf(await client.get(`${path}/payments`)).data).toHaveLength(1)
  expect(payloadOf(await client.post('/api/v0/qr-code/search', {})).data).toHaveLength(1)
  const [{ paymentId }] = payloadOf(await client.get('/api/v0/payments?referenceNumber=order-1042')).data
  payloadOf(await client.get(`/api/v0/payments/${paymentId}`))
  const logged = async () => payloadOf(await client.get('/api/v0/requests?operation=createQrCode')).data
  await expect.poll(logged, { timeout: 30_000 }).toMatchObject([{ status: 200 }, { status: 200 }])
  await refundInPart({ folder, svc }, { client, merchantId, paymentId })
  await disputeInPart({ folder, svc }, { client, merchantId, paymentId })
  const [{ tr: listed }] = await svc(['admin', 'qr-code', 'list', merchantId, '--limit', '1'])
  expect(await svc(['admin', 'qr-code', 'show', listed])).toMatchObject({ merchantId, tr: listed })
  await svc(['admin', 'payments', 'list', merchantId])
  await svc(['admin', 'payments', 'show', paymentId])
  expect((await notify({ ...credit, amount: 'seventy-five', utr: undefined })).status).toBe(202)
  const [{ noticeId }] = await svc(['admin', 'notice', 'list'])
  await svc(['admin', 'notice', 'show', noticeId])
  await svc(['admin', 'notice', 'assign', noticeId, '--utr', 'BYHAND0001', '--amount', '75', '--tr', row!.tr])
  const { payload } = (await notify({ message: 'a test of the connection' })).json
  await svc(['admin', 'notice', 'dismiss', payload.noticeId, '--reason', 'the bank tests'])
  await svc(['admin', 'notice', 'reopen', payload.noticeId, '--reason', 'it was no test'])
  payloadOf(await client.patch(`${path}/cancel`, {}))
  const late = creditOf(row!.tr)
  expect(payloadOf(await notify(late))).toMatchObject({ status: 'REFUND_PENDING' })
  const refund = await client.notify('/rails/upi/refunds', { utr: late.utr }, RAIL_KEY)
  expect(payloadOf(refund)).toMatchObject({ status: 'REFUNDED' })
}

/** A dispute that the merchant contests and wins, and one that it accepts. */
async function disputeInPart(
  { folder, svc }: Pick<Live, 'folder' | 'svc'>,
  { client, merchantId, paymentId }: Pick<LiveMerchant, 'client' | 'merchantId'> & { paymentId: string },
): Promise<void> {
  const { utr } = payloadOf(await client.get(`/api/v0/payments/${paymentId}`))
  const dispute = async (caseReference: string): Promise<string> =>
    payloadOf(await client.notify('/rails/upi/disputes', { caseReference, utr, amount: 2 }, RAIL_KEY))
      .disputeId
  const [contested, accepted] = [await dispute('UDIRLIVE01'), await dispute('UDIRLIVE02')]
  const path = '/api/v0/disputes'
  const pdf = Buffer.from('%PDF-1.7 signed by the recipient')
  const uploading = `${path}/${contested}/attachments?name=note.pdf`
  const { attachmentId } = payloadOf(
    await client.send('POST', uploading, pdf, { 'content-type': 'application/pdf' }),
  )
  const given = { evidence: 'Delivered', attachmentIds: [attachmentId] }
  payloadOf(await client.post(`${path}/${contested}/evidence`, given))
  expect((await client.get(`${path}/${contested}/attachments/${attachmentId}`)).text).toBe(String(pdf))
  const letter = join(folder, 'letter.pdf')
  await writeFile(letter, '%PDF-1.7 of the customer')
  await svc(['admin', 'dispute', 'submit', contested, '--evidence', 'A letter', '--attach', letter])
  const asked = await svc(['admin', 'dispute', 'ask', contested, '--for', 'The delivery note'])
  expect(asked.evidenceRequest).toBe('The delivery note')
  const { runId } = await svc(['admin', 'dispute', 'export', join(folder, 'evidence')])
  expect(
    (await svc(['admin', 'dispute', 'export', join(folder, 'again'), '--run', runId])).submissions,
  ).toHaveLength(2)
  await svc(['admin', 'dispute', 'receipt', contested, 'NPCI0001'])
  expect(payloadOf(await client.get(`${path}/${contested}/evidence`)).data).toMatchObject([
    { receipt: 'NPCI0001', attachments: [{ name: 'note.pdf' }] },
    { receipt: 'NPCI0001', attachments: [{ name: 'letter.pdf' }] },
  ])
  expect(payloadOf(await client.post(`${path}/${accepted}/accept`, {})).status).toBe('ACCEPTED')
  await svc(['admin', 'dispute', 'close', contested, '--outcome', 'WON'])
  expect(await svc(['admin', 'dispute', 'show', contested])).toMatchObject({ status: 'WON' })
  expect(await svc(['admin', 'dispute', 'list', merchantId])).toHaveLength(2)
  expect(payloadOf(await client.get(path)).data).toHaveLength(2)
  expect(payloadOf(await client.get(`${path}/${accepted}`)).status).toBe('ACCEPTED')
}

/** A refund that goes to the bank in a file, and two whose outcome an operator enters. */
async function refundInPart(
  { folder, svc }: Pick<Live, 'folder' | 'svc'>,
  { client, merchantId, paymentId }: Pick<LiveMerchant, 'client' | 'merchantId'> & { paymentId: string },
): Promise<void> {
  const path = `/api/v0/payments/${paymentId}/refunds`
  const refund = async (referenceNumber: string): Promise<string> =>
    payloadOf(await client.post(path, { amount: 5, referenceNumber })).refundId
  const ids = [await refund('return-1'), await refund('return-2'), await refund('return-3')] as const
  expect(await svc(['admin', 'refund', 'export'])).toHaveLength(3)
  const [{ runId }] = await svc(['admin', 'refund', 'runs'])
  expect(await svc(['admin', 'refund', 'export', '--run', runId])).toHaveLength(3)
  const notice = { refundId: ids[0], status: 'REFUNDED', utr: 'RETURN0001' }
  expect(payloadOf(await client.notify('/rails/upi/refunds', notice, RAIL_KEY)).status).toBe('REFUNDED')
  const transfer = { batchUtr: 'HDFCLIVE0001', valueDate: new Date().toISOString() }
  const lines = [{ kind: 'refund', reference: 'RETURN0001', amount: -5 }]
  const settled = await client.notify('/rails/upi/settlements', { ...transfer, lines }, RAIL_KEY)
  expect(payloadOf(settled)).toMatchObject({ status: 'POSTED', matched: 1 })
  const responses = join(folder, 'refunds.csv')
  await writeFile(responses, `refundId,status,utr\n${ids[1]},REFUNDED,RETURN0002\n`)
  expect(await svc(['admin', 'refund', 'import', responses])).toMatchObject([{ result: 'REFUNDED' }])
  await svc(['admin', 'refund', 'confirm', ids[1], '--utr', 'RETURN0002'])
  // It was sent, so that a second person confirms that it did not arrive.
  const { approvalId } = await svc(['admin', 'refund', 'fail', ids[2], '--reason', 'account closed'])
  await svc(['admin', 'approval', 'approve', approvalId], '', AS_RAVI)
  expect(await svc(['admin', 'refund', 'list', merchantId])).toHaveLength(3)
  expect(await svc(['admin', 'refund', 'show', ids[2]])).toMatchObject({ status: 'FAILED' })
  expect(payloadOf(await client.get(path)).data).toHaveLength(3)
  expect(payloadOf(await client.get('/api/v0/refunds?status=FAILED')).data).toMatchObject([
    { refundId: ids[2] },
  ])
  expect(payloadOf(await client.get(`${path}/${ids[0]}`)).utr).toBe('RETURN0001')
}

/** Endpoints by the API, and the feed that they are told from. */
export async function followEvents(live: Live, { merchantId, client }: LiveMerchant): Promise<void> {
  const { receiver, server } = live
  const [row] = await server.query<{ events: number }>(
    `select count(*)::int as events from outbox where tenant_id = $1
       and created_at > (select min(created_at) from webhook_endpoints where tenant_id = $1)`,
    [merchantId],
  )
  // All of them since the first endpoint, so that none reaches the endpoint below.
  await expect.poll(() => receiver.received.get(merchantId)!.size, { timeout: 60_000 }).toBe(row!.events)
  const all = '/api/v0/webhook-endpoints'
  const { endpointId, secret } = payloadOf(await client.post(all, { url: receiver.url('second') }))
  receiver.expect('second', secret)
  const path = `${all}/${endpointId}`
  expect(payloadOf(await client.get(all)).data).toHaveLength(2)
  payloadOf(await client.get(path))
  const { data } = payloadOf(await client.get('/api/v0/events?after=0'))
  await expect
    .poll(async () => payloadOf(await client.get('/api/v0/events/head')).size, { timeout: 60_000 })
    .toBeGreaterThan(0)
  payloadOf(await client.get('/api/v0/events/leaves'))
  payloadOf(await client.get(`/api/v0/events/${data[0].id}/proof`))
  payloadOf(await client.get('/api/v0/events/consistency?from=1'))
  payloadOf(await client.post(`${path}/resend`, { eventId: data[0].id }))
  await expect.poll(() => receiver.received.get('second')!.size, { timeout: 60_000 }).toBe(1)
  const attempts = async () => payloadOf(await client.get(`${path}/attempts`)).data
  await expect.poll(attempts, { timeout: 60_000 }).toHaveLength(1)
  const [from, to] = [data[0].createdOn, new Date().toISOString()]
  payloadOf(await client.post(`${path}/replay`, { from, to }))
  payloadOf(await client.post(`${path}/rotate-secret`, { graceSeconds: 3600 }))
  payloadOf(await client.patch(path, { enabled: false }))
  expect((await client.send('DELETE', path)).status).toBeLessThan(300)
  expect(receiver.forged).toBe(0)
}

/** A stream of events that has sent its first one; returns what waits for its end. */
export async function openStream({
  client,
  apiKey,
}: Pick<LiveMerchant, 'client' | 'apiKey'>): Promise<() => Promise<void>> {
  const { token } = (await client.post('/api/v0/merchant/token', undefined, { 'api-key': apiKey })).json
  const response = await fetch(`${client.baseUrl}/api/v0/events/stream?after=0`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(response.status).toBe(200)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ''; !text.includes('\ndata:'); ) text += (await reader.read()).value
  return async () => {
    while (!(await reader.read()).done);
  }
}

/** The stream of a key ends when the key is revoked. */
export async function loseStream({ svc }: Live, { merchantId, client }: LiveMerchant): Promise<void> {
  await refusesToShow(svc, ['admin', 'key', 'issue', merchantId, '--name', 'till 2'])
  const { credential } = await handedOver({ svc }, client, merchantId)
  const streamEnded = await openStream({ client, apiKey: credential.secret })
  await svc(['admin', 'key', 'revoke', merchantId, credential.credentialId])
  await streamEnded()
}
