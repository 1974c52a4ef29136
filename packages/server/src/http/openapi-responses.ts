import { type ErrorCode, FAILURES } from '@svc/contract/errors'
import { FIELD_RULES } from '@svc/contract/field-errors'
import { type TSchema, Type } from 'typebox'
import { type Envelope, PROBLEM_JSON } from './failure-body.ts'
import { type ComponentSchemas, type Json, refTo } from './openapi-schemas.ts'
import { isKeyed, isRail, mayChange, type Operation } from './operation.ts'
import { isProbe } from './probes.ts'

const ERROR_TYPES = [...new Set(Object.values(FAILURES).map(({ errorType }) => errorType))]
const text = (description: string) => Type.String({ description })

const FieldErrorRecord = Type.Object(
  {
    in: Type.Enum(['body', 'query', 'path', 'header'], { description: 'The part of the request' }),
    pointer: text(
      'JSON Pointer (RFC 6901) to the field within the body; of other parts `/` and the name of the field',
    ),
    rule: Type.Enum([...FIELD_RULES], { description: 'The rule that the field breaks' }),
    message: text('What is wrong with the field, for people'),
  },
  { title: 'FieldError' },
)

const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'The page of the reference about the error code' }),
    error: Type.Enum(Object.keys(FAILURES), { description: 'The error code: stable, for programs' }),
    title: text('The error code in words'),
    status: Type.Integer({ description: 'The HTTP status' }),
    detail: text('What is wrong with this request, for people'),
    errorType: Type.Enum(ERROR_TYPES, { description: 'The kind of the error' }),
    requestId: text('The id of the request, as in `x-request-id`'),
    errors: Type.Optional(
      Type.Array(FieldErrorRecord, { description: 'Each invalid field; only with `validation_failed`' }),
    ),
  },
  { title: 'Problem', description: 'RFC 9457 problem details.' },
)

const FailureFields = {
  payload: text('JSON text with `error` (the error code) and `error_description`'),
  errorResponse: Type.Object(
    {
      timestamp: text('`YYYY-MM-DD HH:MM:SS` in the business time zone'),
      requestId: text('The id of the request, as in `x-request-id`'),
      errorType: Type.Enum(ERROR_TYPES, { description: 'The kind of the error' }),
      errorMessage: text('The same JSON text as in `payload`'),
    },
    { title: 'ErrorResponse' },
  ),
  response_code: Type.Integer({ description: '1' }),
  response_message: text('`Failure`'),
}
const failure = (title: string, fields: Record<string, TSchema> = {}) =>
  Type.Object({ ...FailureFields, ...fields }, { title })

/** Spec section 2.2, with the fields of the operation's success envelope (decision F1). */
const FAILURE_OF: Record<Exclude<Envelope, 'problem'>, TSchema> = {
  response_code: failure('Failure'),
  bare: failure('Failure'),
  code: failure('FailureWithCode', { code: Type.Integer({ description: '1' }), message: text('`Failure`') }),
  result_code: failure('FailureWithResultCode', {
    resultCode: Type.Integer({ description: '1' }),
    resultMessage: text('What is wrong with the request, for people'),
  }),
  oauth: failure('FailureOfOAuth', {
    error: text('An error code of RFC 6749 section 5.2'),
    error_description: text('What is wrong with the request, for people'),
  }),
}

/** The headers of responses, once for the whole document. */
export const RESPONSE_HEADERS: Readonly<
  Record<string, { description: string; schema: Json; required?: boolean }>
> = {
  RequestId: {
    description: 'The id of the request. Quote it when you ask for help.',
    required: true,
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimit: {
    description:
      'Requests that remain in this window, and seconds until it ends; absent without a rate limit.',
    schema: { type: 'string', examples: ['"credential";r=998;t=1'] },
  },
  RateLimitPolicy: {
    description: 'The size of the window; absent without a rate limit.',
    schema: { type: 'string', examples: ['"credential";q=1000;w=1'] },
  },
  WwwAuthenticate: {
    description: 'The authentication scheme that the operation accepts (RFC 6750).',
    schema: { type: 'string' },
  },
  ETag: { description: 'The revision of the record, such as `"3"`.', schema: { type: 'string' } },
  Deprecation: {
    description: 'Since when the operation is deprecated (RFC 9745).',
    schema: { type: 'string', examples: ['@1798761600'] },
  },
  Sunset: {
    description: 'When the operation is removed at the earliest (RFC 8594).',
    schema: { type: 'string', examples: ['Fri, 31 Dec 2027 00:00:00 GMT'] },
  },
  SvcOutcome: {
    description:
      'The state of the code: `active`, `cancelled`, `already-cancelled`, `paid` or `expired`, with `payments` and `amount` in rupees.',
    schema: { type: 'string', examples: ['paid; payments=1; amount=249.50'] },
  },
  SvcReceipt: {
    description:
      'Of a closed code: compact JWS (EdDSA, `typ` `svc-receipt`) over `qrCodeId`, `outcome`, `acceptedCount`, `acceptedPaise`, `lastUtr`, `revision` and `time`. No payment is accepted after that revision.',
    schema: { type: 'string' },
  },
  SessionCookie: {
    description: 'The session cookie `SVCSESSION`, of the partner.',
    schema: { type: 'string' },
  },
}

/** Whether people call it from a page, with a session. */
const isOfPeople = ({ auth }: Operation): boolean => auth === 'operator' || auth === 'member'

const PUBLIC = new Set<Operation['auth']>(['none', 'rail', 'bankRail', 'cardRail', 'loopback'])
const isPublic = ({ auth }: Operation): boolean => PUBLIC.has(auth)

function headersOf(operation: Operation, status: number): Json {
  return {
    'x-request-id': refTo('headers', 'RequestId'),
    ...((!isPublic(operation) || operation.limitedBy === 'credential') && {
      RateLimit: refTo('headers', 'RateLimit'),
      'RateLimit-Policy': refTo('headers', 'RateLimitPolicy'),
    }),
    ...(operation.deprecated && {
      Deprecation: refTo('headers', 'Deprecation'),
      Sunset: refTo('headers', 'Sunset'),
    }),
    ...(status === 401 && { 'WWW-Authenticate': refTo('headers', 'WwwAuthenticate') }),
    ...((status === 429 || status === 503) && { 'Retry-After': refTo('headers', 'RetryAfter') }),
    ...(status < 400 &&
      Object.fromEntries(
        Object.entries(operation.responseHeaders ?? {}).map(([name, header]) => [
          name,
          refTo('headers', header),
        ]),
      )),
  }
}

/** What any operation may return, besides its own errors. */
export function commonErrors(operation: Operation): ErrorCode[] {
  const { auth, body, envelope: kind, method, scope, encrypted } = operation
  // A signed notice is never rejected for its form (decision Q11).
  const hasForm = !isRail(operation)
  return [
    ...(hasForm ? (['validation_failed'] as const) : []),
    'bad_request',
    'request_timeout',
    ...(hasForm ? (['unsupported_media_type'] as const) : []),
    'headers_too_large',
    ...(auth === 'merchant' ? (['access_key_mismatch'] as const) : []),
    ...(isPublic(operation) || isOfPeople(operation)
      ? []
      : (['invalid_token', 'moved', 'rate_limited'] as const)),
    ...(operation.limitedBy ? (['moved', 'rate_limited'] as const) : []),
    // Only for a wrong signature (decision A11).
    ...(hasForm ? [] : (['invalid_signature', 'moved', 'rate_limited'] as const)),
    ...(isOfPeople(operation) ? (['not_signed_in', 'role_too_low', 'rate_limited'] as const) : []),
    ...(isOfPeople(operation) && !operation.beforeSecondFactor ? (['second_factor_needed'] as const) : []),
    ...(operation.stepUp ? (['step_up_required'] as const) : []),
    // Operations of tenants that members call keep their envelope.
    ...(kind === 'problem' || isOfPeople(operation) ? (['cross_site_request'] as const) : []),
    ...(auth === 'partnerWithId' || auth === 'partnerSession' ? (['partner_mismatch'] as const) : []),
    ...(scope ? (['insufficient_scope', 'address_not_allowed'] as const) : []),
    ...(auth === 'partnerSession' ? (['invalid_session'] as const) : []),
    ...(encrypted === 'request' || encrypted === 'both'
      ? (['decryption_failed', 'request_not_encrypted', 'encrypted_request_replayed'] as const)
      : []),
    ...(encrypted === 'response' || encrypted === 'both' ? (['not_acceptable'] as const) : []),
    ...(hasForm && body ? (['malformed_body'] as const) : []),
    ...(body || method !== 'GET' ? (['payload_too_large'] as const) : []),
    ...(isKeyed(operation) ? (['idempotency_key_reused'] as const) : []),
    ...(isProbe(operation) ? [] : (['overloaded'] as const)),
    'internal_error',
    'temporarily_unavailable',
    ...(mayChange(operation) ? (['outcome_unknown'] as const) : []),
  ]
}

function failures(operation: Operation, schemas: ComponentSchemas): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set([...operation.errors, ...commonErrors(operation)])) {
    const { status } = FAILURES[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const problem = { schema: schemas.add(Problem, 'response') }
  const content =
    operation.envelope === 'problem'
      ? { [PROBLEM_JSON]: problem }
      : {
          'application/json': { schema: schemas.add(FAILURE_OF[operation.envelope], 'response') },
          [PROBLEM_JSON]: problem,
        }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${FAILURES[code].description}.`).join('\n\n'),
        headers: headersOf(operation, status),
        content: structuredClone(content),
      },
    ]),
  )
}

function envelope({ envelope: kind }: Operation, payload: TSchema): TSchema {
  if (kind === 'response_code')
    return Type.Object({
      response_code: Type.Integer({ format: 'int32', description: '0' }),
      response_message: text('`Success`'),
      payload,
    })
  if (kind === 'code')
    return Type.Object({ code: Type.Integer({ description: '0' }), message: text('`Success`'), payload })
  return payload
}

const isText = (schema: TSchema) => (schema as { type?: string }).type === 'string'

/**
 * What a success can be besides JSON, for those who ask by `Accept`. Beside `content`: generators of clients would make a
 * union of all of it, although a client that asks for nothing gets JSON.
 */
function otherForms(
  { encrypted, alsoProduces }: Operation,
  schema: unknown,
): Record<string, { readonly schema: Json & { readonly description: string } }> {
  const jwe = {
    type: 'string',
    description:
      'With `Accept: application/jose`: the JSON response as a compact JWE for your registered key.',
    contentMediaType: 'application/jose',
    contentSchema: schema,
  }
  return {
    ...((encrypted === 'response' || encrypted === 'both') && { 'application/jose': { schema: jwe } }),
    ...(alsoProduces && {
      [alsoProduces]: {
        schema: { type: 'string', description: `With \`Accept: ${alsoProduces}\`: the same as text.` },
      },
    }),
  }
}

/** Every response of an operation, by status. `name` is the operation's, for the names of its schemas. */
export function responsesOf(operation: Operation, name: string, schemas: ComponentSchemas): Json {
  const { accepted, alsoReturns = {}, produces = 'text/plain', result } = operation
  const payload = schemas.add(result, 'response', `${name}Payload`) as TSchema
  const schema = isText(result)
    ? payload
    : schemas.add(envelope(operation, payload), 'response', `${name}Response`)
  const others = otherForms(operation, schema)
  const forms = Object.values(others).map(({ schema: { description } }) => description)
  return {
    200: {
      description: ['Success', ...forms].join('\n\n'),
      headers: headersOf(operation, 200),
      content: { [isText(result) ? produces : 'application/json']: { schema } },
      ...(forms.length > 0 && { 'x-other-content': others }),
    },
    ...(accepted && {
      202: {
        description: 'Stored, to be resolved by a person',
        headers: headersOf(operation, 202),
        content: {
          'application/json': {
            schema: schemas.add(
              envelope(operation, schemas.add(accepted, 'response', `${name}AcceptedPayload`) as TSchema),
              'response',
              `${name}Accepted`,
            ),
          },
        },
      },
    }),
    ...Object.fromEntries(
      Object.entries(alsoReturns).map(([status, description]) => [
        status,
        { description, headers: headersOf(operation, Number(status)) },
      ]),
    ),
    ...failures(operation, schemas),
  }
}
