import { WRAPPED_AS, WRAPPING_NAMES } from '@svc/contract/payload-string'
import { SCOPES } from '@svc/contract/scopes'
import type { TSchema } from 'typebox'
import { needsBody } from './missing-fields.ts'
import { RESPONSE_HEADERS, responsesOf } from './openapi-responses.ts'
import { ComponentSchemas, fieldTable, type Json } from './openapi-schemas.ts'
import { shareFailures } from './openapi-shared.ts'
import { type HeaderField, isKeyed, type MediaType, type Operation } from './operation.ts'
import { addExamples, addNotes, type Examples, type LiveReference } from './worked-examples.ts'

/** What a document has besides its operations. */
export interface About {
  readonly version: string
  readonly title: string
  readonly description: string
  readonly securitySchemes: (publicUrl: string) => Readonly<Record<string, object>>
  /** How each authenticator appears in the document, where it is not a scheme of the same name. */
  readonly security?: Readonly<Record<string, (scopes: readonly string[]) => readonly object[]>>
  /** What else authorises the operations that accept `merchantAccessKey` alone, where the installation does (decision A6). */
  readonly accessKeyAlone?: readonly object[]
  readonly tags: Readonly<Record<string, string>>
  /** What the service sends to its callers, by name. */
  readonly webhooks?: Readonly<Record<string, object>>
  /** Components in their final form; they replace schemas of the same title. */
  readonly schemas?: Readonly<Record<string, object>>
  /** Changes that a setting makes to schemas (decision R5). */
  readonly revise?: ((document: Json) => Json) | undefined
}

/** The OpenAPI document for those who write clients: from the schemas that check requests, but not for a validator. */
export function openApiDocument(
  operations: readonly Operation[],
  about: About,
  publicUrl: string,
  examples: Examples,
  /** In a sandbox: credentials for the page to send, and what there is to say about its examples. */
  { secrets, notes, notice }: Omit<LiveReference, 'examples'> = { secrets: {}, notes: {} },
): Json {
  const schemas = new ComponentSchemas(about.schemas)
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    ;(paths[path] ??= {})[operation.method.toLowerCase()] = documented(operation, about, schemas)
  }
  addExamples(paths as never, examples)
  addNotes(paths as never, notes)
  const responses = shareFailures(paths as never)
  const document: Json = {
    openapi: '3.1.0',
    info: {
      title: about.title,
      version: about.version,
      description: notice ? `**${notice}**\n\n${about.description}` : about.description,
      contact: { name: 'The operator of this installation' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl, description: 'This installation' }],
    tags: tagsOf(operations, about),
    paths,
    ...(about.webhooks && { webhooks: schemas.add(about.webhooks, 'response') }),
    components: {
      securitySchemes: withSecrets(about.securitySchemes(publicUrl), secrets),
      headers: usedHeaders({ paths, responses }),
      responses,
      schemas: schemas.sorted,
    },
  }
  return about.revise?.(document) ?? document
}

const withSecrets = (
  schemes: Readonly<Record<string, object>>,
  secrets: Readonly<Record<string, Json>>,
): Json =>
  Object.fromEntries(
    Object.entries(schemes).map(([name, scheme]) => {
      const { flows } = scheme as { flows?: { clientCredentials: object } }
      const secret = secrets[name]
      return flows
        ? [name, { ...scheme, flows: { clientCredentials: { ...flows.clientCredentials, ...secret } } }]
        : [name, { ...scheme, ...secret }]
    }),
  )

const usedHeaders = (users: Json): Json => {
  const text = JSON.stringify(users)
  return Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  )
}

function tagsOf(operations: readonly Operation[], { tags, webhooks }: About): Json[] {
  const used = new Set([...operations.map(({ tag }) => tag), ...(webhooks ? ['Webhooks'] : [])])
  return [...used].map((name) => ({ name, description: tags[name] ?? `Operations of ${name}.` }))
}

function documented(operation: Operation, about: About, schemas: ComponentSchemas): Json {
  const { auth, description, id, samples, scope, summary, tag } = operation
  const name = id.replace(/^(?:\w+\.)?(\w)/, (_, first: string) => first.toUpperCase())
  const requestBody = requestBodyOf(operation, name, schemas)
  const scopes = scope ? [scope] : []
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [
      description ?? `${summary}.`,
      ...(isEncrypted(operation)
        ? [`**Fields of the encrypted request**\n\n${fieldTable(operation.body)}`]
        : []),
    ].join('\n\n'),
    ...(operation.deprecated && { deprecated: true }),
    ...(operation.developing && { 'x-status': 'Developing' }),
    ...(operation.role && { 'x-role': operation.role }),
    ...(operation.permission && { 'x-permission': operation.permission }),
    ...(scope && { 'x-scope': scope }),
    ...(operation.envelope === 'problem' && operation.sandboxOnly && { 'x-sandbox-only': true }),
    ...(samples && { 'x-codeSamples': samples }),
    parameters: parametersOf(operation, schemas),
    ...(requestBody && { requestBody }),
    security: [
      ...(operation.security ??
        (auth === 'none' ? [] : (about.security?.[auth]?.(scopes) ?? [{ [auth]: scopes }]))),
      ...(operation.acceptsAccessKeyAlone ? (about.accessKeyAlone ?? []) : []),
    ],
    responses: responsesOf(operation, name, schemas),
  }
}

const isEncrypted = ({ encrypted }: Operation): boolean => encrypted === 'request' || encrypted === 'both'

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>
  readonly required?: readonly string[]
}

function parametersOf(operation: Operation, schemas: ComponentSchemas): Json[] {
  const fieldsOf = (schema: TSchema | undefined, place: 'path' | 'query'): Json[] => {
    const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema
    return Object.entries(properties).map(([name, field]) => {
      const { description, ...rest } = schemas.add(field, 'request') as Json
      return {
        name,
        in: place,
        required: place === 'path' || required.includes(name),
        description,
        schema: rest,
      }
    })
  }
  const headers: Record<string, HeaderField> = { ...operation.headers }
  if (isKeyed(operation))
    headers['Idempotency-Key'] =
      '1 to 255 visible characters that name one intent. A repeat with the same key and request returns the first response, byte for byte.'
  return [
    ...fieldsOf(operation.params, 'path'),
    ...fieldsOf(operation.query, 'query'),
    ...Object.entries(headers).map(([name, field]) => headerParameter(name, field)),
  ]
}

function headerParameter(name: string, field: HeaderField): Json {
  const { description, required = false, cookie } = typeof field === 'string' ? { description: field } : field
  const schema = { type: 'string' }
  return cookie === undefined
    ? { name, in: 'header', required, description, schema }
    : { name: cookie, in: 'cookie', required, description, schema }
}

function requestBodyOf(operation: Operation, name: string, schemas: ComponentSchemas): Json | undefined {
  const { accepts = ['application/json'], body } = operation
  if (!body) return undefined
  const { description } = body as { description?: string }
  const inner = schemas.add(body, 'request', `${name}Request`)
  const schemaOf = (mediaType: MediaType) =>
    isEncrypted(operation)
      ? encryptedBody(mediaType, inner)
      : isObjectBody(body)
        ? inner
        : { type: 'string', description }
  return {
    required: !isObjectBody(body) || isEncrypted(operation) || hasRequired(body) || needsBody(operation),
    content: Object.fromEntries(accepts.map((mediaType) => [mediaType, { schema: schemaOf(mediaType) }])),
  }
}

/** Every literal reading of “one encrypted payload string” (decision C2). A bare JWE is no JSON, so words alone say it. */
function encryptedBody(mediaType: MediaType, inner: unknown): Json {
  const jwe = { type: 'string', contentMediaType: 'application/jose', contentSchema: inner }
  const what = 'Compact JWE (RFC 7516) of the JSON object described by `contentSchema`'
  if (mediaType === 'application/jose') return { ...jwe, description: `${what}, bare` }
  return {
    description: `${what}: as a JSON string, bare, or as ${WRAPPED_AS}, the only field of an object`,
    contentMediaType: jwe.contentMediaType,
    contentSchema: inner,
    anyOf: [
      { type: 'string', description: 'The compact JWE' },
      ...WRAPPING_NAMES.map((name) => ({
        type: 'object',
        required: [name],
        properties: { [name]: { type: 'string', description: 'The compact JWE' } },
        additionalProperties: false,
      })),
    ],
  }
}

const isObjectBody = (body: TSchema): boolean => 'properties' in body
/** A body without a required field may be left out altogether. */
const hasRequired = (body: TSchema): boolean =>
  'required' in body || 'required' in ((body as { 'x-documented'?: object })['x-documented'] ?? {})

/** OAuth 2.0 client credentials, as generated clients and the reference understand them. */
export const clientCredentials = (tokenUrl: string, description: string): object => ({
  type: 'oauth2',
  description,
  flows: { clientCredentials: { tokenUrl, scopes: SCOPES } },
})
