import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test, vi } from 'vitest'
import {
  signWebhook,
  verifyWebhook,
  verifyWebhookByKey,
  WebhookVerificationError,
} from '../../../packages/sdk/src/index.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const signed = (body: string) => {
  const at = new Date()
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
  }
}

afterEach(() => void vi.useRealTimers())

test('a body is verified byte for byte: a byte order mark put before it is a change', () => {
  const body = JSON.stringify({ type: 'qr_code.created', data: { qrName: 'दुकान' } })
  const bytes = new TextEncoder().encode(body)
  expect(verifyWebhook(bytes, signed(body), secret)).toEqual(JSON.parse(body))
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, ...bytes])
  expect(() => verifyWebhook(marked, signed(body), secret)).toThrow(WebhookVerificationError)
})

test('a delivery that was signed for a test is verified, and rejected once it is old', () => {
  const event = { id: 'evt_1', type: 'qr_code.created', data: {} }
  const { body, headers } = signWebhook(event, secret)
  expect(verifyWebhook(body, headers, secret)).toEqual(event)
  const old = signWebhook(event, secret, new Date(Date.now() - 301_000))
  expect(() => verifyWebhook(old.body, old.headers, secret)).toThrow(WebhookVerificationError)
})

test('a v1a signature is verified by the published key: no other key, body, id or time', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const keyOf = (key: KeyObject) =>
    `whpk_${Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url').toString('base64')}`
  const body = JSON.stringify({ id: 'evt_1', type: 'qr_code.created', data: { qrName: 'दुकान' } })
  const signedAt = (timestamp: number) => ({
    'Webhook-Id': 'evt_1',
    'Webhook-Timestamp': String(timestamp),
    'Webhook-Signature': `v1,AAAA v1a,${sign(null, Buffer.from(`evt_1.${timestamp}.${body}`), privateKey).toString('base64')}`,
  })
  // The limit of five minutes is met to the second.
  vi.useFakeTimers({ toFake: ['Date'], now: 1_760_000_000_000 })
  const now = Math.floor(Date.now() / 1_000)
  const [own, other] = [keyOf(publicKey), keyOf(generateKeyPairSync('ed25519').publicKey)]
  expect(await verifyWebhookByKey(body, signedAt(now), [other, own])).toEqual(JSON.parse(body))
  const wrong = [
    [body, signedAt(now), other],
    [`${body} `, signedAt(now), own],
    [body, { ...signedAt(now), 'Webhook-Id': 'evt_2' }, own],
    [body, signedAt(now - 301), own],
    [body, signedAt(now + 301), own],
    [body, { ...signedAt(now), 'Webhook-Signature': 'v1a,zz' }, own],
    [body, {}, own],
  ] as const
  for (const [text, headers, key] of wrong)
    await expect(verifyWebhookByKey(text, headers, [key])).rejects.toThrow(WebhookVerificationError)
  await expect(verifyWebhookByKey(body, signedAt(now), [secret])).rejects.toThrow(TypeError)
})
