import { FAILURES } from '@svc/contract/errors'
import { ID_KINDS } from '@svc/contract/id-kinds'
import { Contract } from '../../test/harness/contract.ts'
import type { Documented } from './operations.ts'
import type { Request } from './requests.ts'
import type { HttpResponse } from './send.ts'
import type { Target, Tenant } from './target.ts'

/** What an answer must never hold: our insides. */
const INSIDES: readonly [string, RegExp][] = [
  ['a stack trace', /\n\s+at |\bat [\w.<> ]+ \(|node:internal|node_modules|\/src\/\w/],
  [
    'words of the database',
    /\b(?:relation|column|constraint|function) \\?"\w|violates [\w-]+ constraint|syntax error at|invalid input syntax|pg_catalog|svc_service|svc_owner/,
  ],
  ['a whole card number', /(?<![\d.])999912\d{10}(?!\d)/],
]
/** What the sandbox's page at `/` shows on purpose. */
const DEMO_CREDENTIALS = /<h2>Demo credentials<\/h2>[\s\S]*?<\/html>/g
const SECRET_MAKERS = new Set(['createWebhookEndpoint', 'rotateWebhookSecret'])
/** Schemes of those who call for one tenant. */
export const TENANTS = new Set(['merchant', 'partner', 'partnerWithId', 'partnerSession', 'tenant'])
/** Unavailable on purpose: overload is shed, which is no error. */
export const SHED = new Set(['overloaded', 'temporarily_unavailable'])

/** Kinds of ids that the service makes and no caller chooses: whoever is told one may have it. */
const OF_TENANTS = Object.keys(ID_KINDS).filter((kind) => !['req', 'svc', 'tok', 'opr'].includes(kind))
const ID = new RegExp(`\\b(?:${OF_TENANTS.join('|')})_[0-9a-zA-Z]{16,}`, 'g')

export class Judge {
  readonly #contract: Contract
  readonly #secrets: readonly string[]
  /** The tenant who was told an id first, by id. */
  readonly #owners = new Map<string, string>()

  constructor({ document, secrets, tenants, victims }: Target) {
    this.#contract = new Contract(document)
    this.#secrets = secrets
    for (const tenant of [...tenants, ...victims])
      for (const ids of tenant.ids.values()) this.foreignProblemOf(tenant, JSON.stringify(ids))
  }

  /** What a success told a tenant of another one's records; undefined when nothing. */
  foreignProblemOf({ tenantId, linkedPartnerId }: Tenant, text: string): string | undefined {
    // A dry run that is refused repeats the request, and says nothing of what the ids in it name.
    if (text.includes('"outcome":"WOULD_REFUSE"')) return undefined
    // The log of its own requests repeats the paths that the tenant sent, with whatever ids were in them.
    const shown = text.includes('"receivedOn"') ? text.replace(/"path":"[^"]*"/g, '') : text
    for (const [id] of shown.matchAll(ID)) {
      const owner = this.#owners.get(id)
      if (owner === undefined) this.#owners.set(id, tenantId)
      else if (owner !== tenantId && owner !== linkedPartnerId)
        return `${id} of ${owner} in a response to ${tenantId}`
    }
    return undefined
  }

  /** What is wrong with the answer; undefined when nothing is. */
  problemOf(
    operation: Documented,
    { path, plain, headers: sent, body, tenant }: Request,
    response: HttpResponse,
  ): string | undefined {
    const { status, headers, text } = response
    const json = readJson(response)
    const leak = this.leakOf(
      text + JSON.stringify(headers),
      sent.join('\n') + (body?.toString('latin1') ?? ''),
    )
    if (leak) return leak
    if (status === 503 && SHED.has(errorCodeOf(json)))
      return headers['retry-after'] ? undefined : '503 without Retry-After'
    if (status >= 500) return `status ${status}`
    if (/whsec_/.test(text) && !SECRET_MAKERS.has(operation.id)) return 'a webhook secret in an answer'
    if (!headers['x-request-id']) return 'no x-request-id'
    if (plain && !operation.statuses.has(status))
      return `status ${status} is not documented for ${operation.id}`
    if (status >= 400) return failureProblem(response, json)
    const foreign = TENANTS.has(operation.scheme ?? '') && this.foreignProblemOf(tenant, text)
    if (foreign) return foreign
    try {
      this.#contract.check(operation.method, path, status, headers, json ?? text)
    } catch (error) {
      return plain ? (error as Error).message : undefined
    }
  }

  /** Of what was heard on a bare connection. */
  rawProblemOf(received: string | undefined): string | undefined {
    if (received === undefined) return 'neither an answer nor an end within 20 s'
    const leak = this.leakOf(received.replaceAll(DEMO_CREDENTIALS, ''), '')
    if (leak) return leak
    for (let rest = received; rest !== ''; ) {
      const [head = '', status = ''] = /^HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n/.exec(rest) ?? []
      if (head === '') return `what was heard is no HTTP: ${JSON.stringify(rest.slice(0, 80))}`
      const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? 0)
      const body = rest.slice(head.length, head.length + length)
      if (Number(status) >= 500 && !(status === '503' && [...SHED].some((code) => body.includes(code))))
        return `status ${status}`
      if (
        Number(status) >= 400 &&
        length > 0 &&
        !body.startsWith('HTTP/1.1') &&
        !/"errorResponse":\{/.test(body)
      )
        return 'a failure without the envelope'
      // The answer to HEAD tells a length and has no body.
      rest = rest.slice(head.length + (body.startsWith('HTTP/1.1 ') ? 0 : length))
      if (/^transfer-encoding: chunked\r$/im.test(head)) return undefined
    }
  }

  leakOf(received: string, sent: string): string | undefined {
    const found = INSIDES.find(([, pattern]) => pattern.test(received) && !pattern.test(sent))
    if (found) return `${found[0]} in an answer: ${found[1].exec(received)![0]}`
    // Whoever sent it may have it back.
    const secret = this.#secrets.findIndex((text) => received.includes(text) && !sent.includes(text))
    return secret < 0 ? undefined : `secret ${secret} in an answer`
  }
}

type Json = any // oxlint-disable-line typescript/no-explicit-any -- read by name

export function readJson({ headers, text }: HttpResponse): Json {
  if (!String(headers['content-type']).includes('json')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error code of a failure, in either form. */
export function errorCodeOf(json: Json): string {
  try {
    return String(json?.detail === undefined ? JSON.parse(json.payload).error : json.error)
  } catch {
    return ''
  }
}

/** The envelope of spec section 2.2, or RFC 9457 for callers that accept it. */
export function failureProblem({ status, headers }: HttpResponse, json: Json): string | undefined {
  const code = errorCodeOf(json)
  const known = Object.hasOwn(FAILURES, code) ? FAILURES[code as keyof typeof FAILURES] : undefined
  if (!known) return `a failure without a known error code: ${code}`
  if (known.status !== status) return `${code} answered as ${status}`
  if (json.detail !== undefined)
    return json.requestId === headers['x-request-id'] && json.status === status
      ? undefined
      : 'a broken problem document'
  const { errorResponse } = json
  const whole =
    json.response_code === 1 &&
    json.response_message === 'Failure' &&
    errorResponse?.errorMessage === json.payload &&
    errorResponse.errorType === known.errorType &&
    errorResponse.requestId === headers['x-request-id'] &&
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(errorResponse.timestamp)
  return whole ? undefined : 'a failure without the envelope'
}
