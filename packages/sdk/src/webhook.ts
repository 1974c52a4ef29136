import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import type { Event } from './events.ts'

/** Header fields as Node's `request.headers` has them, or the `Headers` of a `Request`. */
export type HeaderFields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The event that a webhook brings, once its signature is verified (Standard Webhooks 1.0). Hand over the body as it
 * came: bytes or text, before anything has parsed it. Deliveries may come twice: pass over an `id` that you have.
 *
 * @param secret `whsec_…`, as creating or rotating the endpoint returned it.
 * @throws WebhookVerificationError when it is not from the service, was changed, or is older than five minutes.
 */
export function verifyWebhook(rawBody: string | Uint8Array, headers: HeaderFields, secret: string): Event {
  const entries = headers instanceof Headers ? headers : Object.entries(headers)
  const fields = Object.fromEntries([...entries].map(([name, value]) => [name.toLowerCase(), String(value)]))
  const text =
    typeof rawBody === 'string' ? rawBody : new TextDecoder('utf-8', { ignoreBOM: true }).decode(rawBody)
  return new Webhook(secret).verify(text, fields) as Event
}

export { WebhookVerificationError }
