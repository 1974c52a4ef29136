import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorCode, FAILURES, fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { abortWith } from '@svc/platform/abort'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'

const DELAY_MS_MAX = 60_000
const TIMES_MAX = 100
/** Idempotency keys of which it is known how often they failed. */
const KEYS_MAX = 10_000
const HEADER = 'sandbox-fail'
const DELAY_HEADER = 'sandbox-delay'

type Trouble = (request: FastifyRequest, reply: FastifyReply, until: AbortSignal) => unknown

/** What goes wrong between caller and service, where no response can report it. */
const TROUBLES = {
  response_lost: {
    what: 'The request is carried out, and the connection breaks before the response. Send it again with the same `Idempotency-Key`',
    meet: (_, reply) => void lost.add(reply),
  },
  no_response: {
    what: 'Nothing is done, and no response is sent for a minute; then the connection breaks. Your own timeout should expire first',
    meet: async (request, reply, until) => {
      await standStill(request, until)
      return breakOff(request, reply)
    },
  },
  connection_reset: { what: 'Nothing is done, and the connection breaks at once', meet: breakOff },
  bad_gateway: {
    what: 'Nothing is done; 502 with a page of HTML, as of a proxy in between',
    meet: (_, reply) =>
      reply.code(502).type('text/html').send('<html><body><h1>502 Bad Gateway</h1></body></html>\n'),
  },
} as const satisfies Record<string, { readonly what: string; readonly meet: Trouble }>
type TroubleName = keyof typeof TROUBLES

/** Requests whose responses are to be lost. */
const lost = new WeakSet<FastifyReply>()

function breakOff(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack()
  request.raw.socket.destroy()
  return reply
}

/** Until the caller goes away, the time is over, or the service drains. */
async function standStill(request: FastifyRequest, until: AbortSignal, forMs = DELAY_MS_MAX): Promise<void> {
  const gone = new AbortController()
  request.raw.socket.once('close', () => gone.abort())
  abortWith(gone, until)
  await sleep(forMs, undefined, { signal: gone.signal }).catch(() => undefined)
  gone.abort()
}

const isWord = (text: string): text is ErrorCode => Object.hasOwn(FAILURES, text)
const isTrouble = (text: string): text is TroubleName => Object.hasOwn(TROUBLES, text)

/**
 * Lets callers of the sandbox meet every failure on purpose, on any operation: with the header `Sandbox-Fail`, before
 * anything else is looked at, and `Sandbox-Delay`. Mounted in sandbox mode only. `draining` ends the delays.
 */
export function injectFaults(app: FastifyInstance, draining: AbortSignal): void {
  const failed = new LRUCache<string, number>({ max: KEYS_MAX })
  app.addHook('onRequest', async (request, reply) => {
    const delayMs = readDelay(request)
    if (delayMs > 0) await standStill(request, draining, delayMs)
    const wanted = readFailure(request)
    if (!wanted || !stillFails(failed, request, wanted.times)) return undefined
    const { name } = wanted
    if (isTrouble(name)) return TROUBLES[name].meet(request, reply, draining)
    const { status } = FAILURES[name]
    return fail(name, {
      description: `${FAILURES[name].description} (asked for with Sandbox-Fail)`,
      ...((status === 429 || status === 503) && { retryAfterSeconds: 1 }),
    })
  })
  app.addHook('onSend', async (request, reply) => {
    if (lost.has(reply)) request.raw.socket.destroy()
  })
}

function readDelay({ headers }: FastifyRequest): number {
  const text = headers[DELAY_HEADER]
  if (text === undefined) return 0
  const delayMs = /^\d{1,5}$/.test(String(text)) ? Number(text) : Number.NaN
  return delayMs <= DELAY_MS_MAX
    ? delayMs
    : failField('Sandbox-Delay', 'maximum', `must be milliseconds, at most ${DELAY_MS_MAX}`, 'header')
}

interface Wanted {
  readonly name: ErrorCode | TroubleName
  readonly times: number | undefined
}

function readFailure({ headers }: FastifyRequest): Wanted | undefined {
  const text = headers[HEADER]
  if (text === undefined) return undefined
  const [, name = '', times] = /^([a-z0-9_]+)(?:; ?times=(\d{1,3}))?$/.exec(String(text)) ?? []
  if (!isWord(name) && !isTrouble(name))
    return fail('validation_failed', {
      description: `Sandbox-Fail: must be a word of the error reference or one of ${Object.keys(TROUBLES).join(', ')}, and may end in ; times=2`,
    })
  if (times === undefined) return { name, times }
  if (Number(times) > TIMES_MAX || headers['idempotency-key'] === undefined)
    return fail('validation_failed', {
      description: `Sandbox-Fail: times must be at most ${TIMES_MAX}, and needs an Idempotency-Key to count by`,
    })
  return { name, times: Number(times) }
}

/** Whether a request fails that is to fail so many times only, so that retries can be seen to work. */
function stillFails(
  failed: LRUCache<string, number>,
  { method, url, headers }: FastifyRequest,
  times: number | undefined,
): boolean {
  if (times === undefined) return true
  const key = JSON.stringify([method, url, headers.authorization, headers['idempotency-key']])
  const soFar = failed.get(key) ?? 0
  if (soFar >= times) return false
  failed.set(key, soFar + 1)
  return true
}

export interface InjectedFault {
  /** Value of `Sandbox-Fail`. */
  readonly name: ErrorCode | TroubleName
  readonly status: number | undefined
  readonly what: string
}

/** Everything that can be provoked: each failure that a caller can meet, and each way to get no response. */
export const INJECTED_FAULTS: readonly InjectedFault[] = [
  ...Object.entries(FAILURES).map(([errorCode, { status, description }]) => ({
    name: errorCode as ErrorCode,
    status,
    what: `${description}${status === 429 || status === 503 ? '; `Retry-After: 1`' : ''}`,
  })),
  ...Object.entries(TROUBLES).map(([name, { what }]) => ({
    name: name as TroubleName,
    status: name === 'bad_gateway' ? 502 : undefined,
    what,
  })),
]

/** The same as a Markdown table, for the generated reference. */
export function faultTable(): string {
  const rows = INJECTED_FAULTS.map(
    ({ name, status, what }) => `| \`${name}\` | ${status ?? 'none'} | ${what} |`,
  )
  return ['| `Sandbox-Fail` | Status | What happens |', '|---|---|---|', ...rows, ''].join('\n')
}
