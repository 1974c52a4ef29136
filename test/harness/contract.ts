import type { ErrorCode } from '@svc/contract/errors'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

interface Documented {
  readonly pattern: RegExp
  readonly method: string
  readonly responses: Record<string, Response>
}

type Content = Record<string, { schema: object }>
interface Response {
  readonly description?: string
  readonly content?: Content
  /** What a success can be besides, for those who ask by `Accept`. */
  readonly 'x-other-content'?: Content
}

interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, Response & { $ref?: string }> }>>
  components: { responses: Record<string, Response> }
}

/** Errors that any path may return before its operation is found, or the request is whole. */
export const ANYWHERE: ReadonlySet<string> = new Set<ErrorCode>([
  'bad_request',
  'headers_too_large',
  'method_not_allowed',
  'payload_too_large',
  'request_timeout',
  'route_not_found',
  'temporarily_unavailable',
  'unsupported_media_type',
])

/** Of a failure that a test asked for (see docs/reference/sandbox.md): any operation returns it. */
const ASKED_FOR = /\(asked for with Sandbox-Fail\)$/

/** The error code and the description of a failure, in the envelope of the specification or as problem details. */
function failureOf(json: unknown): { readonly error: string; readonly description: string } | undefined {
  const { payload, error, detail } = (json ?? {}) as { payload?: unknown; error?: unknown; detail?: unknown }
  if (typeof payload === 'string') {
    const failure = JSON.parse(payload) as { error: string; error_description: string }
    return { error: failure.error, description: failure.error_description }
  }
  return typeof error === 'string' ? { error, description: String(detail) } : undefined
}

/** The error codes that the document lists for a status: each begins a paragraph of its description. */
const documentedErrors = (description = ''): ReadonlySet<string> =>
  new Set([...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => code!))

/** Holds responses against the service's own OpenAPI document (promise D7). */
export class Contract {
  readonly #operations: readonly Documented[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  /** Compiling takes far longer than checking, and tests under load send thousands of requests. */
  readonly #compiled = new WeakMap<object, ValidateFunction>()

  constructor(document: unknown) {
    // Readers must accept new fields and values; here one that the document does not list is an error of the service.
    const closed = withoutOtherFields(document) as OpenApi & object
    const { paths, components } = closed
    const resolved = ({ $ref, ...response }: Response & { $ref?: string }): Response =>
      $ref === undefined ? response : components.responses[$ref.split('/').at(-1)!]!
    this.#ajv.addSchema({ ...closed, $id: 'openapi' })
    this.#operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({
        pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
        method: method.toUpperCase(),
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, response]) => [status, resolved(response)]),
        ),
      })),
    )
  }

  check(method: string, path: string, status: number, headers: Record<string, unknown>, json: unknown): void {
    const plainPath = path.split('?')[0]!
    const operation = this.#operations.find((o) => o.method === method && o.pattern.test(plainPath))
    expect(headers['x-request-id'], `${method} ${plainPath} returns x-request-id`).toBeTruthy()
    const documented = operation?.responses[status]
    const failure = status >= 400 ? failureOf(json) : undefined
    const isForeseen = failure && (ANYWHERE.has(failure.error) || ASKED_FOR.test(failure.description))
    if (operation && failure && !isForeseen)
      expect(
        documentedErrors(documented?.description),
        `error codes of ${method} ${plainPath} ${status}`,
      ).toContain(failure.error)
    if (!documented) {
      expect(
        operation && !isForeseen,
        `${method} ${plainPath} returned ${status}, which is not documented`,
      ).toBeFalsy()
      return
    }
    const mediaType = String(headers['content-type']).split(';')[0]!
    const { content, 'x-other-content': others } = documented
    const schema = { ...content, ...others }[mediaType]?.schema
    if (!schema) return
    const check = this.#compiled.get(schema) ?? this.#ajv.compile(rebase(schema) as object)
    this.#compiled.set(schema, check)
    expect(check(json), `${method} ${plainPath} ${status}: ${this.#ajv.errorsText(check.errors)}`).toBe(true)
  }
}

/** The document with every object that lists its fields closed to others, and every set of values too. */
function withoutOtherFields(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutOtherFields)
  if (node === null || typeof node !== 'object') return node
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key === 'x-extensible-enum' ? 'enum' : key,
      key === 'examples' ? value : withoutOtherFields(value),
    ]),
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
