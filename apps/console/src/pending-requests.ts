import { notifications } from '@mantine/notifications'
import type { Middleware } from 'openapi-fetch'
import { APP } from './app.ts'
import { outcomeOf } from './failure.ts'
import { setsState } from './state-operations.ts'

/** Requests with a key whose outcome is not known yet: by a digest of who sends what, and where. */
type Pending = Readonly<Record<string, readonly [key: string, firstSentMs: number]>>

/** A request that is on its way. */
interface Sent {
  readonly content: string
  readonly key: string
  readonly formKey: string
  /** Whether the same request was sent before and its outcome is still unknown. */
  readonly again: boolean
}

const HEADER = 'idempotency-key'
/** In the session of the tab: it survives a reload, and ends with the tab. */
const STORED = `svc.${APP}.pending`
/** As many rows as an action on a list has (decision O10). */
const PENDING_MAX = 500
/** The service keeps each response at least as long (`IDEMPOTENCY_HOURS`). */
const KEPT_MS = 24 * 3_600_000

function pendingRequests(): Pending {
  try {
    const stored = Object.entries(JSON.parse(sessionStorage.getItem(STORED) ?? '{}') as Pending)
    return Object.fromEntries(stored.filter(([, [, firstSentMs]]) => firstSentMs > Date.now() - KEPT_MS))
  } catch {
    return {}
  }
}

const store = (pending: [string, Pending[string]][]): void =>
  sessionStorage.setItem(STORED, JSON.stringify(Object.fromEntries(pending.slice(-PENDING_MAX))))

const forget = (isMeant: (content: string, key: string) => boolean): void =>
  store(Object.entries(pendingRequests()).filter(([content, [key]]) => !isMeant(content, key)))

/**
 * So that names and addresses are not stored; browsers offer SHA-256 over TLS only. Two contents with one digest do no
 * harm: the service compares the contents, and refuses a key that was used with another one.
 */
function digestOf(text: string): string {
  let [one, other] = [1, 2]
  for (let at = 0; at < text.length; at++) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x9e3779b1)
    other = Math.imul(other ^ text.charCodeAt(at), 0x5f356495)
  }
  return [text.length, one, other].join()
}

/** Who is signed in, for the requests of this page. The session sets it. */
export const signedIn = { who: (): string => '' }

async function contentOf(request: Request): Promise<string> {
  const { method, url, headers } = request
  return digestOf(
    [signedIn.who(), method, url, headers.get('if-match'), await request.clone().text()].join('\n'),
  )
}

const sent = new WeakMap<Request, Sent>()
/** Keys of forms, and the earlier keys with which their requests were sent. */
const taken = new Map<string, string>()

const isReused = async (response: Response): Promise<boolean> =>
  (await response.clone().text()).includes('idempotency_key_reused')

async function settle({ content, key, formKey, again }: Sent, response: Response): Promise<void> {
  const { ok, status } = response
  if (ok) forget((_, of) => of === key)
  // A refused request changed nothing, unless a proxy gave up waiting. An earlier attempt may have been carried out,
  // whatever a later one was refused for: sign-in, rate, overload.
  else if (status < 500 && status !== 408 && (!again || (await isReused(response))))
    forget((one) => one === content)
  if (ok && key !== formKey)
    notifications.show({
      // One for all rows of a list.
      id: 'done-once',
      color: 'yellow',
      autoClose: 10_000,
      title: 'Done once',
      message: 'It had been sent before without a response. To do it again, send it again.',
    })
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
    const [previous] = pending[content] ?? []
    // A form that is sent with other values after a lost response is refused, so its key stays the same.
    const key = previous ?? taken.get(formKey) ?? formKey
    taken.set(formKey, key)
    if (previous === undefined) store([...Object.entries(pending), [content, [key, Date.now()]]])
    request.headers.set(HEADER, key)
    sent.set(request, { content, key, formKey, again: previous !== undefined })
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
