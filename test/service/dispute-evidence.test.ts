import { eraseAttachments } from '@svc/core/payments/disputes/erase-attachments'
import { signedAtMs } from '@svc/server/http/notice-signature'
import { EvidenceSender } from '@svc/server/payments/evidence-sender'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { closeAs, newDispute } from '../harness/disputes.ts'
import { memberBrowser } from '../harness/portal.ts'
import { brokenIn, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, RAIL_KEY, type TestService } from '../harness/service.ts'
import { type Received, WebhookReceiver } from '../harness/webhook-receiver.ts'

const TIMEOUT_MS = 300

/** Where evidence goes in files, and where the bank is called. */
let filed: TestService
let called: TestService
let bank: WebhookReceiver
/** What the bank has, by the id under which it was sent. */
const taken = new Map<string, string>()
beforeAll(async () => {
  bank = await WebhookReceiver.open()
  filed = await openService({ background: false })
  const env = {
    DISPUTE_EVIDENCE_URL: bank.url('/evidence'),
    DISPUTE_EVIDENCE_TIMEOUT_MS: String(TIMEOUT_MS),
  }
  called = await openService({ background: false, env })
})
afterAll(async () => {
  await Promise.all([filed.close(), called.close(), bank.close()])
})

/** The bank stores a submission once, and names it by the same receipt each time. */
function receipt({ event }: Received): string {
  const { evidenceId } = event
  const known = taken.get(evidenceId) ?? `NPCI${taken.size + 1}`
  taken.set(evidenceId, known)
  return JSON.stringify({ receipt: known })
}
const respond = (request: Received, response: Parameters<WebhookReceiver['response']>[1]) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(receipt(request))
beforeEach(() => {
  taken.clear()
  bank.received.length = 0
  bank.response = respond
})

const PDF = Buffer.from('%PDF-1.7 signed by the recipient')
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('a picture')])
const JPEG = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.from('a photo')])
const AS_BYTES = { 'content-type': 'application/octet-stream' }

const upload = (client: Client, disputeId: string, content: Buffer, name = 'note.pdf') =>
  client.send(
    'POST',
    `/api/v0/disputes/${disputeId}/attachments?name=${encodeURIComponent(name)}`,
    content,
    AS_BYTES,
  )
const submit = (client: Client, disputeId: string, evidence: string, attachmentIds?: readonly string[]) =>
  client.post(`/api/v0/disputes/${disputeId}/evidence`, { evidence, attachmentIds })
const disputeOf = async (client: Client, disputeId: string) =>
  payloadOf(await client.get(`/api/v0/disputes/${disputeId}`))
const evidenceOf = async (client: Client, disputeId: string) =>
  payloadOf(await client.get(`/api/v0/disputes/${disputeId}/evidence`)).data

interface Contested {
  readonly shop: Shop
  readonly disputeId: string
  readonly evidenceId: string
}
/** A dispute with evidence and one file. */
async function contested(on: TestService): Promise<Contested> {
  const shop = await shopWith(on, 100)
  const disputeId = await newDispute(on, shop.paymentId)
  const { attachmentId } = payloadOf(await upload(shop.client, disputeId, PDF))
  payloadOf(await submit(shop.client, disputeId, 'Delivered', [attachmentId]))
  const [{ evidenceId }] = await evidenceOf(shop.client, disputeId)
  return { shop, disputeId, evidenceId }
}

const sentEvents = (on: TestService, merchantId: string): Promise<number> =>
  asSuperuser(on.db.database, async (db) => {
    const { rows } = await db.query<{ count: string }>(
      `select count(*) from outbox where tenant_id = $1 and type = 'dispute.evidence_sent'`,
      [merchantId],
    )
    return Number(rows[0]!.count)
  })
/** The pause before the next attempt, or the time of a claim, is over. */
const dueNow = (on: TestService) =>
  asSuperuser(on.db.database, (db) => db.query('update dispute_evidence set next_attempt_at = now()'))
const auditOf = (on: TestService, target: string): Promise<string[]> =>
  asSuperuser(on.db.database, async (db) => {
    const { rows } = await db.query<{ content: string }>(
      'select content from audit_log where target = $1 order by sequence',
      [target],
    )
    return rows.map(({ content }) => JSON.parse(content).action)
  })

test('evidence is not sent yet until it is, in one file alone, with the receipt of the bank', async () => {
  const { shop, disputeId, evidenceId } = await contested(filed)
  expect(await disputeOf(shop.client, disputeId)).not.toHaveProperty('evidenceSentOn')
  const meera = await signedIn(filed, 'support')
  const path = `/disputes/${disputeId}`
  const receiptOf = (text: string) => meera.post(`${path}/receipt`, { receipt: text })
  expect((await receiptOf('NPCI1')).error).toBe('evidence_not_sent')
  const sent = (await meera.post(`${path}/send-evidence`)).json
  expect(sent).toMatchObject({ status: 'EVIDENCE_SUBMITTED', evidenceSentOn: expect.any(String) })
  expect((await meera.post(`${path}/send-evidence`)).json).toEqual(sent)
  expect((await meera.get(path)).json.submissions).toMatchObject([
    { evidenceId, sentBy: expect.stringMatching(/^evr_/), attachments: [{ name: 'note.pdf' }] },
  ])
  const file = await meera.get(`${path}/evidence.zip`)
  expect(file.text).toContain(`${sent.caseReference}/${evidenceId}/evidence.json`)
  // Files are stored in the archive as they came.
  expect(file.text).toContain(`${evidenceId}/1-note.pdf`)
  expect(file.text).toContain(PDF)
  expect((await receiptOf('NPCI1')).json.evidenceReceipt).toBe('NPCI1')
  expect((await receiptOf('OTHER')).json.evidenceReceipt).toBe('NPCI1')
  expect(await disputeOf(shop.client, disputeId)).toMatchObject({ evidenceReceipt: 'NPCI1' })
  expect(await sentEvents(filed, shop.merchantId)).toBe(1)
  expect(await auditOf(filed, disputeId)).toEqual([
    'dispute.evidence_sent',
    'evidence.downloaded',
    'dispute.receipt_recorded',
    'dispute.receipt_recorded',
  ])
  expect(await brokenIn(filed)).toEqual([])
})

test('an operator asks for more evidence once: the merchant reads what is missing until it submits more', async () => {
  const { shop, disputeId } = await contested(filed)
  const arjun = await signedIn(filed, 'finance')
  const path = `/disputes/${disputeId}`
  const ask = (request: string) => arjun.post(`${path}/evidence-request`, { request })
  expect(
    (await (await signedIn(filed, 'auditor')).post(`${path}/evidence-request`, { request: 'x' })).error,
  ).toBe('role_too_low')
  expect((await ask('  ')).error).toBe('validation_failed')
  const asked = (await ask('The signed delivery note')).json
  expect(asked).toMatchObject({ evidenceRequest: 'The signed delivery note', status: 'EVIDENCE_SUBMITTED' })
  expect((await ask(' The signed delivery note ')).json).toEqual(asked)
  const requestsOf = async () =>
    (
      await asSuperuser(filed.db.database, (db) =>
        db.query<{ payload: string }>(
          `select payload from outbox where tenant_id = $1 and type = 'dispute.evidence_requested' order by created_at`,
          [shop.merchantId],
        ),
      )
    ).rows.length
  expect(await requestsOf()).toBe(1)
  expect(await disputeOf(shop.client, disputeId)).toMatchObject({
    evidenceRequest: 'The signed delivery note',
  })
  const waitsOf = async () =>
    (await (await memberBrowser(filed, shop.merchantId, 'viewer')).get('/overview')).json.merchant.waits
  expect(await waitsOf()).toMatchObject([{ kind: 'dispute', id: disputeId }])
  const { history } = (await arjun.get(path)).json
  expect(history.filter(({ what }: { what: string }) => what === 'evidence_requested')).toMatchObject([
    {
      source: 'dispute',
      detail: 'The signed delivery note',
      actor: expect.stringContaining('operator finance'),
    },
  ])

  payloadOf(await submit(shop.client, disputeId, 'The note'))
  expect(await waitsOf()).toEqual([])
  const again = (await ask('The signed delivery note')).json
  expect(Date.parse(again.evidenceRequestedOn)).toBeGreaterThan(Date.parse(asked.evidenceRequestedOn))
  expect(await requestsOf()).toBe(2)
  await closeAs(filed, disputeId, 'LOST')
  expect((await ask('A letter')).error).toBe('dispute_closed')
  expect(await waitsOf()).toEqual([])
})

test('the bank is called with all of the evidence, signed, and its receipt is on record', async () => {
  const { shop, disputeId, evidenceId } = await contested(called)
  const sender = new EvidenceSender(called.app.services)
  await sender.run()
  const [{ event, headers, raw }] = bank.received as [Received]
  const { caseReference } = await disputeOf(shop.client, disputeId)
  expect(event).toMatchObject({ evidenceId, caseReference, amount: '1.00', evidence: 'Delivered' })
  expect(event.attachments).toEqual([
    {
      name: '1-note.pdf',
      mediaType: 'application/pdf',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      content: PDF.toString('base64'),
    },
  ])
  expect(headers['idempotency-key']).toBe(evidenceId)
  expect(signedAtMs(Buffer.from(raw), headers['x-rail-signature']!, [RAIL_KEY])).toEqual(expect.any(Number))
  expect(await disputeOf(shop.client, disputeId)).toMatchObject({
    evidenceSentOn: expect.any(String),
    evidenceReceipt: 'NPCI1',
  })
  await dueNow(called)
  await sender.run()
  expect(bank.received).toHaveLength(1)
  await sender.stop()
})

test('lost responses, errors and responses that come twice neither lose nor double what is sent', async () => {
  const { shop, disputeId, evidenceId } = await contested(called)
  const sender = new EvidenceSender(called.app.services)
  const others = new EvidenceSender(called.app.services)
  const attempts: readonly WebhookReceiver['response'][] = [
    // The bank has it; its response is lost.
    (request) => void receipt(request),
    (request, response) => {
      receipt(request)
      response.destroy()
    },
    (_, response) => void response.writeHead(503).end(),
    (_, response) => void response.writeHead(200).end('{}'),
    (request, response) => {
      const text = receipt(request)
      response.writeHead(200)
      response.write(text)
      response.end(text)
    },
  ]
  const failures: (string | undefined)[] = []
  const meera = await signedIn(called, 'finance')
  for (const attempt of attempts) {
    bank.response = attempt
    await Promise.all([sender.run(), others.run()])
    expect(await disputeOf(shop.client, disputeId)).not.toHaveProperty('evidenceSentOn')
    failures.push((await meera.get(`/disputes/${disputeId}`)).json.submissions[0].failure)
    // The operator does not wait for the pause.
    payloadOfConsole(await meera.post(`/disputes/${disputeId}/send-evidence`))
  }
  expect(failures).toEqual([
    'no response in time',
    'the connection was closed before the response',
    'status 503',
    'status 200 without a receipt',
    'status 200 without a receipt',
  ])
  bank.response = respond
  await Promise.all([sender.run(), others.run()])
  expect(await disputeOf(shop.client, disputeId)).toMatchObject({ evidenceReceipt: 'NPCI1' })
  expect([...taken.keys()]).toEqual([evidenceId])
  expect(new Set(bank.received.map(({ raw }) => raw)).size).toBe(1)
  expect(bank.received).toHaveLength(attempts.length + 1)
  expect(await sentEvents(called, shop.merchantId)).toBe(1)
  await Promise.all([sender.stop(), others.stop()])
})

const payloadOfConsole = ({ status, text }: { status: number; text: string }) =>
  expect(status, text).toBe(200)

test('what a killed process had sent is sent once more under the same id, and once on record', async () => {
  const { shop, disputeId, evidenceId } = await contested(called)
  const killed = new EvidenceSender(called.app.services)
  // It dies with the bank's response on its way; what it writes of that is never committed.
  bank.response = (request) => {
    receipt(request)
    void killed.stop()
  }
  await killed.run()
  await asSuperuser(called.db.database, (db) =>
    db.query('update dispute_evidence set failure = null, next_attempt_at = now() where evidence_id = $1', [
      evidenceId,
    ]),
  )
  bank.response = respond
  const next = new EvidenceSender(called.app.services)
  await next.run()
  expect(await disputeOf(shop.client, disputeId)).toMatchObject({ evidenceReceipt: 'NPCI1' })
  expect([...taken.keys()]).toEqual([evidenceId])
  expect(await sentEvents(called, shop.merchantId)).toBe(1)
  await next.stop()
})

test('more evidence before the deadline is sent again; of a decided dispute none is', async () => {
  const { shop, disputeId } = await contested(called)
  const sender = new EvidenceSender(called.app.services)
  await sender.run()
  payloadOf(await submit(shop.client, disputeId, 'And a letter of the customer'))
  const now = await disputeOf(shop.client, disputeId)
  expect(now.evidence).toBe('And a letter of the customer')
  expect(now).not.toHaveProperty('evidenceSentOn')
  expect(now).not.toHaveProperty('evidenceReceipt')
  await sender.run()
  expect(await evidenceOf(shop.client, disputeId)).toMatchObject([
    { evidence: 'Delivered', receipt: 'NPCI1' },
    { evidence: 'And a letter of the customer', receipt: 'NPCI2' },
  ])
  expect(await disputeOf(shop.client, disputeId)).toMatchObject({ evidenceReceipt: 'NPCI2' })
  payloadOf(await submit(shop.client, disputeId, 'A third'))
  await closeAs(called, disputeId, 'LOST')
  await sender.run()
  expect(bank.received).toHaveLength(2)
  expect((await submit(shop.client, disputeId, 'A fourth')).error).toBe('dispute_closed')
  expect((await upload(shop.client, disputeId, PNG)).error).toBe('dispute_closed')
  expect(await brokenIn(called)).toEqual([])
  await sender.stop()
})

test('files are PDF, JPEG or PNG by their content, at most 5 MB, five at once and twenty in all', async () => {
  const shop = await shopWith(filed, 100)
  const disputeId = await newDispute(filed, shop.paymentId)
  const other = await newDispute(filed, shop.paymentId)
  const { client } = shop
  for (const [content, mediaType] of [
    [PDF, 'application/pdf'],
    [JPEG, 'image/jpeg'],
    [PNG, 'image/png'],
  ] as const)
    expect(payloadOf(await upload(client, disputeId, content, 'a.txt'))).toMatchObject({ mediaType })
  expect((await upload(client, disputeId, Buffer.from('<html>'), 'a.pdf')).error).toBe('validation_failed')
  expect((await upload(client, disputeId, Buffer.alloc(0))).error).toBe('validation_failed')
  expect((await upload(client, disputeId, PDF, '../a')).error).toBe('validation_failed')
  const large = Buffer.concat([PDF, Buffer.alloc(5 * 2 ** 20)])
  expect((await upload(client, disputeId, large)).status).toBe(413)
  const first = payloadOf(await upload(client, disputeId, PDF))
  expect(payloadOf(await upload(client, disputeId, PDF, 'again.pdf'))).toEqual(first)
  const ids: string[] = []
  for (let n = 0; n < 17; n++)
    ids.push(payloadOf(await upload(client, disputeId, Buffer.from(`%PDF-${n}`))).attachmentId)
  expect((await upload(client, disputeId, Buffer.from('%PDF-more'))).error).toBe('evidence_limit_reached')
  expect((await submit(client, disputeId, 'Six', ids.slice(0, 6))).error).toBe('validation_failed')
  expect((await submit(client, other, 'Of another', [ids[0]!])).error).toBe('attachment_not_found')
  const evidence = payloadOf(await submit(client, disputeId, 'Five', ids.slice(0, 5)))
  expect(payloadOf(await submit(client, disputeId, 'Five', ids.slice(0, 5).reverse()))).toEqual(evidence)
  expect((await submit(client, disputeId, 'Again', [ids[0]!])).error).toBe('attachment_in_use')
  for (let n = 1; n < 10; n++) payloadOf(await submit(client, disputeId, `Text ${n}`))
  expect((await submit(client, disputeId, 'One more')).error).toBe('evidence_limit_reached')
})

test('an upload with an Idempotency-Key of another file is refused', async () => {
  const shop = await shopWith(filed, 100)
  const disputeId = await newDispute(filed, shop.paymentId)
  const client = shop.client.with({ 'idempotency-key': 'evidence-1' })
  const first = payloadOf(await upload(client, disputeId, PDF))
  expect(payloadOf(await upload(client, disputeId, PDF))).toEqual(first)
  expect((await upload(client, disputeId, PNG)).error).toBe('idempotency_key_reused')
})

test('attachments are stored encrypted, downloaded by their tenant and operators, and erased in time', async () => {
  const { shop, disputeId } = await contested(filed)
  const [{ attachments }] = await evidenceOf(shop.client, disputeId)
  const { attachmentId } = attachments[0]
  const path = `/disputes/${disputeId}/attachments/${attachmentId}`
  const stored = () =>
    asSuperuser(filed.db.database, async (db) => {
      const sql = 'select name, content from dispute_attachments where attachment_id = $1'
      const { rows } = await db.query<{ name: string | null; content: Buffer | null }>(sql, [attachmentId])
      return rows[0]!
    })
  expect((await stored()).content!.includes(PDF)).toBe(false)
  const downloaded = await shop.client.get(`/api/v0${path}`)
  expect(downloaded.text).toBe(PDF.toString())
  expect(downloaded.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''note.pdf`,
    'x-content-type-options': 'nosniff',
  })
  const member = await memberBrowser(filed, shop.merchantId, 'viewer')
  expect((await member.get(path)).text).toBe(PDF.toString())
  expect((await (await signedIn(filed, 'support')).get(path)).text).toBe(PDF.toString())
  expect((await (await signedIn(filed, 'auditor')).get(path)).error).toBe('role_too_low')
  expect(await auditOf(filed, attachmentId)).toEqual(['portal.downloadAttachment', 'attachment.downloaded'])
  const stranger = await shopWith(filed, 100)
  expect((await stranger.client.get(`/api/v0${path}`)).error).toBe('attachment_not_found')

  await closeAs(filed, disputeId, 'WON')
  expect(await eraseAttachments(filed.app.services)).toBe(0)
  await asSuperuser(filed.db.database, (db) =>
    db.query(`update disputes set closed_at = now() - interval '181 days' where dispute_id = $1`, [
      disputeId,
    ]),
  )
  expect(await eraseAttachments(filed.app.services)).toBe(1)
  expect(await stored()).toEqual({ name: null, content: null })
  expect((await shop.client.get(`/api/v0${path}`)).error).toBe('attachment_not_found')
  const [{ attachments: left }] = await evidenceOf(shop.client, disputeId)
  expect(left).toEqual([expect.objectContaining({ attachmentId, size: PDF.length })])
  expect(left[0]).not.toHaveProperty('name')
})

test('a member and an operator contest a dispute by hand, each under their name', async () => {
  const shop = await shopWith(filed, 100)
  const disputeId = await newDispute(filed, shop.paymentId)
  const member = await memberBrowser(filed, shop.merchantId, 'operator')
  const uploading = `/disputes/${disputeId}/attachments?name=note.pdf`
  const { attachmentId } = (await member.post(uploading, PDF)).json.payload
  const given = { evidence: 'By the shop', attachmentIds: [attachmentId] }
  expect((await member.post(`/disputes/${disputeId}/evidence`, given)).status).toBe(200)
  const meera = await signedIn(filed, 'support')
  const uploaded = (await meera.post(uploading, JPEG)).json
  const more = { evidence: 'By the desk', attachmentIds: [uploaded.attachmentId] }
  expect((await meera.post(`/disputes/${disputeId}/evidence`, more)).json.evidence).toBe('By the desk')
  expect((await meera.post(`/disputes/${disputeId}/accept`, {})).error).toBe('role_too_low')
  expect(await auditOf(filed, disputeId)).toEqual([
    'portal.uploadAttachment',
    'portal.submitEvidence',
    'dispute.attachment_uploaded',
    'dispute.evidence_submitted',
  ])
  const detail = (await meera.get(`/disputes/${disputeId}`)).json
  expect(detail.history.map(({ what }: { what: string }) => what)).toEqual(
    expect.arrayContaining(['dispute_opened', 'evidence_submitted', 'payment.disputed', 'dispute']),
  )
  const submitted = detail.history.filter(({ what }: { what: string }) => what === 'evidence_submitted')
  expect(submitted.map(({ actor }: { actor: string }) => actor)).toEqual([
    `member ${member.memberName}`,
    expect.stringMatching(/^operator support/),
  ])
  const finance = await signedIn(filed, 'finance')
  expect((await finance.post(`/disputes/${disputeId}/accept`, {})).json.status).toBe('ACCEPTED')
})
