import type { HttpResponse } from './exchange.ts'
import { errorOf } from './expect.ts'
import { type Http, shorten } from './http.ts'
import { type Operation, operationOf } from './operation.ts'
import type { Redactor } from './redact.ts'
import type { About, Violation } from './verdict.ts'

/** The response that shows a violation, without secrets. */
export interface Seen {
  readonly operation: Operation
  /** 0 where there was no response. */
  readonly status: number
  readonly contentType: string | undefined
  /** `error` of the failure envelope. */
  readonly error: string | undefined
  readonly isJson: boolean
  /** The body, indented where it is JSON, with long texts cut. */
  readonly body: string
}

export interface Failed {
  readonly expected: string
  readonly received: string
  /** The request as a command, with credentials as variables. */
  readonly curl: string | undefined
  readonly about: About
  readonly seen: Seen | undefined
}

const TEXT_CHARS_MAX = 60
const BODY_CHARS_MAX = 4_000

export function failureOf(http: Http, { expected, received, response, about }: Violation): Failed {
  const { redactor } = http
  return {
    expected: shorten(redactor.redact(expected)),
    received: shorten(redactor.redact(received)),
    curl: response && http.curl(response),
    about,
    seen: response && seenIn(redactor, response, about.is === 'fields' ? about.paths[0] : undefined),
  }
}

function seenIn(redactor: Redactor, response: HttpResponse, path: string | undefined): Seen {
  const { request, status, headers, json, text } = response
  const type = headers['content-type']
  const error = errorOf(response)?.error
  const { name, ...operation } = operationOf(request.method, request.path)
  return {
    operation: { name: redactor.redact(name), ...operation },
    status,
    contentType: type === undefined ? undefined : shorten(redactor.redact(type)),
    error: typeof error === 'string' ? shorten(redactor.redact(error)).slice(0, TEXT_CHARS_MAX) : undefined,
    isJson: json !== undefined,
    body: bodyText(redactor.redact(text), path),
  }
}

/** Secrets are gone by now; a text that is no JSON afterwards is shown as it is. */
function bodyText(text: string, path: string | undefined): string {
  try {
    const json: unknown = JSON.parse(text)
    const short = (_: string, value: unknown): unknown =>
      typeof value === 'string' && value.length > TEXT_CHARS_MAX
        ? `${value.slice(0, TEXT_CHARS_MAX)}…`
        : value
    const shown = path === undefined ? json : focus(json, path.split('.'))
    return JSON.stringify(shown, short, 2).slice(0, BODY_CHARS_MAX)
  } catch {
    return shorten(text)
  }
}

/** Fields beside the one that matters. */
const NEIGHBOURS_MAX = 3

/** The value with the field at the path and a few neighbours on the way to it, so that a long record is no haystack. */
function focus(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const item: unknown = value[Number(name)]
    return value.length > 1 ? [focus(item, rest), '…'] : [focus(item, rest)]
  }
  const entries = Object.entries(value)
  const near = entries.filter(([field]) => field !== name).slice(0, NEIGHBOURS_MAX)
  const kept = entries.filter(([field]) => field === name || near.some(([other]) => other === field))
  const shown = kept.map(([field, item]) => [field, field === name ? focus(item, rest) : flat(item)] as const)
  const more = entries.length - kept.length
  return Object.fromEntries(more > 0 ? [...shown, ['…', `${more} more fields`]] : shown)
}

const flat = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length > 0 ? ['…'] : []
  return value !== null && typeof value === 'object' ? { '…': '…' } : value
}
