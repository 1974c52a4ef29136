import { fail } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import type { Caller } from '@svc/server/http/operation'
import type { FastifyRequest } from 'fastify'

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address)

/** Whether the Host header names this machine: a foreign name that resolves to 127.0.0.1 does not. */
const isLocalName = (host: unknown): boolean =>
  typeof host === 'string' && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(host)

/** What proxies, balancers and content networks add to a request, whichever they are. */
const PROXY_HEADER =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|x-(?:cluster-)?client-ip|client-ip|true-client-ip|x-(?:original|envoy|amzn|azure|appengine|arr|vercel|nginx|varnish|proxy|scheme|request-start)(?:-.+)?|cf-.+|cdn-.+|fly-.+|fastly-.+|proxy-.+)$/

const hasProxyHeader = (headers: FastifyRequest['headers']): boolean =>
  Object.keys(headers).some((name) => PROXY_HEADER.test(name))

/** Whether a person at this very machine sent it: no other address, no proxy in between, no borrowed name. */
export const isAtThisMachine = (address: string | undefined, headers: FastifyRequest['headers']): boolean =>
  isLoopback(address) && isLocalName(headers.host) && !hasProxyHeader(headers)

/** For what only people at this very machine may do. */
export function authenticateLoopback({ headers, raw }: FastifyRequest): Caller {
  if (!isAtThisMachine(raw.socket.remoteAddress, headers)) fail('route_not_found')
  return { tenantId: PLATFORM_TENANT }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
const OWN_SITES = new Set(['same-origin', 'none'])

/**
 * Refuses what another site's page makes a browser send (decision O2): besides the cookie's own SameSite=Strict, a header
 * that forms cannot send, and an origin that must be ours.
 */
export function refuseCrossSite({ headers, method }: FastifyRequest, publicUrl: string): void {
  const site = headers['sec-fetch-site']
  if (site !== undefined && !OWN_SITES.has(site)) fail('cross_site_request')
  if (SAFE.has(method)) return
  if (headers['x-svc-console'] !== '1') fail('cross_site_request')
  const { host, origin } = headers
  if (origin === undefined) return
  const own = URL.canParse(origin) && (new URL(origin).host === host || origin === originOf(publicUrl))
  if (!own) fail('cross_site_request')
}

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined)
