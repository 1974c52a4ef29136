import { errorCodeOf, failureProblem, type Judge, readJson, SHED, TENANTS } from './judge.ts'
import { isDocumented, type RouteRequest } from './route-requests.ts'
import type { HttpResponse } from './send.ts'

const isHtml = ({ headers }: HttpResponse): boolean => String(headers['content-type']).startsWith('text/html')
/** Public texts that quote what others must not hold: names of files, ids of examples. */
const isReference = (response: HttpResponse): boolean =>
  isHtml(response) || response.text.startsWith('{"openapi":')
const isForwarded = ({ plan }: RouteRequest): boolean =>
  plan.headers.some(([name, value]) => /^(?:x-forwarded-for|forwarded)$/.test(name) && value.trim() !== '')

/** Failures of what never became a request: its method is not known (`raw-failure.ts`). */
const UNREAD = new Set(['bad_request', 'headers_too_large', 'request_timeout'])

/** What is wrong with a response, whatever the path, the method and the headers; undefined when nothing is. */
export function routeProblemOf(
  judge: Judge,
  request: RouteRequest,
  response: HttpResponse,
): string | undefined {
  const { status, headers, text } = response
  const { method, bytes, isOperator } = request
  const json = readJson(response)
  const leak = isReference(response) || isOperator ? undefined : judge.leakOf(text, bytes)
  if (leak) return leak
  if (status === 503 && (SHED.has(errorCodeOf(json)) || method === 'HEAD'))
    return headers['retry-after'] ? undefined : '503 without Retry-After'
  if (status >= 500) return `status ${status}`
  if (!headers['x-request-id']) return 'no x-request-id'
  if (method === 'HEAD' && text !== '' && !UNREAD.has(errorCodeOf(json))) return 'HEAD with a body'
  if (status === 405) return allowProblem(String(headers['allow'] ?? ''), method)
  if (status >= 400) return method === 'HEAD' ? undefined : failureProblem(response, json)
  return successProblem(judge, request, response)
}

function allowProblem(allow: string, method: string): string | undefined {
  if (allow === '') return '405 without Allow'
  return allow.split(', ').includes(method) ? `405 to ${method}, which Allow names` : undefined
}

function successProblem(judge: Judge, request: RouteRequest, response: HttpResponse): string | undefined {
  const { method, place, tenant, admitted, plan } = request
  const { status, headers, text } = response
  if (!isDocumented(method)) return `${method} is carried out: ${status}`
  // The reference gives the cookie of the sandbox's demo partner to all who read it, as it does its token.
  const isSession = headers['set-cookie'] !== undefined && place.path !== '/openapi.json'
  if (isSession && (plan.caller === 'foreignPage' || isForwarded(request)))
    return 'a session for another site’s page, or for another machine'
  const isPage = (status === 302 || isReference(response)) && (method === 'GET' || method === 'HEAD')
  if (isPage) return undefined
  if (place.scheme !== undefined && !admitted) return `${place.path} is reached without its credential`
  return tenant && TENANTS.has(place.scheme ?? '') ? judge.foreignProblemOf(tenant, text) : undefined
}

/** Of HEAD beside GET of the same: RFC 9110 section 9.3.2. */
export function headProblemOf(head: HttpResponse, get: HttpResponse): string | undefined {
  const isBusy = [head, get].some(({ status }) => status === 429 || status === 503)
  if (isBusy || head.status === get.status || (head.status === 405 && head.headers['allow'])) return undefined
  return `HEAD is ${head.status} where GET is ${get.status}`
}
