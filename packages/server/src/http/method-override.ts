import type { IncomingMessage } from 'node:http'
import { fail } from '@svc/contract/errors'

const HEADER = 'x-http-method-override'

const overriding = ({ method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>) =>
  method === 'POST' && url?.startsWith('/api/') ? headers[HEADER] : undefined

/** Makes a POST that says so a PATCH, before it is routed: Java's HttpURLConnection sends no PATCH (decision C24). */
export function overrideMethod(request: IncomingMessage): void {
  if (String(overriding(request)).trim().toUpperCase() === 'PATCH') request.method = 'PATCH'
}

/** Any other method is refused: the request would be carried out as a POST, which its caller did not mean. */
export function refuseOtherMethods(request: IncomingMessage): void {
  const method = overriding(request)
  if (method !== undefined && String(method).trim().toUpperCase() !== 'POST')
    fail('bad_request', { description: `The header ${HEADER} can only make a POST a PATCH` })
}
