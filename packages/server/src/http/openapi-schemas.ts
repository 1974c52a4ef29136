export type Json = Record<string, unknown>

const isObject = (node: unknown): node is Json => node !== null && typeof node === 'object'

/** Which way a schema's values travel: clients accept fields that they do not know, the service does not. */
type Direction = 'request' | 'response'

/**
 * Collects the components of a document and turns the validator's schemas into those of its readers: without the
 * validator's own keywords, open to new fields in responses (decision R6), and with a name for every record.
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

  #walk(node: unknown, direction: Direction): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#walk(item, direction))
    if (!isObject(node)) return node
    const copy = Object.fromEntries(
      Object.entries(asDocumented(node)).map(([key, value]) => [key, this.#walk(value, direction)]),
    )
    if (direction === 'response' && copy['additionalProperties'] === false)
      delete copy['additionalProperties']
    const { title, type } = copy
    if (Array.isArray(copy['enum']) && type === undefined) copy['type'] = typeof copy['enum'][0]
    if (typeof title !== 'string' || type !== 'object') return copy
    const known = this.#schemas[title]
    if (known === undefined) this.#schemas[title] = copy
    else if (!this.#given.has(title) && JSON.stringify(known) !== JSON.stringify(copy))
      throw new Error(`two schemas of the OpenAPI document are named ${title}`)
    return { $ref: `#/components/schemas/${title}` }
  }
}

/** `x-documented` says what readers see: with a type or alternatives instead of the schema, else beside it. */
function asDocumented({ 'x-documented': documented, ...schema }: Json): Json {
  delete schema['x-rule']
  if (!isObject(documented)) return schema
  const replaces = 'type' in documented || 'anyOf' in documented
  return replaces ? { description: schema['description'], ...documented } : { ...schema, ...documented }
}

export const refTo = (kind: 'headers' | 'schemas', name: string): Json => ({
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
