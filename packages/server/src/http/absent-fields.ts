import type { TSchema } from 'typebox'

type Schema = TSchema & {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly minLength?: number
  readonly pattern?: unknown
  readonly format?: unknown
}

const allowsNull = ({ type, anyOf = [] }: Schema): boolean =>
  [type].flat().includes('null') || anyOf.some(allowsNull)

/** A text of any content: one with a form of its own, such as an e-mail address, is never empty. */
const isFreeText = ({ type, minLength, pattern, format }: Schema): boolean =>
  type === 'string' && minLength !== undefined && pattern === undefined && format === undefined

/**
 * Removes optional fields that stand for their absence: `null`, and `""` where the text must not be empty
 * (decision C14). Changes `value`.
 */
export function removeAbsentFields(schema: TSchema, value: unknown): void {
  const { properties, required = [] } = schema as Schema
  if (properties === undefined || typeof value !== 'object' || value === null) return
  const fields = value as Record<string, unknown>
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(fields, name) ? fields[name] : undefined
    const isAbsent = (given === null && !allowsNull(property)) || (given === '' && isFreeText(property))
    if (isAbsent && !required.includes(name)) delete fields[name]
    else removeAbsentFields(property, given)
  }
}
