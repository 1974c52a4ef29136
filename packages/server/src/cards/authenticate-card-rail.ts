import { fail } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import type { FastifyRequest } from 'fastify'
import { SIGNATURE_HEADER, signedAtMs } from '../http/notice-signature.ts'
import type { Caller, Services } from '../http/operation.ts'
import { RejectedNotices } from '../http/rejected-notices.ts'

/** Keys with which the card network may sign: the operator's, or the sandbox's own. The first one signs. */
export function cardRailKeys({ config, keyring }: Services): string[] {
  if (config.CARD_RAIL_KEYS) return config.CARD_RAIL_KEYS.map((key) => key.reveal())
  return config.SVC_MODE === 'sandbox' ? [keyring.newest('card_rail').bytes.toString('base64url')] : []
}

/**
 * Decision R1: messages are signed over their raw body, so this runs after the body was read. How old the signature is
 * rejects nothing: a repeat changes nothing, and a network that was down reports late.
 */
export function cardRailAuthenticator(services: Services) {
  const keys = cardRailKeys(services)
  const rejected = new RejectedNotices(services)
  const authenticate = ({ headers, rawBody }: FastifyRequest): Caller => {
    const signature = headers[SIGNATURE_HEADER]
    const body = rawBody ?? new Uint8Array()
    const signedAt = typeof signature === 'string' ? signedAtMs(body, signature, keys) : undefined
    // What the network sends belongs to no tenant yet.
    if (signedAt !== undefined) return { tenantId: PLATFORM_TENANT, signedAtMs: signedAt }
    rejected.add(body, signature, keys.length)
    return fail('invalid_signature')
  }
  return { authenticate }
}
