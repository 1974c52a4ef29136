import { FAILURES } from '../../src/errors.ts'
import { Contract } from '../harness/contract.ts'
import type { Documented, Request } from './requests.ts'
import type { Answer } from './send.ts'
import type { Target } from './target.ts'

/** What an answer must never hold: our insides. */
const INSIDES: readonly [string, RegExp][] = [
  ['a stack trace', /\n\s+at |\bat [\w.<> ]+ \(|node:internal|node_modules|\/src\/\w/],
  [
    'words of the database',
    /\b(?:relation|column|constraint|function) \\?"\w|violates [\w-]+ constraint|syntax error at|invalid input syntax|pg_catalog|svc_service|svc_owner/,
  ],
  ['a whole card number', /(?<!\d)999912\d{10}(?!\d)/],
]
const SECRET_MAKERS = new Set(['createWebhookEndpoint', 'rotateWebhookSecret'])
/** Unavailable on purpose: overload is shed, and told apart from faults. */
export const SHED = new Set(['overloaded', 'temporarily_unavailable'])

export class Judge {
  readonly #contract: Contract
  readonly #secrets: readonly string[]

  constructor({ document, secrets }: Pick<Target, 'document' | 'secrets'>) {
    this.#contract = new Contract(document)
    this.#secrets = secrets
  }

  /** What is wrong with the answer; undefined when nothing is. */
  faultOf(
    operation: Documented,
    { path, plain, headers: sent, body }: Request,
    answer: Answer,
  ): string | undefined {
    const { status, headers, text } = answer
    const json = readJson(answer)
    const leak = this.#leak(
      text + JSON.stringify(headers),
      sent.join('\n') + (body?.toString('latin1') ?? ''),
    )
    if (leak) return leak
    if (status === 503 && SHED.has(wordOf(json)))
      return headers['retry-after'] ? undefined : '503 without Retry-After'
    if (status >= 500) return `status ${status}`
    if (/whsec_/.test(text) && !SECRET_MAKERS.has(operation.id)) return 'a webhook secret in an answer'
    if (!headers['x-request-id']) return 'no x-request-id'
    if (plain && !operation.statuses.has(status))
      return `status ${status} is not documented for ${operation.id}`
    if (status >= 400) return failureFault(answer, json)
    try {
      this.#contract.check(operation.method, path, status, headers, json ?? text)
    } catch (error) {
      return plain ? (error as Error).message : undefined
    }
  }

  /** Of what was heard on a bare connection. */
  rawFaultOf(heard: string | undefined): string | undefined {
    if (heard === undefined) return 'neither an answer nor an end within 20 s'
    const leak = this.#leak(heard, '')
    if (leak) return leak
    for (let rest = heard; rest !== ''; ) {
      const [head = '', status = ''] = /^HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n/.exec(rest) ?? []
      if (head === '') return `what was heard is no HTTP: ${JSON.stringify(rest.slice(0, 80))}`
      const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? 0)
      const body = rest.slice(head.length, head.length + length)
      if (Number(status) >= 500 && !(status === '503' && [...SHED].some((word) => body.includes(word))))
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

  #leak(heard: string, sent: string): string | undefined {
    const found = INSIDES.find(([, pattern]) => pattern.test(heard) && !pattern.test(sent))
    if (found) return `${found[0]} in an answer: ${found[1].exec(heard)![0]}`
    // Whoever sent it may have it back.
    const secret = this.#secrets.findIndex((text) => heard.includes(text) && !sent.includes(text))
    return secret < 0 ? undefined : `secret ${secret} in an answer`
  }
}

type Json = any // oxlint-disable-line typescript/no-explicit-any -- read by name

function readJson({ headers, text }: Answer): Json {
  if (!String(headers['content-type']).includes('json')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The stable word of a failure, in either form. */
export function wordOf(json: Json): string {
  try {
    return String(json?.type ?? JSON.parse(json.payload).error)
  } catch {
    return ''
  }
}

/** The envelope of spec section 2.2, or RFC 9457 for those who ask. */
function failureFault({ status, headers }: Answer, json: Json): string | undefined {
  const word = wordOf(json)
  const known = Object.hasOwn(FAILURES, word) ? FAILURES[word as keyof typeof FAILURES] : undefined
  if (!known) return `a failure without a known word: ${word}`
  if (known.status !== status) return `${word} answered as ${status}`
  if (json.type !== undefined)
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
