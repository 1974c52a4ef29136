import { failField } from '@svc/contract/fail-fields'
import type { Headers } from './endpoint.ts'

const OURS =
  /^(?:webhook-.*|host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|user-agent)$/
/** Visible characters and spaces in between: a line break would be another header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Throws `validation_failed` for headers that are ours to set, or that no HTTP message may carry. */
export function checkedHeaders(headers: Headers): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  for (const [name, value] of entries) {
    if (!/^[a-z0-9-]{1,64}$/.test(name) || OURS.test(name))
      failField('headers', 'not_allowed', 'contains a name that is reserved')
    if (!VALUE.test(value)) failField('headers', 'format', 'must have values of visible ASCII')
  }
  if (new Set(entries.map(([name]) => name)).size !== entries.length)
    failField('headers', 'unique_items', 'must have each name once')
  return Object.fromEntries(entries)
}
