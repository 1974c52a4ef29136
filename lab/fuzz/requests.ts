import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { signNotice } from '@svc/server/http/notice-signature'
import * as fc from 'fast-check'
import { inlined, schemeOf } from '../../test/harness/documents.ts'
import { almostValid, bytesOf, hostileJson, hostileText, idNamed, type Schema, valid } from './json-text.ts'
import { encryptAs, type JwePlan, jwePlan } from './jwes.ts'
import { headersOf, RAIL_KEY, type Target, type Tenant } from './target.ts'

/** An operation as the OpenAPI document tells of it. */
export interface Documented {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly scheme: string | undefined
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly bodies: Readonly<Record<string, { readonly schema: Schema }>>
  readonly statuses: ReadonlySet<number>
}

export function operationsOf({ document }: Pick<Target, 'document'>): Documented[] {
  const operations: Documented[] = []
  for (const [path, methods] of Object.entries<Record<string, Target['document']>>(
    (inlined(document) as Target['document']).paths,
  ))
    for (const [method, { operationId, security, parameters = [], requestBody, responses }] of Object.entries(
      methods,
    ))
      operations.push({
        id: operationId,
        method: method.toUpperCase(),
        path,
        scheme: schemeOf(security, parameters),
        parameters,
        bodies: requestBody?.content ?? {},
        statuses: new Set(Object.keys(responses).map(Number)),
      })
  return operations
}

/** What fast-check draws and shrinks: a request in words, with ids that are put in when it is sent. */
export interface Plan {
  readonly path: string
  readonly query: string
  readonly tenant: number
  readonly credential: Credential
  readonly headers: readonly (readonly [string, string])[]
  readonly body: BodyPlan | undefined
  readonly jwe: JwePlan | undefined
}

type Credential =
  | { readonly kind: 'own' | 'none' | 'stranger' }
  | { readonly kind: 'forged'; readonly index: number }
  | { readonly kind: 'garbage'; readonly text: string }
  | {
      readonly kind: 'mixed'
      readonly header: 'partnerid' | 'cookie' | 'merchantaccesskey'
      readonly text: string
    }

interface BodyPlan {
  /** Latin1, a character a byte. */
  readonly text: string
  readonly type: string | undefined
  readonly encoding: string | undefined
}

export interface Request {
  readonly method: string
  readonly path: string
  /** Names and values by turns. */
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  /** Whose answers they are. */
  readonly tenant: Tenant
  /** Whether method and path are this operation's, as any caller writes them. */
  readonly plain: boolean
}

/** Header values that a client library still sends. */
const headerText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a'.repeat(300),
    'a'.repeat(20_000),
    '\xff\xfe',
    'a\tb',
    '"x"',
    '*',
    '-1',
    '1e400',
    'W/"1"',
    '"1"',
    '"1", "2"',
    '__proto__',
    '%00',
    '../..',
    '${x}',
    ',',
    ';;',
    '=',
    'é',
  ),
  fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,60}$/),
)

const HEADER_NAMES = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-language',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-http-method-override',
  'x-request-id',
  'x-original-url',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'idempotency-key',
  'cookie',
  'origin',
  'referer',
  'user-agent',
  'last-event-id',
  'te',
  'via',
  'prefer',
  'traceparent',
  'authorization',
  'api-key',
  'partnerid',
  'merchantaccesskey',
  'x-rail-signature',
  'content-encoding',
  '__proto__',
  'constructor',
  'host',
]

const extraHeaders = fc.oneof(
  { weight: 5, arbitrary: fc.constant([]) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...HEADER_NAMES), headerText, fc.integer({ min: 1, max: 3 }))
      .map(([name, value, times]) => Array.from({ length: times }, () => [name, value] as const)),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('application/problem+json', 'application/jose', 'text/html', '*/*')
      .map((type) => [['accept', type] as const]),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 1, max: 300 })
      .map((n) => Array.from({ length: n }, (_, i) => [`x-${i}`, 'v'] as const)),
  },
)

const credential: fc.Arbitrary<Credential> = fc.oneof(
  { weight: 20, arbitrary: fc.constant({ kind: 'own' as const }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'none' as const }, { kind: 'stranger' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('forged' as const), index: fc.nat(200) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('garbage' as const), text: headerText }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mixed' as const),
      header: fc.constantFrom('partnerid' as const, 'cookie' as const, 'merchantaccesskey' as const),
      text: fc.oneof(
        headerText,
        headerText.map((text) => `SVCSESSION=${text}`),
      ),
    }),
  },
)

const TYPES = [
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'APPLICATION/JSON',
  'application/json;',
  'application/json, text/plain',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/jose',
  'application/x-ndjson',
  'application/octet-stream',
  '',
  'x',
  'application/json\xff',
  '__proto__',
  'a/b'.repeat(500),
]

/** Text that is no JSON, or is in other clothes. */
const disguised = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    text.map((body) => `\xef\xbb\xbf${body}`),
    text.map((body) => Buffer.from(body, 'utf16le').toString('latin1')),
    text.map((body) => gzipSync(Buffer.from(body, 'latin1')).toString('latin1')),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom(
      'a=b',
      'a=1&a=2',
      'grant_type=client_credentials&client_id=%00',
      '%',
      '&&&',
      '<a/>',
      '{}{}',
      '{}\n{}',
      '\x00',
      ' '.repeat(66_000),
      '['.repeat(60_000),
    ),
    fc
      .tuple(text, fc.nat(400), fc.nat(255), fc.constantFrom('put', 'change', 'drop'))
      .map(([body, at, code, how]) => {
        const where = at % (body.length + 1)
        return (
          body.slice(0, where) +
          (how === 'drop' ? '' : String.fromCharCode(code)) +
          body.slice(how === 'put' ? where : where + 1)
        )
      }),
  )

function bodyOf({ bodies, id }: Documented): fc.Arbitrary<BodyPlan | undefined> {
  const [[type, { schema: outer }] = ['application/json', { schema: {} }]] = Object.entries(bodies)
  if (Object.keys(bodies).length === 0)
    return fc.option(
      fc.record({
        text: hostileJson,
        type: fc.constant('application/json'),
        encoding: fc.constant(undefined),
      }),
      { nil: undefined, freq: 8 },
    )
  const schema = outer.contentSchema ?? outer
  const object = type.endsWith('ndjson')
    ? fc.array(hostileJson, { maxLength: 4 }).map((lines) => lines.join('\n'))
    : almostValid(schema)
  const form = fieldForm(schema)
  const text = type.endsWith('urlencoded') ? form : object
  // A changed address of a webhook might lead off this machine.
  const any = /webhook/i.test(id) ? hostileJson : fc.oneof(hostileJson, disguised(text))
  const plain = { encoding: fc.constant(undefined), type: fc.constant(type) }
  return fc.oneof(
    { weight: 14, arbitrary: fc.record({ text, ...plain }) },
    { weight: 4, arbitrary: fc.record({ text: any, ...plain }) },
    {
      weight: 1,
      arbitrary: fc.record({
        text,
        type: fc.option(fc.constantFrom(...TYPES, ...Object.keys(bodies)), { nil: undefined }),
        encoding: fc.option(fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'x', 'gzip, gzip'), {
          nil: undefined,
        }),
      }),
    },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

/** RFC 6749 asks for forms. */
function fieldForm({ properties = {} }: Schema): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.constantFrom('client_credentials', 'incentive', 'password', '@clientId@', '@clientSecret@'),
    hostileText,
  )
  const right = ['grant_type=client_credentials', 'client_id=@clientId@', 'client_secret=@clientSecret@']
  const drawn = fc
    .array(fc.tuple(fc.constantFrom(...Object.keys(properties), 'x', '__proto__'), value), { maxLength: 5 })
    .map((fields) => fields.map(([name, text]) => `${name}=${encodeId(text)}`))
  return fc
    .tuple(fc.subarray(right, { minLength: 0 }), fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, drawn))
    .map((parts) => parts.flat().join('&'))
}

/** Percent-encoding that also takes lone surrogates. */
const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))

const PATH_TRICKS: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll('/', '//'),
  (path) => `/x/..${path}`,
  (path) => `/.${path}`,
  (path) => `${path}/`,
  (path) => `${path}/.`,
  (path) => `${path}/..`,
  (path) => `${path}%00`,
  (path) => `${path}%2f`,
  (path) => `${path};a=b`,
  (path) => path.replaceAll('/', '%2f').replace('%2f', '/'),
  (path) => path.replaceAll('/', '%252f').replace('%252f', '/'),
  (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replaceAll('/', '\\').replace('\\', '/'),
  (path) => path + '/a'.repeat(3_000),
  (path) => `${path}?${'a=b&'.repeat(3_000)}`,
  (path) => `${path}%c0%af`,
  (path) => `${path}%E0%A4%A`,
  (path) => `${path}\xff`,
]

function pathOf({ path, parameters }: Documented): fc.Arbitrary<string> {
  const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  const piece = (name: string) =>
    fc.oneof({ weight: 8, arbitrary: idNamed(name) }, { weight: 1, arbitrary: hostileText.map(encode) })
  return fc.tuple(...names.map(piece)).chain((pieces) => {
    const filled = names.reduce((text, name, i) => text.replace(`{${name}}`, () => pieces[i]!), path)
    return fc.oneof(
      { weight: 30, arbitrary: fc.constant(filled) },
      { weight: 1, arbitrary: fc.constantFrom(...PATH_TRICKS).map((trick) => trick(filled)) },
    )
  })
}

function queryOf({ parameters }: Documented): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === 'query')
  const unquoted = (text: string) =>
    text.startsWith('"') ? (JSON.parse(Buffer.from(text, 'latin1').toString()) as string) : text
  const good = fc.tuple(
    ...known.map(({ name, schema }) =>
      fc
        .tuple(fc.boolean(), valid(schema, name))
        .map(([there, text]) => (there ? [`${name}=${encodeId(unquoted(text))}`] : [])),
    ),
  )
  const bad = fc
    .tuple(
      fc.constantFrom('x', '__proto__', 'limit', 'after', 'a[b]', 'a[]', ...known.map(({ name }) => name)),
      hostileText,
    )
    .map(([name, text]) => `${encode(name)}=${encode(text)}`)
  return fc
    .tuple(
      good,
      fc.oneof(
        { weight: 4, arbitrary: fc.constant([]) },
        { weight: known.length > 0 ? 4 : 1, arbitrary: fc.array(bad, { maxLength: 2 }) },
      ),
    )
    .map(([right, wrong]) => [...right.flat(), ...wrong].join('&'))
}
const encodeId = (text: string): string => (/^@[^@]+@$/.test(text) ? text : encode(text))

function documentedHeaders({ parameters }: Documented): fc.Arbitrary<(readonly [string, string])[]> {
  const values: Record<string, fc.Arbitrary<string>> = {
    'Idempotency-Key': fc.oneof(
      fc.nat(1e9).map((n) => `k${n}`),
      fc.nat(20).map((n) => `again${n}`),
      headerText,
    ),
    'If-Match': fc.oneof(
      fc.integer({ min: 1, max: 4 }).map((n) => `"${n}"`),
      headerText,
    ),
    'If-None-Match': fc.oneof(fc.constantFrom('"1"', '*', 'W/"1"'), headerText),
    'Last-Event-ID': fc.oneof(fc.nat(50).map(String), headerText),
    'API-Key': fc.oneof(
      fc.constantFrom('@apiKey@', 'svc_test_', `svc_test_${'0'.repeat(32)}_000000`),
      headerText,
    ),
  }
  const names = parameters
    .filter((parameter) => parameter.in === 'header' && parameter.name in values)
    .map(({ name }) => name)
  return fc
    .tuple(
      ...names.map((name) =>
        fc
          .tuple(fc.integer({ min: 0, max: 3 }), values[name]!)
          .map(([skip, value]) => (skip === 0 ? [] : [[name, value] as const])),
      ),
    )
    .map((parts) => parts.flat())
}

export function planOf(operation: Documented): fc.Arbitrary<Plan> {
  const encrypted = Object.values(operation.bodies).some(({ schema }) => schema.contentSchema)
  return fc.record({
    path: pathOf(operation),
    query: queryOf(operation),
    tenant: fc.nat(5),
    credential,
    headers: fc.tuple(documentedHeaders(operation), extraHeaders).map(([good, more]) => [...good, ...more]),
    body: bodyOf(operation),
    jwe: encrypted ? fc.option(jwePlan, { nil: undefined, freq: 12 }) : fc.constant(undefined),
  })
}

/** A plan with good credentials, in which some of the ids, at least one, are another tenant's. */
export const foreignPlanOf = (operation: Documented): fc.Arbitrary<Plan> =>
  fc.tuple(planOf(operation), fc.integer({ min: 1, max: 255 })).map(([plan, bits]) => {
    let n = 0
    const foreign = (text: string) =>
      text.replace(/(@\w+:\d+):(?:own|other)@/g, (id, what: string) =>
        (bits >> (n++ % 8)) & 1 ? `${what}:victim@` : id,
      )
    const { body } = plan
    return {
      ...plan,
      credential: { kind: 'own' },
      path: foreign(plan.path),
      query: foreign(plan.query),
      body: body && { ...body, text: foreign(body.text) },
    }
  })

/** Puts in the ids that are known by now, and secrets that hold, latin1 in and out. */
function withIds(text: string, target: Target, tenant: Tenant): string {
  const filled = text.replace(/@(apiKey|clientId|clientSecret)@/g, (_, name: 'apiKey') => target.given[name])
  return filled.replace(/@(\w+):(\d+):(own|victim|other)@/g, (_, name: string, n: string, whose: string) => {
    const from =
      whose === 'own'
        ? [tenant]
        : whose === 'victim'
          ? target.victims
          : target.tenants.filter((one) => one !== tenant)
    const ids = from.flatMap(({ ids: known }) => known.get(name) ?? [])
    return bytesOf(ids[Number(n) % (ids.length || 1)] ?? `none${n}`)
  })
}

function tenantFor({ scheme }: Documented, { tenants }: Target, n: number): Tenant {
  const [merchant, ...partners] = tenants as [Tenant, ...Tenant[]]
  if (scheme === 'merchant') return merchant
  // The first partner most often: it has funds, cards and coins.
  const partner = partners[n === 0 ? 1 : 0]!
  return scheme === undefined || scheme === 'tenant' ? (n % 2 ? merchant : partner) : partner
}

const strangerTo = ({ kind }: Tenant, { tenants }: Target): Tenant =>
  tenants.find((one) => one.kind !== kind)!

function credentials(
  operation: Documented,
  plan: Plan,
  target: Target,
  forged: readonly string[],
  tenant: Tenant,
): Record<string, string> {
  const own = operation.scheme === undefined || operation.scheme === 'rail' ? {} : headersOf(tenant)
  const { credential: drawn } = plan
  switch (drawn.kind) {
    case 'own':
      return own
    case 'none':
      return {}
    case 'stranger':
      return headersOf(strangerTo(tenant, target))
    case 'forged':
      return { ...own, authorization: `Bearer ${forged[drawn.index % forged.length]!}` }
    case 'garbage':
      return { ...own, authorization: drawn.text }
    case 'mixed':
      return { ...own, [drawn.header]: drawn.text }
  }
}

/** A path of this operation with ids of the usual letters. */
const plainPath = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '(?!\\.{1,2}(?:/|$))[A-Za-z0-9_.-]+')}$`)

/** The request that a plan stands for now. */
export async function build(
  operation: Documented,
  plan: Plan,
  target: Target,
  forged: readonly string[],
): Promise<Request> {
  const tenant = tenantFor(operation, target, plan.tenant)
  const path = withIds(plan.path, target, tenant)
  const query = withIds(plan.query, target, tenant)
  const headers = Object.entries(credentials(operation, plan, target, forged, tenant)).flat()
  let body: Buffer | undefined
  if (plan.body) {
    const text = withIds(plan.body.text, target, tenant)
    body = Buffer.from(text, 'latin1')
    if (plan.jwe) {
      const encrypted = await encryptAs(plan.jwe, body, target)
      body = Buffer.from(plan.body.type === 'application/jose' ? encrypted : JSON.stringify(encrypted))
    } else if (operation.id === 'bulkIssueGiftCards') body = await ndjson(text, target, tenant)
    if (plan.body.type !== undefined) headers.push('content-type', plan.body.type)
    if (plan.body.encoding !== undefined) headers.push('content-encoding', plan.body.encoding)
  }
  if (operation.scheme === 'rail' && plan.credential.kind !== 'none')
    headers.push('x-rail-signature', signNotice(body ?? Buffer.alloc(0), RAIL_KEY, Date.now()))
  for (const [name, value] of plan.headers) headers.push(name, withIds(value, target, tenant))
  const where = query ? `${path}?${query}` : path
  return {
    method: operation.method,
    path: where,
    headers,
    body,
    tenant: plan.credential.kind === 'stranger' ? strangerTo(tenant, target) : tenant,
    plain: plainPath(operation.path).test(path),
  }
}

/** Bulk lines: what was drawn, and one good order among it. */
async function ndjson(text: string, target: Target, { partner }: Tenant): Promise<Buffer> {
  if (!partner) return Buffer.from(text, 'latin1')
  const { companyId, cardAccountId } = partner
  const order = {
    companyId,
    cardAccountId,
    loadAmount: 1,
    mobile: String(9_000_000_000 + randomBytes(3).readUIntBE(0, 3)),
  }
  const line = JSON.stringify(
    await encryptAs({ how: 'well', key: 'P-256' }, Buffer.from(JSON.stringify(order)), target),
  )
  return Buffer.concat([Buffer.from(text, 'latin1'), Buffer.from(`\n${line}\n`)])
}
