import AjvCompiler from '@fastify/ajv-compiler'
import { Ajv, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaValidationError } from 'fastify'
import type { TSchema } from 'typebox'
import { paiseFromWire } from '../../kernel/money.ts'
import { parseRfc3339 } from '../../kernel/time.ts'
import { describeFaults } from './validation.ts'

/** How every schema is checked, whoever brings the value: nothing is coerced, dropped or filled in (design, rule 7). */
export const VALIDATOR_OPTIONS = {
  removeAdditional: false,
  coerceTypes: false,
  useDefaults: false,
  allErrors: true,
  verbose: true,
  keywords: ['x-rule'],
  formats: {
    'date-time': (text: string) => parseRfc3339(text) !== undefined,
    rupees: { type: 'number', validate: (amount: number) => paiseFromWire(amount) !== undefined },
  },
} satisfies Options

/** Checks values that do not come as the body of a request by the rules of one: answers the faults in the same words. */
export function bodyCheck(schema: TSchema): (value: unknown) => string | undefined {
  const validate = new Ajv(VALIDATOR_OPTIONS).compile(schema)
  return (value) =>
    validate(value) ? undefined : describeFaults(validate.errors as FastifySchemaValidationError[], 'body')
}

type Compile = (route: object | boolean) => ValidateFunction

/** Fastify's own compiler of schemas, put off to the first value that comes: all of them at once take a third of a start. */
export function lazyValidators() {
  const build = AjvCompiler() as (schemas: object, options?: object) => Compile
  return (schemas: object, options?: object) => {
    const compile = build(schemas, options)
    return (route: object | boolean) => {
      let validate: ValidateFunction | undefined
      const check = (value: unknown): boolean => {
        validate ??= compile(route)
        const isValid = validate(value)
        check.errors = validate.errors
        return isValid
      }
      check.errors = undefined as ValidateFunction['errors']
      // What Fastify takes of it is that it is called, and its errors.
      return check as ValidateFunction
    }
  }
}
