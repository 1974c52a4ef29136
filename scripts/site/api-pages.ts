// The OpenAPI document as Markdown, one page for each tag: read, searched and linked like the guides.

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: Schema
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

interface Media {
  readonly schema?: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
}

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

interface Response {
  readonly $ref?: string
  readonly description?: string
  readonly content?: Readonly<Record<string, Media>>
}

interface ApiOperation {
  readonly tags: readonly string[]
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Response>>
}

interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
}

/** Of operators and of monitors: their pages come last. */
const LAST = new Set(['UPI rail', 'Card rail', 'Bank rail', 'Health and metrics'])
/** Errors that any operation may have; the page of errors has them. */
const USUAL = new Set([
  'bad_request',
  'headers_too_large',
  'internal_error',
  'malformed_body',
  'payload_too_large',
  'rate_limited',
  'request_timeout',
  'temporarily_unavailable',
  'too_many_requests',
  'unsupported_media_type',
])

const cell = (text: string | undefined): string => (text ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')
const code = (value: unknown): string => `\`${String(value)}\``
const fenced = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Reads a document, whose parts refer to each other. */
class Reader {
  readonly #document: ApiDocument

  constructor(document: ApiDocument) {
    this.#document = document
  }

  resolve<T extends { readonly $ref?: string }>(part: T): T {
    if (part.$ref === undefined) return part
    const keys = part.$ref.split('/').slice(1)
    return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], this.#document) as T
  }

  flat(schema: Schema = {}): Schema {
    const { allOf = [], ...found } = this.resolve(schema)
    if (allOf.length === 0) return found
    const parts = [found, ...allOf.map((each) => this.flat(each))]
    const properties: Record<string, Schema> = Object.assign({}, ...parts.map((part) => part.properties))
    const required = parts.flatMap((part) => part.required ?? [])
    return Object.assign({}, ...parts, { properties, required })
  }

  type(schema: Schema = {}): string {
    const found = this.flat(schema)
    if (schema.$ref && found.properties) return schema.$ref.split('/').at(-1)!
    if (found.enum) return found.enum.map(code).join(', ')
    if (found.const !== undefined) return code(found.const)
    if (found.type === 'array') return `array of ${this.type(found.items)}`
    const choices = found.anyOf ?? found.oneOf
    if (choices) return choices.map((each) => this.type(each)).join(' or ')
    return [found.type ?? 'any'].flat().join(' or ')
  }

  /** The fields of an object, and those of the objects in it. */
  fields(schema: Schema | undefined, prefix = ''): string[][] {
    const { properties = {}, required = [] } = this.flat(schema)
    return Object.entries(properties).flatMap(([name, field]) => {
      const found = this.flat(field)
      const type = this.type(field) + (required.includes(name) ? ', required' : '')
      const row = [code(prefix + name), cell(type), cell(field.description ?? found.description)]
      const inner = found.type === 'array' ? found.items : field
      return prefix === '' ? [row, ...this.fields(inner, `${name}.`)] : [row]
    })
  }
}

const exampleOf = ({ example, examples }: Media): unknown =>
  example ?? Object.values(examples ?? {})[0]?.value

function bodyParts(reader: Reader, title: string, media: Media, schema = media.schema): string[] {
  const example = exampleOf(media)
  return [
    `${title}:`,
    table(['Field', 'Type', ''], reader.fields(schema)),
    example === undefined ? '' : fenced(example),
  ]
}

function responseParts(reader: Reader, status: string, response: Response): string[] {
  const media = reader.resolve(response).content?.['application/json']
  if (!media) return []
  const payload = reader.flat(media.schema).properties?.['payload']
  const title = `Response ${status}${payload ? ', `payload`' : ''}`
  return bodyParts(reader, title, media, payload ?? media.schema)
}

function errorLine(reader: Reader, responses: ApiOperation['responses']): string {
  const found = Object.entries(responses).flatMap(([status, response]) => {
    if (status < '400') return []
    const named = (reader.resolve(response).description ?? '').matchAll(/`(\w+)`/g)
    return [...named].flatMap(([, name = '']) =>
      USUAL.has(name) ? [] : `[\`${name}\`](../errors.md#${name}) ${status}`,
    )
  })
  return found.length === 0 ? '' : `Errors: ${found.join(', ')}.`
}

function operationParts(reader: Reader, path: string, method: string, operation: ApiOperation): string[] {
  const { summary, operationId, description = '', parameters = [], requestBody, responses } = operation
  const rows = parameters
    .map((each) => reader.resolve(each))
    .map(({ name, in: place, schema, required, description: text }) => [
      code(name),
      place,
      cell(reader.type(schema) + (required ? ', required' : '')),
      cell(text),
    ])
  return [
    `## ${summary ?? operationId}`,
    `\`${method.toUpperCase()} ${path}\``,
    description,
    table(['Parameter', 'In', 'Type', ''], rows),
    ...Object.entries(requestBody?.content ?? {}).flatMap(([mime, media]) =>
      bodyParts(reader, `Request body, \`${mime}\``, media),
    ),
    ...Object.entries(responses).flatMap(([status, response]) =>
      status < '400' ? responseParts(reader, status, response) : [],
    ),
    errorLine(reader, responses),
  ]
}

export const slugOf = (tag: string): string => tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

/** A page for each tag, by its name in addresses. */
export function apiPages(document: ApiDocument): Map<string, string> {
  const reader = new Reader(document)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const tags = document.tags.toSorted((a, b) => Number(LAST.has(a.name)) - Number(LAST.has(b.name)))
  return new Map(
    tags.flatMap(({ name, description = '' }): [string, string][] => {
      const found = operations.filter(({ operation }) => operation.tags[0] === name)
      if (found.length === 0) return []
      const parts = found.flatMap(({ path, method, operation }) =>
        operationParts(reader, path, method, operation),
      )
      const text = [`# Operations: ${name}`, description, ...parts].filter((part) => part !== '').join('\n\n')
      return [[slugOf(name), `${text}\n`]]
    }),
  )
}
