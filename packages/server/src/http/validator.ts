import type { Config } from '@svc/contract/config'
import { Ajv, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import type { TSchema } from 'typebox'
import { removeAbsentFields } from './absent-fields.ts'
import { FORMATS } from './fields.ts'
import { invalidFields } from './validation.ts'

/** How every schema is checked, wherever the value comes from: nothing is coerced or filled in (design, rule 7). */
const VALIDATOR_OPTIONS = {
  removeAdditional: false,
  coerceTypes: false,
  useDefaults: false,
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  keywords: ['x-rule', 'x-documented'],
  formats: FORMATS,
} satisfies Options

type UnknownFields = Config['UNKNOWN_FIELDS']

const validators = new Map<UnknownFields, Ajv>()

/** One for each way in a process: of a schema that any server has compiled it returns the function that it has. */
function validatorFor(unknownFields: UnknownFields): Ajv {
  const known = validators.get(unknownFields)
  if (known) return known
  const made = new Ajv({ ...VALIDATOR_OPTIONS, removeAdditional: unknownFields === 'ignore' })
  validators.set(unknownFields, made)
  return made
}

/** Checks values that do not come as the body of a request by the rules of one; returns what `validation_failed` reports. */
export function bodyCheck(
  schema: TSchema,
  unknownFields: UnknownFields = 'reject',
): (value: unknown) => ReturnType<typeof invalidFields> | undefined {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= validatorFor(unknownFields).compile(schema)
    removeAbsentFields(schema, value)
    return validate(value) ? undefined : invalidFields(validate.errors as FastifySchemaValidationError[])
  }
}

/**
 * Compiles each schema when the first value comes: all of them at once take a third of a start. It stands in for
 * `@fastify/ajv-compiler`, which loads ajv-formats last and so replaces our formats by looser ones.
 */
export function lazyValidators(unknownFields: UnknownFields = 'reject'): FastifySchemaCompiler<object> {
  const ajv = validatorFor(unknownFields)
  return ({ schema }) => {
    let validate: ValidateFunction | undefined
    const check = (value: unknown): boolean => {
      validate ??= ajv.compile(schema)
      const isValid = validate(value)
      check.errors = validate.errors
      return isValid
    }
    check.errors = undefined as ValidateFunction['errors']
    // What Fastify takes of it is that it is called, and its errors.
    return check as ReturnType<FastifySchemaCompiler<object>>
  }
}
