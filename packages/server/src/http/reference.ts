import { FAILURES, fail } from '@svc/contract/errors'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type About, openApiDocument } from './openapi.ts'
import type { Operation } from './operation.ts'
import { siteFile } from './site.ts'
import type { Examples, LiveReference } from './worked-examples.ts'

export interface ReferenceOptions {
  readonly about: About
  readonly publicUrl: () => string
  /** Loaded when the document is first requested. */
  readonly examples: () => Promise<Examples>
  /** In the sandbox: credentials and records that work, instead of the recorded ones. */
  readonly live?: (recorded: Examples) => Promise<LiveReference>
  /** In the sandbox: the page at `/`. */
  readonly index?: () => Promise<string>
  /** In the sandbox: credentials of its tenants, once they are there, with the address at which they are read. */
  readonly credentials?: {
    readonly path: string
    readonly of: (baseUrl: string) => Promise<object | undefined>
  }
}

const DOCUMENT_URL = '/openapi.json'

/** `/openapi.json`, and `/docs`, a reference to try the operations with. */
export async function serveReference(
  app: FastifyInstance,
  operations: readonly Operation[],
  { about, publicUrl, examples, live, index, credentials }: ReferenceOptions,
): Promise<void> {
  const documents = new Map<string | undefined, string>()
  const recorded = async (tag: string | undefined) => {
    const document = () => openApiDocument(...partOf(operations, about, tag), publicUrl(), made)
    const made = await examples()
    const text = documents.get(tag) ?? JSON.stringify(document())
    documents.set(tag, text)
    return text
  }
  let filling: Promise<LiveReference> | undefined
  /** One at a time: readers who come meanwhile get its outcome. */
  const current = (fill: NonNullable<typeof live>) =>
    (filling ??= examples()
      .then(fill)
      .finally(() => (filling = undefined)))
  type Asked = { Querystring: { readonly plain?: string; readonly tag?: string } }
  app.get<Asked>(DOCUMENT_URL, { config: { operation: 'openapi' } }, async ({ query }, reply) => {
    const { plain, tag } = query
    reply.type('application/json; charset=utf-8')
    // For generators of clients: the same each time, without live values.
    if (!live || plain !== undefined) return reply.send(await recorded(tag))
    const { examples: made, ...found } = await current(live)
    const document = openApiDocument(...partOf(operations, about, tag), publicUrl(), made, found)
    // The page that reads the document sends the cookie with its requests; a script cannot set it.
    if (found.cookie) reply.header('set-cookie', found.cookie)
    return reply.header('cache-control', 'no-store').send(JSON.stringify(document))
  })
  if (index)
    app.get('/', { config: { operation: 'docs' } }, async (_, reply) => sendText(reply, await index()))
  if (credentials)
    app.get(credentials.path, { config: { operation: 'docs' } }, async ({ protocol, host }, reply) => {
      // A container does not know at which port it is reached.
      const found = await credentials.of(host ? `${protocol}://${host}` : publicUrl())
      if (!found) fail('temporarily_unavailable', { retryAfterSeconds: 1 })
      return reply.header('cache-control', 'no-store').send(found)
    })
  await servePage(app, new Set(operations.map(({ tag }) => tag)))
}

/** All operations with what the service sends; or those of a tag alone, which a page reads in a fraction of the time. */
function partOf(
  operations: readonly Operation[],
  about: About,
  tag: string | undefined,
): readonly [readonly Operation[], About] {
  if (tag === undefined) return [operations, about]
  const found = operations.filter((operation) => operation.tag === tag)
  const { webhooks: _, ...aboutTag } = about
  return found.length > 0 ? [found, aboutTag] : fail('route_not_found')
}

/** Scripts and styles of the page are its own, inline ones included; nothing is loaded from or sent to elsewhere. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"

/** Of pages without scripts. */
const TEXT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

const sendText = (reply: FastifyReply, html: string) =>
  reply
    .headers({ 'content-security-policy': TEXT_POLICY, 'x-content-type-options': 'nosniff' })
    .type('text/html; charset=utf-8')
    .send(html)

/** Of the documentation: its own scripts and styles, no inline ones. */
const SITE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

const SITE_PATHS = [
  '/docs/errors',
  '/docs/guides',
  '/docs/guides.md',
  ...['assets', 'clients', 'contribute', 'decisions', 'guides', 'images', 'reference', 'tutorial'].map(
    (folder) => `/docs/${folder}/*`,
  ),
  '/llms.txt',
  '/llms-full.txt',
]

/** The documentation, in every mode of the service. */
function serveSite(app: FastifyInstance): void {
  for (const path of SITE_PATHS)
    app.get(path, { config: { operation: 'docs' } }, async ({ url }, reply) => {
      const { type, content } = (await siteFile(url.split('?')[0]!)) ?? fail('route_not_found')
      reply.headers({ 'content-security-policy': SITE_POLICY, 'x-content-type-options': 'nosniff' })
      return reply.type(type).send(content)
    })
}

/** Inline, so that the browser does not ask for /favicon.ico, which is none of our operations. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7"><path fill="#0a7a5a" d="M0 0h3v3H0zM4 0h3v3H4zM0 4h3v3H0zM4 4h1v1H4zM6 4h1v1H6zM5 5h1v1H5zM4 6h1v1H4zM6 6h1v1H6z"/></svg>',
)}`

/** Headers that the inner server makes for itself and that are none of the page's. */
const OWN_HEADERS = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding', 'content-length'])

/** Made on first use, by a server of its own behind this one: loading it would take a quarter of the start. */
async function servePage(app: FastifyInstance, tags: ReadonlySet<string>): Promise<void> {
  let page: Promise<FastifyInstance> | undefined
  type Asked = { Querystring: { readonly tag?: string } }
  const response = async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const { tag } = request.query
    if (tag !== undefined && !tags.has(tag)) fail('route_not_found')
    const made = await (await (page ??= openPage())).inject({ method: 'GET', url: request.url })
    if (made.statusCode >= 400) fail('route_not_found')
    for (const [name, value] of Object.entries(made.headers))
      if (value !== undefined && !OWN_HEADERS.has(name)) reply.header(name, value)
    reply.headers({
      'content-security-policy': PAGE_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    const ofTag = `${DOCUMENT_URL}?tag=${encodeURIComponent(tag ?? '')}`
    const html = tag === undefined ? made.rawPayload : made.payload.replaceAll(DOCUMENT_URL, ofTag)
    return reply.code(made.statusCode).send(html)
  }
  serveSite(app)
  for (const url of ['/docs', '/docs/*']) app.get<Asked>(url, { config: { operation: 'docs' } }, response)
  app.addHook('onClose', async () => (await page)?.close())
}

async function openPage(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const page = fastify()
  await page.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: DOCUMENT_URL,
      pageTitle: 'svc reference',
      favicon: ICON,
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
      persistAuth: true,
    } as never,
  })
  await page.ready()
  return page as unknown as FastifyInstance
}

/** The error codes as a Markdown table, for the generated reference. */
export function errorTable(): string {
  const rows = Object.entries(FAILURES).map(
    ([errorCode, { status, errorType, description, remedy }]) =>
      `| <a id="${errorCode}"></a>\`${errorCode}\` | ${status} | \`${errorType}\` | ${description} | ${remedy} |`,
  )
  return [
    '| `error` | Status | `errorType` | Description | What to do |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
