import createClient, { type Middleware } from 'openapi-fetch'
import type { components, paths } from './api-types.ts'
import { watched } from './connection.ts'
import { readFailure, requireOutcome, withoutResponse } from './failure.ts'
import { hasKeptForm } from './kept-forms.ts'
import type { ListOf } from './known-pages.ts'
import { sinceLastAct } from './last-act.ts'
import { stringifySearch } from './list-search.ts'
import { keyOfContent } from './pending-requests.ts'
import { Question } from './question.ts'

/** Of the console, and of the portal, which shares parts with it. */
const BASE = `${import.meta.env.BASE_URL}api/v0` as '/console/api/v0'

/** Where the operations are, for links. */
export const apiAt: string = BASE

/** The operations by their paths after `/console/api/v0`. */
type Api = { [Path in keyof paths as Path extends `${typeof BASE}${infer Rest}` ? Rest : never]: paths[Path] }

export type Schemas = components['schemas']

/** The service, at the address that the page came from. */
export const api = createClient<Api>({
  baseUrl: window.location.origin + BASE,
  credentials: 'same-origin',
  // Pages of other origins cannot send it: they would need a leave that the service never gives.
  headers: { 'x-svc-console': '1' },
})

/** The person proves again who they are. */
export const stepUp = new Question()
/** The person signs in again over the page, whose forms stay. */
export const signInAgain = new Question()

interface Sent {
  readonly copy: Request
  readonly atMs: number
}
const sent = new WeakMap<Request, Sent>()
let provedAtMs = Number.NEGATIVE_INFINITY

/** Whether the person does what a refused change needs: proves it, unless that was after it was sent, or signs in again. */
async function isDoneFor(error: string | undefined, { atMs }: Sent): Promise<boolean> {
  if (error === 'not_signed_in') return hasKeptForm() && signInAgain.ask()
  if (error !== 'step_up_required') return false
  if (provedAtMs >= atMs) return true
  if (!(await stepUp.ask())) return false
  provedAtMs = performance.now()
  return true
}

/** Sign-ins and proofs are what the dialogs themselves send: one that is refused asks for no other. */
const OF_SESSION = /\/api\/v0\/session(?:\/|$)/

const afterStepUp: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET' && !OF_SESSION.test(request.url))
      sent.set(request, { copy: request.clone(), atMs: performance.now() })
  },
  /** A change that needs a sign-in, or a recent one, is sent again after it. */
  async onResponse({ request, response }) {
    requireOutcome(request, response)
    const of = sent.get(request)
    if (![401, 403].includes(response.status) || !of) return undefined
    const { error } = (await response.clone().json()) as { error?: string }
    if (!(await isDoneFor(error, of))) return undefined
    const proved = await fetch(of.copy).catch((failed: unknown) => {
      throw withoutResponse(of.copy, failed)
    })
    requireOutcome(request, proved)
    return proved
  },
  onError: ({ error, request }) => withoutResponse(request, error) as Error,
}

/** What each request of console and portal passes, in this order, and each response in the opposite one. */
export const onEveryCall: readonly Middleware[] = [sinceLastAct, keyOfContent, afterStepUp]
api.use(...onEveryCall)

/** Called when a call finds that the session has ended, and the person does not sign in again over an open form. */
export const onSignedOut = new Set<() => void>()

async function signedOut(): Promise<void> {
  if (hasKeptForm() && (await signInAgain.ask())) return
  for (const report of onSignedOut) report()
}

interface HttpResponse<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** The body of a successful response; everything else is thrown as `CallFailed`. */
export async function responseOf<Data>(call: Promise<HttpResponse<Data>>): Promise<Exclude<Data, undefined>> {
  const { data, error, response } = await watched(call)
  if (response.ok) return data as Exclude<Data, undefined>
  const failed = readFailure(response, error)
  if (failed.code === 'not_signed_in') void signedOut()
  throw failed
}

/** A file as the body of a request, as it is. */
export const fileAsBody = (file: File) => ({
  body: file as never,
  bodySerializer: (body: unknown) => body as File,
  headers: { 'content-type': 'application/octet-stream' },
})

type RowOf<Operations> = Operations extends {
  get: { responses: { 200: { content: { 'application/json': { data: readonly (infer Row)[] } } } } }
}
  ? Row
  : never
type ListPath = { [Path in keyof Api]: RowOf<Api[Path]> extends never ? never : Path }[keyof Api]

export interface ListLoader<Row> {
  (query: Record<string, string>): Promise<ListOf<Row>>
  /** Address of the list as CSV, with these filters; absent where there is none. */
  readonly csv?: (query: Record<string, string>) => string
}

/**
 * Loads a page of a list. The query comes from the page's address, where a person may have written anything, so it is
 * not typed: the service checks it and says what is wrong. Filters of `always` hold whatever the address says.
 */
export function listAt<Path extends ListPath>(
  path: Path,
  inPath: Record<string, string> = {},
  always: Record<string, string> = {},
): ListLoader<RowOf<Api[Path]>> {
  const load = (query: Record<string, string>): Promise<ListOf<RowOf<Api[Path]>>> =>
    responseOf(
      api.GET(
        path as never,
        { params: { query: { limit: '25', ...query, ...always }, path: inPath } } as never,
      ),
    )
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name] ?? ''))
  const csv = (query: Record<string, string>) =>
    `${BASE}${filled}.csv${stringifySearch({ ...query, ...always })}`
  return Object.assign(load, { csv })
}
