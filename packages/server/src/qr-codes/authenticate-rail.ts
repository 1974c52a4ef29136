import { fail } from '@svc/contract/errors'
import { OWN_ADAPTER, type RailAdapter } from '@svc/contract/rail-adapters'
import type { FastifyRequest } from 'fastify'
import { isMacOf, signedAtMs } from '../http/notice-signature.ts'
import type { Caller, Services } from '../http/operation.ts'
import { RejectedNotices } from '../http/rejected-notices.ts'

/** Keys with which the rail may sign: the operator's, or the sandbox's own. The first one signs. */
export function railKeys({ config, keyring }: Services): string[] {
  if (config.UPI_RAIL_KEYS) return config.UPI_RAIL_KEYS.map((key) => key.reveal())
  return config.SVC_MODE === 'sandbox' ? [keyring.newest('upi_rail').bytes.toString('base64url')] : []
}

/** The adapter of the bank that the query names; `undefined` where the settings know no such bank. */
export function adapterOf({ config }: Pick<Services, 'config'>, query: unknown): RailAdapter | undefined {
  const { bank } = query as { readonly bank?: unknown }
  return typeof bank === 'string' ? config.RAIL_ADAPTERS.get(bank) : OWN_ADAPTER
}

/** What it sends belongs to no tenant yet. */
const RAIL = 'house'

/**
 * Decision Q11: notices are signed over their raw body, so this runs after the body was read. How old the signature is
 * rejects nothing: a repeat changes nothing, and a bank that was down reports late.
 */
export function railAuthenticator(services: Services) {
  const keys = railKeys(services)
  const rejected = new RejectedNotices(services)
  const authenticate = ({ headers, query, rawBody }: FastifyRequest): Caller => {
    const adapter = adapterOf(services, query) ?? OWN_ADAPTER
    const { header, scheme } = adapter.signature
    const signature = headers[header]
    const body = rawBody ?? new Uint8Array()
    if (typeof signature === 'string') {
      if (scheme === 'time-and-body') {
        const signedAt = signedAtMs(body, signature, keys)
        if (signedAt !== undefined) return { tenantId: RAIL, signedAtMs: signedAt }
      } else if (isMacOf(body, signature, keys, scheme === 'body-hex' ? 'hex' : 'base64'))
        return { tenantId: RAIL }
    }
    rejected.add(body, signature, keys.length)
    return fail('invalid_signature')
  }
  return { authenticate }
}
