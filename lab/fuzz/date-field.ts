import { randomBytes } from 'node:crypto'
import type { Pool } from 'undici'
import { EARLIEST, LATEST } from '../../packages/kernel/test/instants.ts'

type Json = any // oxlint-disable-line typescript/no-explicit-any -- read by name

/** What a request with one date in it led to. */
export interface DateOutcome {
  readonly status: number
  readonly text: string
  /** The field wherever responses have it since. */
  readonly seen?: readonly unknown[]
  /** Of a filter: whether it let a record pass, and of when those are that it let pass. */
  readonly found?: boolean
  readonly times?: readonly string[]
}

export interface DateField {
  readonly send: (text: string) => Promise<DateOutcome>
  /** Whether the operation takes this instant; undefined where that is a matter of moments. */
  readonly takes: (atMs: number, nowMs: number) => boolean | undefined
  /** Of a filter: whether it ought to let a record pass. */
  readonly finds?: (atMs: number, nowMs: number) => boolean | undefined
  /** Of a filter: whether a record of this time may pass. */
  readonly lets?: (atMs: number, timeMs: number) => boolean
}

export type Fields = Record<string, DateField>

/** Records are of the time of the run: an instant nearer than this is compared with what is listed only. */
const RUN_MS = 3_600_000
const DAY_MS = 86_400_000
const YEAR_MS = 366 * DAY_MS

/** Whether `at` is on this side of all times from `from` to `to`; undefined in between. */
const later = (at: number, from: number, to = from): boolean | undefined =>
  at > to ? true : at < from ? false : undefined
const not = (known: boolean | undefined): boolean | undefined => (known === undefined ? undefined : !known)
export const always = () => true

export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Reply>
export interface Reply {
  readonly status: number
  readonly text: string
  /** The payload of a success, or its text where it is CSV. */
  readonly payload: Json
}

export const senderOf =
  (pool: Pool, own: Record<string, string>): Send =>
  async (method, path, body, headers = {}) => {
    const {
      statusCode: status,
      headers: received,
      body: stream,
    } = await pool.request({
      method: method as 'GET',
      path,
      headers: { ...own, ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await stream.text()
    const isJson = String(received['content-type']).startsWith('application/json')
    const json = status === 200 && isJson ? JSON.parse(text) : undefined
    return { status, text, payload: isJson ? (json?.payload ?? json) : text }
  }

export const unique = (): string => `fuzz.${randomBytes(8).toString('hex')}`

/** A pair of filters, the first inclusive and the second exclusive, over records of the time of the run. */
export function range(
  [from, to]: readonly [string, string],
  requestWith: (query: Record<string, string>) => Promise<Reply>,
  timesOf: (payload: Json) => readonly string[] | undefined,
  found = (payload: Json): boolean => payload.data.length > 0,
): Fields {
  const send = (name: string) => async (text: string) => {
    const { status, text: received, payload } = await requestWith({ [name]: text })
    if (status !== 200) return { status, text: received }
    return { status, text: received, found: found(payload), times: timesOf(payload) ?? [] }
  }
  const passes = (at: number, now: number) => later(at, now - RUN_MS, now + RUN_MS)
  return {
    [from]: {
      send: send(from),
      takes: always,
      finds: (at, now) => not(passes(at, now)),
      lets: (at, time) => time >= at,
    },
    [to]: { send: send(to), takes: always, finds: passes, lets: (at, time) => time < at },
  }
}

export const named = (operation: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${operation} ${name}`, field]))

export const inFuture = (at: number, now: number) => {
  const begun = later(at, now - 60_000, now + 60_000)
  return begun ? not(later(at, now + 4.9 * YEAR_MS, now + 5.1 * YEAR_MS)) : begun
}
export const notBefore90Days = (at: number, now: number) =>
  later(at, now - 90 * DAY_MS - 60_000, now - 90 * DAY_MS + 60_000)
export const notLongAgo = (at: number, now: number) => {
  const early = later(at, now - 31 * DAY_MS - 60_000, now - 31 * DAY_MS + 60_000)
  return early ? not(later(at, now + 4 * 60_000, now + 6 * 60_000)) : early
}

/** The ends of a replay, each beside an end that leaves it open. */
export const replayFields = (send: (body: object) => Promise<Reply>): Fields =>
  range(
    ['from', 'to'],
    (query) => send({ from: EARLIEST, to: LATEST, ...query }),
    () => [],
    ({ queued }) => queued > 0,
  )

/** Something of the run, as it was: not found before its creation. */
export const asOf = (send: Send, url: string): DateField => ({
  async send(text) {
    const { status, text: body } = await send('GET', `${url}?${new URLSearchParams({ asOf: text })}`)
    return { status: status === 404 ? 200 : status, text: body, found: status === 200 }
  },
  takes: (at, now) => (at > now + RUN_MS ? false : at < now - 5_000 ? true : undefined),
  finds: (at, now) => (at < now - DAY_MS ? false : undefined),
})
