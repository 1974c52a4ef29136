import { FAILURES } from '@svc/contract/errors'
import { EVENT_TYPES } from '@svc/contract/events'
import { FIELD_RULES } from '@svc/contract/field-errors'
import { ALL_SCOPES } from '@svc/contract/scopes'

export type Json = Record<string, unknown>

const isObject = (node: unknown): node is Json => node !== null && typeof node === 'object'

/** Which way a schema's values travel: clients accept fields that they do not know, the service does not. */
type Direction = 'request' | 'response'

/** Sets that get new values without notice (docs/reference/compatibility.md), beside the values of `reason`. */
const GROWING: readonly ReadonlySet<unknown>[] = [
  Object.keys(FAILURES),
  EVENT_TYPES,
  FIELD_RULES,
  ALL_SCOPES,
].map((values) => new Set<unknown>(values))

const mayGrow = (name: string, values: readonly unknown[]): boolean =>
  (/reason$/i.test(name) && values.every((value) => typeof value === 'string')) ||
  GROWING.some((set) => values.every((value) => set.has(value)))

/** Keywords whose schemas are still of the same field. */
const OF_THE_FIELD = new Set(['items', 'anyOf', 'oneOf', 'allOf'])

/** As many values as fit into a description; there are pages for the others. */
const LISTED_MAX = 20

/** A client that checks responses by the document must not reject a value that is newer than the client (decision R6). */
function withoutEnd({ enum: values, ...schema }: Json & { readonly enum: readonly unknown[] }): Json {
  const listed =
    values.length <= LISTED_MAX &&
    `${values.map((value) => `\`${String(value)}\``).join(', ')}; more may come`
  const description = [schema['description'], listed].filter(Boolean).join('. ')
  return { ...schema, ...(description && { description }), type: 'string', 'x-extensible-enum': values }
}

/** What TypeBox writes for a map with any names. Generators of clients know `additionalProperties` only. */
const ANY_NAME = '^.*$'

function withPlainMap({ patternProperties, ...schema }: Json): Json {
  if (!isObject(patternProperties)) return schema
  const { [ANY_NAME]: values, ...others } = patternProperties
  if (values === undefined || Object.keys(others).length > 0)
    throw new Error(`names of fields with a pattern: ${Object.keys(patternProperties).join(', ')}`)
  return { ...schema, additionalProperties: values }
}

/**
 * Collects the components of a document and turns the validator's schemas into those of its readers: without the
 * validator's own keywords, open to new fields and values in responses (decision R6), and with a name for every record.
 */
export class ComponentSchemas {
  readonly #schemas: Record<string, unknown>
  readonly #given: ReadonlySet<string>

  /** `given` are components in their final form, which replace schemas of the same title. */
  constructor(given: Readonly<Record<string, unknown>> = {}) {
    this.#schemas = { ...given }
    this.#given = new Set(Object.keys(given))
  }

  get sorted(): Json {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** The schema as readers see it; with a name it becomes a component, unless its own title names it. */
  add(schema: unknown, direction: Direction, name?: string): unknown {
    // Also drops what the schema builder keeps under symbols.
    const plain = JSON.parse(JSON.stringify(schema)) as Json
    const isNamable = plain['type'] === 'object' && plain['title'] === undefined
    return this.#walk(name && isNamable ? { title: name, ...plain } : plain, direction)
  }

  /** `name` is that of the field whose schema this is. */
  #walk(node: unknown, direction: Direction, name = ''): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#walk(item, direction, name))
    if (!isObject(node)) return node
    const copy = this.#open(
      Object.fromEntries(
        Object.entries(withPlainMap(asDocumented(node))).map(([key, value]) => [
          key,
          this.#walk(value, direction, OF_THE_FIELD.has(key) ? name : key),
        ]),
      ),
      direction,
      name,
    )
    const { title, type } = copy
    if (Array.isArray(copy['enum']) && type === undefined) copy['type'] = typeof copy['enum'][0]
    if (typeof title !== 'string' || type !== 'object') return copy
    const known = this.#schemas[title]
    if (known === undefined) this.#schemas[title] = copy
    else if (!this.#given.has(title) && JSON.stringify(known) !== JSON.stringify(copy))
      throw new Error(`two schemas of the OpenAPI document are named ${title}`)
    return { $ref: `#/components/schemas/${title}` }
  }

  #open(schema: Json, direction: Direction, name: string): Json {
    if (direction === 'request') return schema
    const { additionalProperties, ...rest } = schema
    const open = additionalProperties === false ? rest : schema
    const { enum: values } = open
    return Array.isArray(values) && mayGrow(name, values) ? withoutEnd({ ...open, enum: values }) : open
  }
}

/** `x-documented` says what readers see: with a type or alternatives instead of the schema, else beside it. */
function asDocumented({ 'x-documented': documented, ...schema }: Json): Json {
  delete schema['x-rule']
  if (!isObject(documented)) return schema
  const replaces = 'type' in documented || 'anyOf' in documented
  return replaces ? { description: schema['description'], ...documented } : { ...schema, ...documented }
}

export const refTo = (kind: 'headers' | 'responses' | 'schemas', name: string): Json => ({
  $ref: `#/components/${kind}/${name}`,
})

/** The fields of an object schema as a Markdown table, for what a reference cannot show otherwise. */
export function fieldTable(schema: unknown): string {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, { type?: string | string[]; description?: string }>
    required?: string[]
  }
  const rows = Object.entries(properties).map(
    ([name, { type = 'string or number', description = '' }]) =>
      `| \`${name}\` | ${[type].flat().join(' or ')} | ${required.includes(name) ? 'yes' : 'no'} | ${description.replaceAll('|', '\\|')} |`,
  )
  return ['| Field | Type | Required | Description |', '|---|---|---|---|', ...rows].join('\n')
}
