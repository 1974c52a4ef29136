import { fail } from './errors.ts'
import { type FieldError, fieldError } from './field-errors.ts'

/** Decision F4: fails with every field that breaks a rule, if there is one. */
export function failFields(...errors: readonly FieldError[]): void {
  if (errors.length > 0)
    fail('validation_failed', { description: errors.map(({ message }) => message).join('; '), errors })
}

/** Decision F4: fails because of one field. */
export const failField = (...field: Parameters<typeof fieldError>): never => {
  const error = fieldError(...field)
  return fail('validation_failed', { description: error.message, errors: [error] })
}
