/** One call of an operation: the request and its response. */
interface Example {
  /** `success`, or the error code. */
  readonly name: string
  readonly summary: string
  readonly request: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: object | string
    /** What an encrypted body holds. */
    readonly encrypted?: object
  }
  readonly status: number
  readonly mediaType: string
  readonly response: unknown
}

/** Worked examples by operation id. */
export type Examples = Readonly<Record<string, readonly Example[]>>

/** What the reference of a sandbox has instead of recorded values, so that each operation can be tried at once. */
export interface LiveReference {
  readonly examples: Examples
  /** By security scheme: what the page sends. */
  readonly secrets: Readonly<Record<string, Record<string, unknown>>>
  /** The session cookie of the partner's token; absent until there is one. */
  readonly cookie?: string
  /** By operation: what a reader must know of its example, such as that there is none. */
  readonly notes: Readonly<Record<string, string>>
  /** What a reader must know of all examples. */
  readonly notice?: string
}

interface Content {
  [mediaType: string]: { examples?: Record<string, object> }
}
interface Documented {
  readonly operationId?: string
  description?: string
  readonly parameters?: {
    readonly name: string
    readonly in: string
    readonly schema: { readonly type?: string }
    example?: string | number
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses?: Record<string, { readonly content?: Content }>
}

/** Puts the examples where the document's readers look for them: parameters, bodies, responses. */
export function addExamples(paths: Record<string, Record<string, Documented>>, examples: Examples): void {
  for (const methods of Object.values(paths))
    for (const operation of Object.values(methods))
      for (const example of examples[operation.operationId ?? ''] ?? []) addExample(operation, example)
}

/** Puts notes before the descriptions of their operations. */
export function addNotes(
  paths: Record<string, Record<string, Documented>>,
  notes: Readonly<Record<string, string>>,
): void {
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const note = notes[operation.operationId ?? '']
    if (note) operation.description = `${note}\n\n${operation.description ?? ''}`
  }
}

function addExample(
  operation: Documented,
  { name, summary, request, status, mediaType, response: reply }: Example,
): void {
  const { params, query, headers, body, encrypted } = request
  const sent = { path: params, query, header: headers }
  if (status < 400)
    for (const parameter of operation.parameters ?? []) {
      const fields = sent[parameter.in as keyof typeof sent] ?? {}
      const value =
        fields[parameter.name] ?? Object.entries(fields).find(([key]) => key === parameter.name)?.[1]
      const isNumber = parameter.schema.type !== 'string' && /^\d+$/.test(value ?? '')
      if (value !== undefined) parameter.example ??= isNumber ? Number(value) : value
    }
  const type = headers?.['content-type'] ?? 'application/json'
  // What breaks the schema on purpose shows in its failure, and would be no example of the schema.
  if (body !== undefined && (status < 400 || encrypted)) {
    const description = encrypted && `The encrypted object: \`${JSON.stringify(encrypted)}\``
    const value = typeof body === 'string' ? readable(body, type) : body
    put(operation.requestBody?.content[type], name, { summary, ...(description && { description }), value })
  }
  put(operation.responses?.[status]?.content?.[mediaType], name, { summary, value: reply })
}

/** A form and lines are shown as they go; a JSON text as the text that it holds. */
function readable(body: string, type: string): unknown {
  if (type === 'application/x-www-form-urlencoded') return Object.fromEntries(new URLSearchParams(body))
  return type === 'application/json' ? body.replace(/^"|"$/g, '') : body
}

/** Successes of several variants keep apart by a number. */
function put(content: Content[string] | undefined, name: string, example: object): void {
  if (!content) return
  content.examples ??= {}
  const { examples } = content
  let free = name
  for (let n = 2; free in examples; n++) free = `${name}_${n}`
  examples[free] = example
}
