/** The part of a request that a field belongs to. */
export type RequestPart = 'body' | 'query' | 'path' | 'header'

/** The rules that a field can break, by stable names; more may be added. */
export const FIELD_RULES = [
  'required',
  'unknown_field',
  'type',
  'enum',
  'format',
  'not_empty',
  'min_length',
  'max_length',
  'min_items',
  'max_items',
  'unique_items',
  'minimum',
  'maximum',
  'exactly_one',
  'at_least_one',
  'not_allowed',
  'invalid',
] as const
export type FieldRule = (typeof FIELD_RULES)[number]

/** One field that breaks a rule of the operation (decision F4). Never contains the value that was sent. */
export interface FieldError {
  readonly in: RequestPart
  /** RFC 6901, within the body; of a query, path or header field `/` and its name. Empty for the whole part. */
  readonly pointer: string
  readonly rule: FieldRule
  readonly message: string
}

const NAME_MAX = 60

/** Names come from the caller too: only letters, digits and a few marks of them are repeated. */
export const printable = (name: string): string => name.replace(/[^\w.$@ -]/g, '?').slice(0, NAME_MAX)

/** RFC 6901 section 3. */
export const pointerTo = (...steps: readonly string[]): string =>
  steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** An error of one field by its name; the message is the name and what must be true of it. */
export const fieldError = (
  name: string,
  rule: FieldRule,
  mustBe: string,
  part: RequestPart = 'body',
): FieldError => ({ in: part, pointer: pointerTo(name), rule, message: `${name} ${mustBe}` })

/** An error of one entry of a map in the body, by the name that the caller gave it. */
export const entryError = (map: string, name: string, rule: FieldRule, mustBe: string): FieldError => ({
  in: 'body',
  pointer: pointerTo(map, printable(name)),
  rule,
  message: `${map}.${printable(name)} ${mustBe}`,
})
