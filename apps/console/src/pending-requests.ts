import type { Middleware } from 'openapi-fetch'
import { APP } from './app.ts'
import { outcomeOf } from './failure.ts'
import { setsState } from './state-operations.ts'

/** A request with a key whose outcome is not known yet. */
interface Pending {
  /** Digest of who sends what, and where. */
  readonly content: string
  readonly key: string
  /** When it was sent first. */
  readonly sentMs: number
}

/** A request that is on its way. */
interface Sent extends Pick<Pending, 'content' | 'key'> {
  readonly formKey: string
  /** Whether the same request was sent before and its outcome is still unknown. */
  readonly again: boolean
}

const HEADER = 'idempotency-key'
const STORED = `svc.${APP}.pending`
/** As many rows as an action on a list has (decision O10). */
const PENDING_MAX = 500
/** The service keeps each response at least as long (`IDEMPOTENCY_HOURS`). */
const KEPT_MS = 24 * 3_600_000

const isPending = (value: unknown): value is Pending => {
  if (typeof value !== 'object' || value === null) return false
  const { content, key, sentMs } = value as Record<string, unknown>
  return typeof content === 'string' && typeof key === 'string' && typeof sentMs === 'number'
}

/** Where the browser stores nothing for the page. */
let inMemory = '[]'

function storedText(): string {
  try {
    return sessionStorage.getItem(STORED) ?? inMemory
  } catch {
    return inMemory
  }
}

function pendingRequests(): readonly Pending[] {
  try {
    const stored: unknown = JSON.parse(storedText())
    const since = Date.now() - KEPT_MS
    return Array.isArray(stored) ? stored.filter(isPending).filter(({ sentMs }) => sentMs > since) : []
  } catch {
    return []
  }
}

/** In the session of the tab: it survives a reload, and ends with the tab. */
function store(pending: readonly Pending[]): void {
  inMemory = JSON.stringify(pending.slice(-PENDING_MAX))
  try {
    sessionStorage.setItem(STORED, inMemory)
  } catch {
    // Full or forbidden: the page itself still knows them.
  }
}

const forget = (isMeant: (pending: Pending) => boolean): void =>
  store(pendingRequests().filter((pending) => !isMeant(pending)))

/**
 * 53 bits (cyrb53), so that names and addresses are not stored. Browsers offer SHA-256 over TLS only. Two contents
 * with one digest do no harm: the service compares the contents, and refuses a key that was used with another one.
 */
function digestOf(text: string): string {
  let [low, high] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 2_654_435_761)
    high = Math.imul(high ^ code, 1_597_334_677)
  }
  const mixed = (one: number, other: number) =>
    Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909)
  ;[low, high] = [mixed(low, high), mixed(high, low)]
  return (4_294_967_296 * (2_097_151 & high) + (low >>> 0)).toString(36)
}

/** Who is signed in, for the requests of this page. The session sets it. */
export const signedIn = { who: (): string => '' }

async function contentOf(request: Request): Promise<string> {
  const { method, url, headers } = request
  const precondition = headers.get('if-match') ?? ''
  return digestOf([signedIn.who(), method, url, precondition, await request.clone().text()].join('\n'))
}

const sent = new WeakMap<Request, Sent>()
/** Keys of forms, and the earlier keys with which their requests were sent. */
const taken = new Map<string, string>()

/** Called when a form had been sent before it was opened, without a response, and now has its result. */
export const onRepeated = new Set<() => void>()

/** Timeouts of proxies aside, a refused request changed nothing. */
const isRefusal = ({ status }: Response): boolean => status >= 400 && status < 500 && status !== 408

async function isReused(response: Response): Promise<boolean> {
  if (response.status !== 422) return false
  const { error } = (await response.clone().json()) as { error?: string }
  return error === 'idempotency_key_reused'
}

async function settle({ content, key, formKey, again }: Sent, response: Response): Promise<void> {
  if (response.ok) {
    forget((pending) => pending.key === key)
    if (key !== formKey) for (const report of onRepeated) report()
    return
  }
  // An earlier attempt may have been carried out, whatever a later one was refused for: sign-in, rate, overload.
  if (isRefusal(response) && (!again || (await isReused(response))))
    forget((pending) => pending.content === content)
}

/**
 * Gives a request the key of the same request whose outcome is unknown: of a form that was closed, or of this page
 * before it was loaded again (decision C13). Every request with a key passes here, of whatever form.
 */
export const keyOfContent: Middleware = {
  async onRequest({ request, schemaPath }) {
    const formKey = request.headers.get(HEADER)
    if (formKey === null || setsState(request.method, schemaPath)) return
    const content = await contentOf(request)
    const pending = pendingRequests()
    const former = pending.find((one) => one.content === content)
    // A form that is sent with other values after a lost response is refused, so its key stays the same.
    const key = former?.key ?? taken.get(formKey) ?? formKey
    if (key !== formKey) taken.set(formKey, key)
    if (!former) store([...pending, { content, key, sentMs: Date.now() }])
    request.headers.set(HEADER, key)
    sent.set(request, { content, key, formKey, again: former !== undefined })
  },
  async onResponse({ request, response }) {
    const of = sent.get(request)
    if (!of) return
    // A connection that breaks in the middle of the response leaves its outcome unknown, too.
    await response
      .clone()
      .arrayBuffer()
      .catch(() => {
        throw outcomeOf(request)
      })
    await settle(of, response)
  },
}
