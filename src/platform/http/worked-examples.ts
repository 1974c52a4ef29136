/** One call of an operation: what was sent, and what was answered. */
interface Example {
  /** `success`, or the word of the failure. */
  readonly name: string
  readonly summary: string
  readonly request: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: object | string
    /** What a sealed body holds. */
    readonly sealed?: object
  }
  readonly status: number
  readonly mediaType: string
  readonly answer: unknown
}

/** Worked examples by operation id. */
export type Examples = Readonly<Record<string, readonly Example[]>>

interface Content {
  [mediaType: string]: { examples?: Record<string, object> }
}
interface Documented {
  readonly operationId?: string
  readonly parameters?: { readonly name: string; readonly in: string; example?: string }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses?: Record<string, { readonly content?: Content }>
}

/** Puts the examples where the document's readers look for them: parameters, bodies, answers. */
export function addExamples(paths: Record<string, Record<string, Documented>>, examples: Examples): void {
  for (const methods of Object.values(paths))
    for (const operation of Object.values(methods))
      for (const example of examples[operation.operationId ?? ''] ?? []) addExample(operation, example)
}

function addExample(
  operation: Documented,
  { name, summary, request, status, mediaType, answer }: Example,
): void {
  const { params, query, headers, body, sealed } = request
  const sent = { path: params, query, header: headers }
  if (status < 400)
    for (const parameter of operation.parameters ?? []) {
      const fields = sent[parameter.in as keyof typeof sent] ?? {}
      const value =
        fields[parameter.name] ?? Object.entries(fields).find(([key]) => key === parameter.name)?.[1]
      if (value !== undefined) parameter.example ??= value
    }
  const type = headers?.['content-type'] ?? 'application/json'
  // What breaks the schema on purpose is told by its failure, and would be no example of the schema.
  if (body !== undefined && (status < 400 || sealed)) {
    const description = sealed && `Holds, sealed: \`${JSON.stringify(sealed)}\``
    const value = typeof body === 'string' ? readable(body, type) : body
    put(operation.requestBody?.content[type], name, { summary, ...(description && { description }), value })
  }
  put(operation.responses?.[status]?.content?.[mediaType], name, { summary, value: answer })
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
