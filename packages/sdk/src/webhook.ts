import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import type { Event } from './events.ts'

/** Header fields as Node's `request.headers` has them, or the `Headers` of a `Request`. */
export type HeaderFields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

const OLD_SECONDS = 300
const PUBLIC_KEY = 'whpk_'

function fieldsOf(headers: HeaderFields): Record<string, string> {
  const entries = headers instanceof Headers ? headers : Object.entries(headers)
  return Object.fromEntries([...entries].map(([name, value]) => [name.toLowerCase(), String(value)]))
}

const textOf = (rawBody: string | Uint8Array): string =>
  typeof rawBody === 'string' ? rawBody : new TextDecoder('utf-8', { ignoreBOM: true }).decode(rawBody)

/**
 * The event that a webhook brings, once its `v1` signature is verified (Standard Webhooks 1.0). Hand over the body as it
 * came: bytes or text, before anything has parsed it. Deliveries may come twice: pass over an `id` that you have.
 *
 * @param secret `whsec_…`, as creating or rotating the endpoint returned it.
 * @throws WebhookVerificationError when it is not from the service, was changed, or is older than five minutes.
 */
export function verifyWebhook(rawBody: string | Uint8Array, headers: HeaderFields, secret: string): Event {
  return new Webhook(secret).verify(textOf(rawBody), fieldsOf(headers)) as Event
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

async function isSignedBy(key: string, text: Uint8Array<ArrayBuffer>, signature: string): Promise<boolean> {
  try {
    const raw = bytesOf(key.slice(PUBLIC_KEY.length))
    const publicKey = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
    return await crypto.subtle.verify('Ed25519', publicKey, bytesOf(signature), text)
  } catch {
    return false
  }
}

/**
 * The same by the `v1a` signature: for receivers that would rather hold no secret. By WebCrypto, so it also runs in
 * browsers and at the edge.
 *
 * @param keys `whpk_…`: `key` of each of the keys in `/.well-known/webhook-keys.json` of the service.
 * @throws WebhookVerificationError as `verifyWebhook`
 */
export async function verifyWebhookByKey(
  rawBody: string | Uint8Array,
  headers: HeaderFields,
  keys: readonly string[],
): Promise<Event> {
  if (keys.length === 0 || keys.some((key) => !key.startsWith(PUBLIC_KEY)))
    throw new TypeError(`keys must be the service’s public keys, ${PUBLIC_KEY}…`)
  const {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': given = '',
  } = fieldsOf(headers)
  if (id === undefined || timestamp === undefined)
    throw new WebhookVerificationError('Missing required headers')
  const apart = Math.abs(Date.now() / 1_000 - Number(timestamp))
  if (!/^\d{1,12}$/.test(timestamp) || apart > OLD_SECONDS)
    throw new WebhookVerificationError('Message timestamp too old or too new')
  const body = textOf(rawBody)
  const text = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signatures = given.split(' ').flatMap((one) => (one.startsWith('v1a,') ? [one.slice(4)] : []))
  for (const signature of signatures)
    for (const key of keys) if (await isSignedBy(key, text, signature)) return JSON.parse(body) as Event
  throw new WebhookVerificationError('No matching signature found')
}

/** A delivery for tests of your receiver, signed as the service signs it. */
export interface SignedWebhook {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Signs a delivery as the service does, for tests of your own receiver.
 *
 * @param at when it says that it was sent; now by default.
 * @example const { body, headers } = signWebhook({ id: 'evt_1', type: 'qr_code.credited', … }, secret)
 */
export function signWebhook(event: { readonly id: string }, secret: string, at = new Date()): SignedWebhook {
  const body = JSON.stringify(event)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(event.id, at, body),
    },
  }
}

export { WebhookVerificationError }
