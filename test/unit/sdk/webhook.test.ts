import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { verifyWebhook, WebhookVerificationError } from '../../../packages/sdk/src/index.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const signed = (body: string) => {
  const at = new Date()
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
  }
}

test('a body is verified byte for byte: a byte order mark put before it is a change', () => {
  const body = JSON.stringify({ type: 'qr_code.created', data: { qrName: 'दुकान' } })
  const bytes = new TextEncoder().encode(body)
  expect(verifyWebhook(bytes, signed(body), secret)).toEqual(JSON.parse(body))
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, ...bytes])
  expect(() => verifyWebhook(marked, signed(body), secret)).toThrow(WebhookVerificationError)
})
