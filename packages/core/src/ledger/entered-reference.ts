import { failField } from '@svc/contract/fail-fields'
import { readReference } from '@svc/kernel/bank-reference'

/** Of banks and networks alike: their own references have no common length, and not all are UTRs. */
const FORM = { max: 64, digits: 'any' } as const

/** A bank's reference that an operator entered, in canonical form. Throws `validation_failed`, which names the field. */
export function enteredReference(text: string, name = 'reference'): string {
  const reference = readReference(text, FORM)
  return 'value' in reference ? reference.value : failField(name, 'format', reference.unreadable)
}
