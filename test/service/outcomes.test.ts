import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { closeExpiredQrCodes, expireQrCodes } from '@svc/core/qr-codes/expire-qr-codes'
import { compactVerify, createLocalJWKSet } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { cancel, creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let shop: Client
beforeAll(async () => {
  service = await openService({ env: { RAIL_GRACE_SECONDS: '60' } })
  shop = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

const pay = async (tr: string, amount: number) =>
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount }), service.clock.now()))
const outcomeOf = ({ headers }: ApiResponse) => headers['svc-outcome']
const show = (qrCodeId: string) => shop.get(`/api/v0/qr-code/${qrCodeId}`)

/** What a receipt states, verified as anyone can. */
async function stated({ headers }: ApiResponse): Promise<Json> {
  const keys = createLocalJWKSet((await service.client.get('/.well-known/jwks.json')).json)
  const { payload, protectedHeader } = await compactVerify(String(headers['svc-receipt']), keys)
  expect(protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'svc-receipt' })
  return JSON.parse(new TextDecoder().decode(payload))
}

test('the first cancel reports cancelled, each later one already-cancelled, all with the same receipt and body', async () => {
  const { qrCodeId, tr } = await newCode(service, shop, { multipleUse: true })
  const payments = [await pay(tr, 200), await pay(tr, 49.5)]
  expect(outcomeOf(await show(qrCodeId))).toBe('active; payments=2; amount=249.50')
  const first = await cancel(shop, qrCodeId)
  const again = await cancel(shop, qrCodeId)
  expect(outcomeOf(first)).toBe('cancelled; payments=2; amount=249.50')
  expect(outcomeOf(again)).toBe('already-cancelled; payments=2; amount=249.50')
  expect(again.text).toBe(first.text)
  const receipt = await stated(first)
  expect(receipt).toEqual({
    qrCodeId,
    outcome: 'cancelled',
    acceptedCount: 2,
    acceptedPaise: '24950',
    lastUtr: payments[1].utr,
    revision: 3,
    time: new Date(payloadOf(first).modifiedOn).toISOString(),
  })
  expect(await pay(tr, 10)).toMatchObject({ reason: 'qr_code_cancelled' })
  for (const later of [again, await show(qrCodeId)])
    expect(later.headers['svc-receipt']).toBe(first.headers['svc-receipt'])
})

test('a till that cancels after a timeout learns that its code was paid, and by which payment', async () => {
  const { qrCodeId, tr } = await newCode(service, shop, { referenceNumber: 'till-1' })
  const { utr } = await pay(tr, 249.5)
  const cancelled = await cancel(shop, qrCodeId)
  expect(outcomeOf(cancelled)).toBe('paid; payments=1; amount=249.50')
  expect(await stated(cancelled)).toMatchObject({ outcome: 'paid', lastUtr: utr, revision: 1 })
  const repeated = await shop.post('/api/v0/qr-code', { referenceNumber: 'till-1' })
  expect(repeated).toMatchObject({ status: 409, error: 'reference_paid' })
  expect(repeated.errorDescription).toContain(qrCodeId)
  expect(outcomeOf(repeated)).toBe('paid; payments=1; amount=249.50')
})

test('a repeat under one idempotency key returns the headers of the first response', async () => {
  const { qrCodeId } = await newCode(service, shop)
  const key = { 'idempotency-key': `cancel-${qrCodeId}` }
  const first = await cancel(shop, qrCodeId, key)
  await cancel(shop, qrCodeId)
  const repeated = await cancel(shop, qrCodeId, key)
  expect(outcomeOf(repeated)).toBe('cancelled; payments=0; amount=0.00')
  expect([repeated.text, repeated.headers['svc-receipt']]).toEqual([first.text, first.headers['svc-receipt']])
})

test('an expired code is reported as such at once, and gets its receipt after the grace period', async () => {
  const expiry = new Date(service.clock.now() + 60_000).toISOString()
  const { qrCodeId, tr } = await newCode(service, shop, { multipleUse: true, expiry })
  await pay(tr, 10)
  service.clock.advance(60_000)
  const soon = await show(qrCodeId)
  expect([outcomeOf(soon), soon.headers['svc-receipt']]).toEqual([
    'expired; payments=1; amount=10.00',
    undefined,
  ])
  await expireQrCodes(service.app.services)
  await closeExpiredQrCodes(service.app.services)
  expect(payloadOf(await show(qrCodeId)).closeReason).toBeUndefined()
  service.clock.advance(60_000)
  // Here or in the background, whoever comes first.
  await closeExpiredQrCodes(service.app.services)
  await expect.poll(async () => payloadOf(await show(qrCodeId)).closeReason).toBe('expired')
  const final = await show(qrCodeId)
  expect(payloadOf(final)).toMatchObject({ status: 'ACTIVE', closeReason: 'expired' })
  expect(await stated(final)).toMatchObject({ outcome: 'expired', acceptedCount: 1, revision: 2 })
  // Also for a bank whose clock was set back.
  service.clock.advance(-120_000)
  expect(await pay(tr, 10)).toMatchObject({ reason: 'qr_code_expired' })
  const cancelled = await cancel(shop, qrCodeId)
  expect(cancelled.headers['svc-receipt']).toBe(final.headers['svc-receipt'])
})

test('a repeat of a reference with a recomputed expiry is the same intent; one that differs otherwise names the code', async () => {
  const expiry = (ms: number) => new Date(service.clock.now() + ms).toISOString()
  const request = { referenceNumber: 'till-2', amount: 5, expiry: expiry(60_000) }
  const { qrCodeId } = payloadOf(await shop.post('/api/v0/qr-code', request))
  const again = payloadOf(await shop.post('/api/v0/qr-code', { ...request, expiry: expiry(61_000) }))
  expect([again.qrCodeId, again.expiry]).toEqual([qrCodeId, payloadOf(await show(qrCodeId)).expiry])
  const other = await shop.post('/api/v0/qr-code', { ...request, amount: 6 })
  expect(other).toMatchObject({ status: 409, error: 'reference_in_use' })
  expect(other.errorDescription).toContain(qrCodeId)
})

test('a search for ACTIVE codes finds payable ones only, and expired ones when they are requested', async () => {
  const own = await service.newMerchant()
  const tenant = await service.as(own)
  const open = await newCode(service, tenant)
  const expiry = new Date(service.clock.now() + 1_000).toISOString()
  const expired = await newCode(service, tenant, { expiry })
  const cancelled = await newCode(service, tenant)
  await cancel(tenant, cancelled.qrCodeId)
  service.clock.advance(1_000)
  const found = async (body: object) =>
    payloadOf(await tenant.post('/api/v0/qr-code/search', body)).data.map(({ qrCodeId }: Json) => qrCodeId)
  expect(await found({ status: 'ACTIVE' })).toEqual([open.qrCodeId])
  expect(await found({ status: 'ACTIVE', expired: true })).toEqual([expired.qrCodeId])
  expect(await found({ expired: true })).toEqual([expired.qrCodeId])
  expect(await found({ expired: false })).toEqual([cancelled.qrCodeId, open.qrCodeId])
  expect(await found({})).toHaveLength(3)
})

test('create and get return the UPI string, the cancel exactly the specified fields', async () => {
  const created = payloadOf(await shop.post('/api/v0/qr-code', { amount: 12 }))
  expect(created.upiUri).toMatch(/^upi:\/\/pay\?pa=.*am=12\.00/)
  expect(created.payments).toEqual({ count: 0, amount: 0 })
  const cancelled = payloadOf(await cancel(shop, created.qrCodeId))
  for (const field of ['upiUri', 'payments', 'closeReason']) expect(cancelled).not.toHaveProperty(field)
  expect(payloadOf(await show(created.qrCodeId))).toMatchObject({ closeReason: 'cancelled' })
})

test('qr_code.cancelled states why the code ended and who ended it', async () => {
  const tenant = await service.as(await service.newMerchant())
  const codes = [
    await newCode(service, tenant),
    await newCode(service, tenant),
    await newCode(service, tenant),
  ]
  await cancel(tenant, codes[0]!.qrCodeId)
  await pay(codes[1]!.tr, 10)
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  expect((await browser.post(`/qr-codes/${codes[2]!.qrCodeId}/cancel`, {})).status).toBe(200)
  const events = async (): Promise<Json[]> =>
    payloadOf(await tenant.get('/api/v0/events?after=0&type=qr_code.cancelled')).data
  await expect.poll(async () => (await events()).length).toBe(3)
  expect(
    (await events()).map(({ data }) => [data.qrCodeId, data.reason, data.actor, data.payments.count]),
  ).toEqual([
    [codes[0]!.qrCodeId, 'cancelled', 'merchant', 0],
    [codes[1]!.qrCodeId, 'paid', 'payment', 1],
    [codes[2]!.qrCodeId, 'cancelled', 'operator', 0],
  ])
})

const python = ['python3', 'python'].find(
  (name) => spawnSync(name, ['-c', 'pow(2, -1, 3)'], { stdio: 'ignore' }).status === 0,
)

test.runIf(python)('the verifier of the guide accepts a receipt, and no changed one', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../docs/guides/receipts.md'), 'utf8')
  const program = /^```python\n(.*?)^```/ms.exec(guide)![1]!
  const { qrCodeId } = await newCode(service, shop)
  const receipt = String((await cancel(shop, qrCodeId)).headers['svc-receipt'])
  const verify = (text: string) =>
    promisify(execFile)(python!, ['-c', program, service.client.baseUrl, text], { timeout: 60_000 })
  expect(JSON.parse((await verify(receipt)).stdout)).toMatchObject({ qrCodeId, outcome: 'cancelled' })
  const [header, payload, signature] = receipt.split('.')
  const changed = Buffer.from(payload!, 'base64url')
    .toString()
    .replace('"acceptedCount":0', '"acceptedCount":1')
  const forged = [header, Buffer.from(changed).toString('base64url'), signature].join('.')
  await expect(verify(forged)).rejects.toMatchObject({ stderr: 'the receipt is forged\n' })
})
