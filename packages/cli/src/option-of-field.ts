import { type Command, Option } from 'commander'

/** What an option takes of a field's schema. */
export interface FieldSchema {
  readonly type?: unknown
  readonly default?: unknown
  readonly description?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly items?: FieldSchema
  readonly anyOf?: readonly FieldSchema[]
  readonly 'x-rule'?: string
}

/** How the command line has a field, where that is not as its schema has it. */
export interface Flag {
  /** Name of the option, without the hyphens. */
  readonly name?: string
  readonly description?: string
  /** Used where nothing is given. */
  readonly value?: unknown
  /** What the text stands for. Throws commander's `InvalidArgumentError`. */
  readonly read?: (text: string) => unknown
}

/** The name of an option: `referenceNumber` is `reference-number`. */
export const optionName = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The types of a schema's values. */
const typesOf = ({ type, anyOf = [] }: FieldSchema): unknown[] => [
  ...[type].flat(),
  ...anyOf.flatMap(typesOf),
]

const isOf = (schema: FieldSchema, ...types: readonly string[]): boolean =>
  typesOf(schema).some((type) => types.includes(type as string))

/** The first sentence of what a schema says, without the marks of the reference. */
const described = ({ description, items, 'x-rule': rule }: FieldSchema): string =>
  (description ?? rule ?? items?.description ?? items?.['x-rule'] ?? '').replaceAll('`', '').split(/\.\s/)[0]!

const lowered = (text: string): string =>
  /^[A-Z][a-z’ ]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text

/** A value as its schema has it; what is none of its kind is left to the schema's check. */
function readValue(schema: FieldSchema, text: string): unknown {
  if (isOf(schema, 'string')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const readList =
  (items: FieldSchema) =>
  (text: string, before: readonly unknown[] | undefined): unknown[] => [
    ...(before ?? []),
    ...text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => readValue(items, part)),
  ]

const PLACEHOLDERS: Readonly<Record<string, string>> = { rupees: 'rupees', 'date-time': 'instant' }

const placeholderOf = (schema: FieldSchema): string =>
  PLACEHOLDERS[schema.format ?? ''] ??
  (isOf(schema, 'number', 'integer') ? 'number' : isOf(schema, 'boolean') ? 'boolean' : 'text')

/** An option by which a field is given: its name, choices and text come from its schema. */
export function optionOf(field: string, schema: FieldSchema, flag: Flag = {}, required = false): Option {
  const { name = optionName(field), description = lowered(described(schema)), read, value } = flag
  const isFlag = isOf(schema, 'boolean') && !required && value === undefined && read === undefined
  const placeholder = schema.items ? ' <values...>' : isFlag ? '' : ` <${placeholderOf(schema)}>`
  const { default: usual = value, enum: choices } = schema
  const isRequired = required && usual === undefined
  const option = new Option(
    `--${name}${placeholder}`,
    isRequired ? `${description} (required)`.trim() : description,
  )
  if (usual !== undefined) option.default(usual)
  option.makeOptionMandatory(isRequired)
  if (choices?.every((choice) => typeof choice === 'string') && !read) return option.choices(choices)
  if (isFlag) return option
  if (schema.items && !read) return option.argParser(readList(schema.items))
  return option.argParser(read ?? ((text: string) => readValue(schema, text)))
}

/** Under which name commander keeps the value of a field's option. */
export const keptAs = (field: string, { name }: Flag = {}): string =>
  name === undefined ? field : name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Adds the options of fields to a command. */
export function addFieldOptions(
  command: Command,
  fields: Readonly<Record<string, FieldSchema>>,
  {
    flags = {},
    required = [],
  }: { readonly flags?: Readonly<Record<string, Flag>>; readonly required?: readonly string[] },
): void {
  for (const [field, schema] of Object.entries(fields))
    command.addOption(optionOf(field, schema, flags[field], required.includes(field)))
}
