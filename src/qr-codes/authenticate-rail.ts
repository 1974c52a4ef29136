import type { FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'
import { isSigned, SIGNATURE_HEADER } from '../platform/http/notice-signature.ts'
import type { Caller, Services } from '../platform/http/operation.ts'

/** Keys with which the rail may sign: the operator's, or the sandbox's own. The first one signs. */
export function railKeys({ config, keyring }: Services): string[] {
  if (config.UPI_RAIL_KEYS) return config.UPI_RAIL_KEYS.map((key) => key.reveal())
  return config.SVC_MODE === 'sandbox' ? [keyring.newest('upi_rail').bytes.toString('base64url')] : []
}

/** What it sends belongs to no tenant yet. */
const RAIL = 'house'

/** Decision Q11: notices are signed over their raw body, so this runs after the body was read. */
export function railAuthenticator(services: Services) {
  const keys = railKeys(services)
  const authenticate = ({ headers, rawBody }: FastifyRequest): Caller => {
    const signature = headers[SIGNATURE_HEADER]
    if (
      typeof signature !== 'string' ||
      !isSigned(rawBody ?? new Uint8Array(), signature, keys, services.clock.now())
    )
      fail('invalid_signature')
    return { tenantId: RAIL }
  }
  return { authenticate, whose: () => RAIL }
}
