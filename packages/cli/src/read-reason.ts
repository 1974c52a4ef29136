import { closed, reasonText } from '@svc/console-api/console-schema'
import { bodyCheck } from '@svc/server/http/validator'
import { InvalidArgumentError } from 'commander'

const check = bodyCheck(closed({ reason: reasonText() }))

/** Why an operator does something, as the console takes it. */
export function readReason(text: string): string {
  const invalid = check({ reason: text })
  if (invalid) throw new InvalidArgumentError(`${invalid.description}.`)
  return text
}
