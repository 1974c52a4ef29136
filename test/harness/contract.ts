import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

interface Documented {
  readonly pattern: RegExp
  readonly method: string
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
}

interface OpenApi {
  paths: Record<string, Record<string, { responses: Documented['responses'] }>>
}

/** Statuses that any path may answer before an operation is found or a request is whole. */
const ANYWHERE = new Set([400, 404, 405, 408, 413, 415, 429, 431, 503])

/** Holds answers against the service's own OpenAPI document (promise D7). */
export class Contract {
  readonly #operations: readonly Documented[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  /** Compiling takes far longer than checking, and tests under load send thousands of requests. */
  readonly #compiled = new WeakMap<object, ValidateFunction>()

  constructor(document: unknown) {
    // Readers must accept new fields; here a field that the document does not list is a fault of the service.
    const closed = withoutOtherFields(document) as OpenApi & object
    const { paths } = closed
    this.#ajv.addSchema({ ...closed, $id: 'openapi' })
    this.#operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({
        pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
        method: method.toUpperCase(),
        responses,
      })),
    )
  }

  check(method: string, path: string, status: number, headers: Record<string, unknown>, json: unknown): void {
    const plainPath = path.split('?')[0]!
    const operation = this.#operations.find((o) => o.method === method && o.pattern.test(plainPath))
    expect(headers['x-request-id'], `${method} ${plainPath} answers x-request-id`).toBeTruthy()
    const documented = operation?.responses[status]
    if (!documented) {
      expect(
        operation && !ANYWHERE.has(status),
        `${method} ${plainPath} answered ${status}, which is not documented`,
      ).toBeFalsy()
      return
    }
    const mediaType = String(headers['content-type']).split(';')[0]!
    const schema = documented.content?.[mediaType]?.schema
    if (!schema) return
    const check = this.#compiled.get(schema) ?? this.#ajv.compile(rebase(schema) as object)
    this.#compiled.set(schema, check)
    expect(check(json), `${method} ${plainPath} ${status}: ${this.#ajv.errorsText(check.errors)}`).toBe(true)
  }
}

/** The document with every object that lists its fields closed to others. */
function withoutOtherFields(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutOtherFields)
  if (node === null || typeof node !== 'object') return node
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, key === 'examples' ? value : withoutOtherFields(value)]),
  )
  const listsFields = copy['type'] === 'object' && typeof copy['properties'] === 'object'
  return listsFields ? { additionalProperties: false, ...copy } : copy
}

/** References of a part of the document, made absolute. */
export function rebase(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(rebase)
  if (node === null || typeof node !== 'object') return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' ? `openapi${String(value)}` : rebase(value),
    ]),
  )
}
