import type { TSchema } from 'typebox'

type Schema = TSchema & {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: unknown
  readonly minLength?: number
  readonly pattern?: unknown
  readonly format?: unknown
}

const allowsNull = ({ type, anyOf = [] }: Schema): boolean =>
  [type].flat().includes('null') || anyOf.some(allowsNull)

/**
 * A text of any content: one with a form, such as an e-mail address, is never empty. `minLength: 0` says that an empty
 * text is a value.
 */
const isFreeText = ({ type, enum: values, minLength, pattern, format }: Schema): boolean =>
  [type].flat().every((each) => each === 'string' || each === 'null') &&
  minLength !== 0 &&
  [values, pattern, format].every((form) => form === undefined)

/** Removes optional fields that stand for their absence: `null`, and `""` of a free text (decision C14). Changes `value`. */
export function removeAbsentFields(schema: TSchema, value: unknown): void {
  const { items, properties, required = [] } = schema as Schema
  if (items !== undefined && Array.isArray(value)) {
    for (const item of value) removeAbsentFields(items, item)
    return
  }
  if (properties === undefined || typeof value !== 'object' || value === null) return
  const fields = value as Record<string, unknown>
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(fields, name) ? fields[name] : undefined
    const isAbsent = (given === null && !allowsNull(property)) || (given === '' && isFreeText(property))
    if (isAbsent && !required.includes(name)) delete fields[name]
    else removeAbsentFields(property, given)
  }
}
