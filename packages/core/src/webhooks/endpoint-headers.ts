import { failFields } from '@svc/contract/fail-fields'
import { entryError, type FieldError } from '@svc/contract/field-errors'
import type { Headers } from './endpoint.ts'

const RESERVED =
  /^(?:webhook-.*|host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|user-agent)$/
const NAME = /^[a-z0-9-]{1,64}$/
/** Visible characters and spaces in between: a line break would be another header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/**
 * The headers by their names in lower case. Throws `validation_failed` with each one that the service sets itself, or
 * that no HTTP message may carry (decision F4).
 */
export function checkedHeaders(headers: Headers): Headers {
  const checked: Record<string, string> = {}
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(headers)) {
    const error = headerError(name, value, checked)
    if (error) errors.push(error)
    else checked[name.toLowerCase()] = value
  }
  failFields(...errors)
  return checked
}

function headerError(name: string, value: string, before: Headers): FieldError | undefined {
  const key = name.toLowerCase()
  if (!NAME.test(key))
    return entryError('headers', name, 'format', 'must have a name of 1 to 64 letters, digits and hyphens')
  if (RESERVED.test(key))
    return entryError('headers', name, 'not_allowed', 'is a header that the service sets itself')
  if (Object.hasOwn(before, key))
    return entryError('headers', name, 'unique_items', 'is there twice: names of headers have no case')
  if (!VALUE.test(value))
    return entryError('headers', name, 'format', 'must have a value of visible ASCII characters')
  return undefined
}
