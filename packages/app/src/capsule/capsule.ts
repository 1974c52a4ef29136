import { isDeepStrictEqual } from 'node:util'
import { SETTINGS } from '@svc/contract/config'
import { type Environment, givenSecret } from '@svc/contract/given-secret'

/** Increased when an older program could not replay what a newer one records. */
export const CAPSULE_VERSION = 1

/** A request as it came, without what is between two hops. */
export interface CapsuleRequest {
  /** From 1, in the order of arrival. */
  readonly number: number
  readonly method: string
  /** The path with the query, as it was sent. */
  readonly target: string
  /** Names and values in turn, as they were sent. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** In place of a status: the connection broke, as `Sandbox-Fail` may ask for. */
export const CUT = 0

export interface CapsuleResponse {
  /** Or `CUT`. */
  readonly status: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** What an encrypted body was made of. */
  readonly plaintext?: Buffer | undefined
  /** It had no end when the recording ended. */
  readonly isStream?: true
}

export interface CapsuleExchange {
  readonly request: CapsuleRequest
  readonly response: CapsuleResponse
}

/** An instant at which the clocks stood, and the requests that were carried out together then. */
export interface Round {
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly requests: readonly number[]
}

/** What a capsule says of itself. */
export interface CapsuleManifest {
  readonly format: 'svc-capsule'
  readonly formatVersion: number
  /** A capsule of live data is refused. */
  readonly mode: 'sandbox' | 'live'
  readonly serviceVersion: string
  /** RFC 3339. */
  readonly recordedAt: string
  /** The address of the recording, which responses may name. */
  readonly baseUrl: string
  /** Of everything drawn by chance. */
  readonly seed: string
  /** Where the clocks stood when the service began. */
  readonly startedAtMs: number
  /** Opens what is encrypted in the snapshot: `SVC_MASTER_KEY` of the sandbox. */
  readonly masterKeys: string
  readonly settings: Readonly<Record<string, string>>
  readonly rounds: readonly Round[]
}

/**
 * Settings that stay with the installation: where it runs, what it reaches outside of itself, who operates it. All others
 * decide what responses say, and are in a capsule.
 */
const OF_THE_INSTALLATION =
  /^(?:SVC_MODE|HOST|PORT|PUBLIC_URL|DATA_DIR|ROLES|WORKERS|REPLICATION|LOG_LEVEL|RAIL_ADAPTERS|METRICS_TOKEN|RATE_LIMIT_URL|TRUST_PROXY|SVC_MASTER_KEY.*|SVC_OPERATOR.*|(?:DATABASE|TLS|RAIL_CLIENT|VAULT|OTEL|OIDC|ALERT_WEBHOOK|DISPUTE_EVIDENCE|DRAIN|CELL|CELLS)_.*|CELLS?)$/

export const isOfCapsule = (name: string): boolean =>
  Object.hasOwn(SETTINGS, name) && !OF_THE_INSTALLATION.test(name)

/** The settings of a capsule that an environment gives. */
export function capsuleSettings(environment: Environment): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const name of Object.keys(SETTINGS).filter(isOfCapsule)) {
    const { text } = givenSecret(environment, name)
    if (text) settings[name] = text
  }
  return settings
}

/** Headers that say how a response travelled, or how fast: never the same. */
const NOT_COMPARED = /^(?:date|connection|keep-alive|transfer-encoding|retry-after|(?:x-)?ratelimit(?:-.*)?)$/
/** Operations that measure the process, or report what an address outside of it did. */
const NOT_REPEATABLE = [
  /^\/metrics$/,
  /^\/(?:console|portal)\/api\/v0\/(?:overview|requests|sessions?|status|webhooks?|webhook-.*)(?:\/|$)/,
  /^\/api\/v0\/webhook-endpoints\/[^/]+\/attempts$/,
]

/** What keeps a response from being compared, in words; `undefined` for almost all. */
export function whyNotCompared({ request, response }: CapsuleExchange): string | undefined {
  if (response.isStream) return 'a stream without an end'
  const path = request.target.replace(/\?.*$/s, '')
  if (NOT_REPEATABLE.some((each) => each.test(path)))
    return 'reports what the process measured, or what a receiver of webhooks did'
  return undefined
}

/** Where two responses to a request differ. */
export interface Difference {
  readonly what: string
  readonly recorded: string
  readonly replayed: string
}

const AROUND = 60

/** What surrounds the first byte that differs. */
function around(body: Buffer, at: number): string {
  const from = Math.max(0, at - AROUND)
  const cut = body.subarray(from, at + AROUND).toString()
  return `${from > 0 ? '…' : ''}${cut}${at + AROUND < body.length ? '…' : ''}`
}

function differenceOfBodies(what: string, recorded: Buffer, replayed: Buffer): Difference | undefined {
  if (recorded.equals(replayed)) return undefined
  const shorter = Math.min(recorded.length, replayed.length)
  let at = 0
  while (at < shorter && recorded[at] === replayed[at]) at++
  return {
    what: `${what}, from byte ${at + 1} on`,
    recorded: around(recorded, at),
    replayed: around(replayed, at),
  }
}

function comparedHeaders({ headers, plaintext }: CapsuleResponse): Map<string, string[]> {
  const named = new Map<string, string[]>()
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase()
    if (NOT_COMPARED.test(name) || (plaintext && name === 'content-length')) continue
    named.set(name, [...(named.get(name) ?? []), headers[i + 1]!])
  }
  return named
}

/** The first difference between two responses to the same request. */
export function differenceOf(recorded: CapsuleResponse, replayed: CapsuleResponse): Difference | undefined {
  if (recorded.status !== replayed.status)
    return { what: 'status', recorded: statusOf(recorded), replayed: statusOf(replayed) }
  // No two encryptions are the same, so what was encrypted is compared.
  if (recorded.plaintext && replayed.plaintext) {
    const within = differenceOfBodies('encrypted body', recorded.plaintext, replayed.plaintext)
    if (within) return within
  } else {
    const body = differenceOfBodies('body', recorded.body, replayed.body)
    if (body) return body
  }
  const [before, after] = [comparedHeaders(recorded), comparedHeaders(replayed)]
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(name), after.get(name)]
    if (!isDeepStrictEqual(was, is))
      return { what: `header ${name}`, recorded: shown(was), replayed: shown(is) }
  }
  return undefined
}

const shown = (values: readonly string[] | undefined): string => values?.join(', ') ?? '(absent)'
const statusOf = ({ status, body }: CapsuleResponse): string =>
  status === CUT ? 'no response' : `${status} ${body.toString().slice(0, 2 * AROUND)}`.trim()
