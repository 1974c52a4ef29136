import type { FastifySchema } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type ErrorWord, FAILURES } from '../../errors.ts'
import { type Family, PROBLEM_JSON } from './failure-body.ts'
import { NoFields, type Operation } from './operation.ts'

const FailureFields = {
  payload: Type.String({ description: 'JSON text with `error` and `error_description`' }),
  errorResponse: Type.Object({
    timestamp: Type.String({ description: '`YYYY-MM-DD HH:MM:SS` in the business zone' }),
    requestId: Type.String(),
    errorType: Type.Enum([...new Set(Object.values(FAILURES).map(({ errorType }) => errorType))]),
    errorMessage: Type.String({ description: 'The same JSON text as in `payload`' }),
  }),
  response_code: Type.Integer(),
  response_message: Type.String(),
}
const closed = (title: string, fields: Record<string, TSchema>) =>
  Type.Object(fields, { title, additionalProperties: false })

/** Spec section 2.2, with the fields of the family's own success envelope (decision F1). */
const FAILURE_OF: Record<Family, TSchema> = {
  response_code: closed('Failure', FailureFields),
  bare: closed('Failure', FailureFields),
  code: closed('FailureWithCode', { ...FailureFields, code: Type.Integer(), message: Type.String() }),
  result_code: closed('FailureWithResultCode', {
    ...FailureFields,
    resultCode: Type.Integer(),
    resultMessage: Type.String(),
  }),
  oauth: closed('FailureOfOAuth', {
    ...FailureFields,
    error: Type.String(),
    error_description: Type.String(),
  }),
  problem: closed('Problem', {
    type: Type.Enum(Object.keys(FAILURES), { description: 'The stable word of the failure' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'For people' }),
    requestId: Type.String(),
  }),
}

/** What any operation may answer, besides its own failures. */
function commonWords({ auth, body, family, method, sealed, takesIdempotencyKey }: Operation): ErrorWord[] {
  return [
    'validation_failed',
    'bad_request',
    'request_timeout',
    'unsupported_media_type',
    'headers_too_large',
    ...(auth === 'merchant' ? (['access_key_mismatch'] as const) : []),
    ...(auth === 'none' || auth === 'rail' || auth === 'operator' || auth === 'loopback'
      ? []
      : (['invalid_token', 'rate_limited'] as const)),
    ...(auth === 'operator' ? (['not_signed_in', 'role_too_low', 'rate_limited'] as const) : []),
    ...(family === 'problem' ? (['cross_site_request'] as const) : []),
    ...(auth === 'partnerWithId' || auth === 'partnerSession' ? (['partner_mismatch'] as const) : []),
    ...(auth === 'partnerSession' ? (['invalid_session'] as const) : []),
    ...(sealed === 'request' || sealed === 'both'
      ? (['seal_rejected', 'payload_not_sealed', 'seal_replayed'] as const)
      : []),
    ...(sealed === 'answer' || sealed === 'both' ? (['not_acceptable'] as const) : []),
    // One that takes no body still reads what is sent.
    ...(body || method !== 'GET' ? (['malformed_body', 'payload_too_large'] as const) : []),
    ...(takesIdempotencyKey ? (['idempotency_key_reused', 'overloaded'] as const) : []),
    'internal_error',
    'temporarily_unavailable',
  ]
}

function envelope(family: Family, payload: TSchema): TSchema {
  if (family === 'response_code')
    return Type.Object(
      { response_code: Type.Integer({ format: 'int32' }), response_message: Type.String(), payload },
      { additionalProperties: false },
    )
  if (family === 'code')
    return Type.Object(
      { code: Type.Integer(), message: Type.String(), payload },
      { additionalProperties: false },
    )
  return payload
}

function failures(operation: Operation): Record<string, unknown> {
  const words = [...new Set([...operation.errors, ...commonWords(operation)])]
  const byStatus: Record<string, { description: string; content: unknown }> = {}
  const mediaType = operation.family === 'problem' ? PROBLEM_JSON : 'application/json'
  for (const word of words) {
    const { status } = FAILURES[word]
    const found = byStatus[status]
    if (found) found.description += `, \`${word}\``
    else
      byStatus[status] = {
        description: `\`${word}\``,
        content: { [mediaType]: { schema: FAILURE_OF[operation.family] } },
      }
  }
  return byStatus
}

const isText = (schema: TSchema) => (schema as { type?: string }).type === 'string'

/** Everything that the reference shows of an operation and that requests are checked against. */
export function documented(operation: Operation): FastifySchema {
  const { family, result } = operation
  const mediaType = isText(result) ? (operation.produces ?? 'text/plain') : 'application/json'
  return {
    ...(operation.params && { params: operation.params }),
    // Unknown fields are refused everywhere (decision C14), except where RFC 6749 wants them passed over.
    ...(operation.family !== 'oauth' && { querystring: operation.query ?? NoFields }),
    ...(operation.body && { body: operation.body }),
    ...(operation.accepts && { consumes: operation.accepts }),
    ...(operation.samples && { 'x-codeSamples': operation.samples }),
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    ...(operation.developing && { 'x-status': 'Developing' }),
    ...(operation.role && { 'x-role': operation.role }),
    ...(operation.family === 'problem' && operation.sandboxOnly && { 'x-sandbox-only': true }),
    security: operation.auth === 'none' ? [] : [{ [operation.auth]: [] }],
    response: {
      200: { description: 'Success', content: { [mediaType]: { schema: envelope(family, result) } } },
      ...Object.fromEntries(
        Object.entries(operation.alsoAnswers ?? {}).map(([status, description]) => [
          status,
          { description, type: 'null' },
        ]),
      ),
      ...failures(operation),
    },
  } as FastifySchema
}

/** The body as the reference shows it: of a sealed one, the text that carries it and what is inside. */
export function documentedBody({ body, sealed }: Operation): TSchema | undefined {
  if (!body || sealed === undefined || sealed === 'answer') return body
  const description =
    'Compact JWE (RFC 7516) of the JSON object described by `contentSchema`, as a JSON string or bare with `application/jose`'
  return {
    type: 'string',
    description,
    contentMediaType: 'application/jose',
    contentSchema: body,
  } as unknown as TSchema
}

/** Header fields of an operation, as the reference shows them; the operation itself checks them. */
export function documentedHeaders(operation: Operation): TSchema | undefined {
  const fields: Record<string, string> = { ...operation.headers }
  if (operation.takesIdempotencyKey)
    fields['Idempotency-Key'] =
      '1 to 255 visible characters. A repeat with the same key and request gets the first answer, byte for byte'
  if (Object.keys(fields).length === 0) return undefined
  return Type.Object(
    Object.fromEntries(
      Object.entries(fields).map(([name, description]) => [
        name,
        Type.Optional(Type.String({ description })),
      ]),
    ),
  )
}

/** Moves every schema with a title to `components`, so that it is written once and gets a name in generated clients. */
export function nameSchemas<T extends { components?: { schemas?: Record<string, unknown> } }>(
  document: T,
): T {
  const schemas: Record<string, unknown> = {}
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (node === null || typeof node !== 'object') return node
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value)]))
    const { title, type } = copy
    if (typeof title !== 'string' || type !== 'object') return copy
    schemas[title] = copy
    return { $ref: `#/components/schemas/${title}` }
  }
  const { components, info, ...rest } = document as T & { info: unknown }
  const named = walk(rest) as object
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...named, info, components: { ...components, schemas: sorted } } as unknown as T
}
