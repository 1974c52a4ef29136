import { readFileSync } from 'node:fs'

export interface DocumentedSchema {
  readonly format?: string
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, DocumentedSchema>>
}

export interface DocumentedOperation {
  /** The operation id, unique over both documents: those of the console begin with `console.`. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly scheme: string | undefined
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly schema: DocumentedSchema
  }[]
  readonly body: DocumentedSchema | undefined
}

interface Operation {
  readonly operationId: string
  readonly security: readonly Record<string, unknown>[]
  readonly parameters?: DocumentedOperation['parameters']
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: DocumentedSchema }>> }
}

/** The authenticator of an operation, by the schemes and the fields that it asks for. */
export function schemeOf(
  security: readonly Readonly<Record<string, unknown>>[],
  parameters: readonly { readonly name: string }[] = [],
): string | undefined {
  const [scheme, ...others] = security.flatMap((alternative) => Object.keys(alternative))
  if (others.length > 0) return 'tenant'
  const names = new Set(parameters.map(({ name }) => name))
  if (scheme !== 'partner') return scheme === 'client' ? undefined : scheme
  if (names.has('SVCSESSION')) return 'partnerSession'
  return names.has('partnerId') ? 'partnerWithId' : 'partner'
}

/** The document with its own schemas and responses in place of the references to them. */
export function inlined(document: {
  readonly components: Readonly<Record<string, Record<string, unknown>>>
}): unknown {
  const { components } = document
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (node === null || typeof node !== 'object') return node
    const { $ref } = node as { $ref?: string }
    const [, kind = '', name] = /^#\/components\/(schemas|responses)\/(\w+)$/.exec(String($ref)) ?? []
    if (name) return walk(components[kind]?.[name])
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value)]))
  }
  return walk(document)
}

/** Every operation of the API and of the console, as their OpenAPI documents have it. */
export function documentedOperations(): DocumentedOperation[] {
  return ['openapi', 'console-openapi'].flatMap((file) => {
    const document = new URL(`../../docs/reference/${file}.json`, import.meta.url)
    const { paths } = inlined(JSON.parse(readFileSync(document, 'utf8'))) as {
      paths: Record<string, Record<string, Operation>>
    }
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, security, parameters = [], requestBody }]) => ({
        name: operationId,
        method: method.toUpperCase(),
        path,
        scheme: schemeOf(security, parameters),
        parameters,
        body: Object.values(requestBody?.content ?? {})[0]?.schema,
      })),
    )
  })
}

/** Every date that a request may hold, at any depth, as `operation field`. */
export function documentedDates(): string[] {
  const found = new Set<string>()
  const walk = (node: unknown, owner: string, name: string): void => {
    if (node === null || typeof node !== 'object') return
    if ((node as DocumentedSchema).format === 'date-time') found.add(`${owner} ${name}`)
    for (const [key, value] of Object.entries(node)) walk(value, owner, key)
  }
  for (const { name, parameters, body } of documentedOperations()) {
    for (const parameter of parameters) walk(parameter.schema, name, parameter.name)
    walk(body, name, '')
  }
  return [...found].sort()
}
