import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { EVENT_TYPES } from '../events.ts'
import type { Headers } from './endpoint.ts'

const HEADERS_MAX = 10

/** Fields of an endpoint that its tenant chooses. */
export const ENDPOINT_FIELDS = {
  url: Type.String({ maxLength: 2_048, description: '`https`; in sandbox mode also `http` and loopback' }),
  description: Type.String({ maxLength: 255 }),
  types: Type.Array(Type.Enum(EVENT_TYPES), {
    uniqueItems: true,
    maxItems: EVENT_TYPES.length,
    description: 'What is sent; empty, the default, for everything',
  }),
  enabled: Type.Boolean({ description: 'True by default. A disabled endpoint is sent nothing' }),
  headers: Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }), Type.String({ maxLength: 1_024 }), {
    maxProperties: HEADERS_MAX,
    description: 'Headers to send along, such as an `Authorization` of yours; kept sealed, never answered',
  }),
}

const OURS =
  /^(?:webhook-.*|host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|user-agent)$/
/** Visible characters and spaces in between: a line break would be another header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Throws `validation_failed` for headers that are ours to set, or that no HTTP message may carry. */
export function checkedHeaders(headers: Headers): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  for (const [name, value] of entries) {
    if (!/^[a-z0-9-]{1,64}$/.test(name) || OURS.test(name))
      fail('validation_failed', { description: 'headers: a name is not free to choose' })
    if (!VALUE.test(value))
      fail('validation_failed', { description: 'headers: a value must be visible ASCII' })
  }
  if (new Set(entries.map(([name]) => name)).size !== entries.length)
    fail('validation_failed', { description: 'headers: each name may come once' })
  return Object.fromEntries(entries)
}
