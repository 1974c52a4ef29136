import type { HttpResponse } from './exchange.ts'
import { kindOf } from './expect.ts'

/** What can be compared of a response: `status`, `header x`, and the path of every field, each with kind and values. */
export type Facts = ReadonlyMap<string, Fact>

export interface Fact {
  readonly kinds: ReadonlySet<string>
  /** As JSON; without what differs with every request by its nature, such as instants and ids. */
  readonly values: ReadonlySet<string>
}

/** They say how the response travels, or differ with every request. */
const PASSING = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'set-cookie',
  'transfer-encoding',
])

const INSTANT = /^\d{4}-\d\d-\d\d|^[A-Z][a-z]{2} \d{1,2}, \d{4} |^[A-Z][a-z]{2}, \d\d /
const UNIQUE = [/[0-9a-f]{8}-[0-9a-f]{4}-/, /^[a-z]+_[0-9A-Za-z]{16,}$/, /^\S{40,}$/]
const NUMBER_MAX = 1e9
/** Levels below which a body is not compared. */
const DEPTH_MAX = 12

const isPassing = (value: unknown): boolean =>
  typeof value === 'string'
    ? INSTANT.test(value) || UNIQUE.some((form) => form.test(value))
    : typeof value === 'number' && Math.abs(value) > NUMBER_MAX

/** Two servers have two addresses, which no difference is about. */
const ORIGIN = /https?:\/\/[^/\s"']+/g

/** The facts of a response; addresses of servers are left out of every text. */
export function factsOf(response: HttpResponse): Facts {
  const facts = new Map<string, { kinds: Set<string>; values: Set<string> }>()
  const add = (name: string, value: unknown): void => {
    const fact = facts.get(name) ?? { kinds: new Set(), values: new Set() }
    facts.set(name, fact)
    fact.kinds.add(kindOf(value))
    const plain = typeof value === 'string' ? value.replace(ORIGIN, '') : value
    if (value === null || typeof value !== 'object')
      fact.values.add(isPassing(plain) ? '…' : JSON.stringify(plain))
  }
  for (const [name, value] of Object.entries(response.headers))
    if (!PASSING.has(name)) add(`header ${name}`, value)
  for (const cookie of response.cookies)
    add(`cookie ${cookie.split('=')[0]}`, cookie.split(';').slice(1).join(';'))
  if (response.json === undefined) add('body', response.text)
  else addJson(response.json, '', 0, add)
  return facts
}

type Add = (name: string, value: unknown) => void

function addJson(value: unknown, path: string, depth: number, add: Add): void {
  if (depth > DEPTH_MAX) return
  add(path === '' ? 'body' : path, value)
  const under = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (Array.isArray(value)) for (const item of value) addJson(item, `${path}[]`, depth + 1, add)
  else if (value !== null && typeof value === 'object') {
    const fields = envelopeOf(value as Record<string, unknown>)
    for (const [name, item] of Object.entries(fields)) addJson(item, under(name), depth + 1, add)
  }
}

/** Spec §2.2: `payload` of a failure is JSON in a text, which errorMessage repeats; each part counts once. */
function envelopeOf(object: Record<string, unknown>): Record<string, unknown> {
  const { payload, errorResponse } = object
  if (typeof payload !== 'string' || errorResponse === null || typeof errorResponse !== 'object')
    return object
  const repeated = (errorResponse as Record<string, unknown>)['errorMessage'] === payload
  const inner = repeated ? { ...errorResponse, errorMessage: 'the text of payload' } : errorResponse
  return { ...object, payload: parsed(payload), errorResponse: inner }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
