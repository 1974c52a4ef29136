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
}

/** `/openapi.json`, and `/docs`, a reference to try the operations with. */
export async function serveReference(
  app: FastifyInstance,
  operations: readonly Operation[],
  { about, publicUrl, examples, live, index }: ReferenceOptions,
): Promise<void> {
  let text: string | undefined
  const recorded = async () =>
    JSON.stringify(openApiDocument(operations, about, publicUrl(), await examples()))
  const filled = async (fill: NonNullable<typeof live>) => {
    const { examples: made, ...found } = await fill(await examples())
    const document = openApiDocument(operations, about, publicUrl(), made, found)
    return { text: JSON.stringify(document), cookie: found.cookie }
  }
  let filling: ReturnType<typeof filled> | undefined
  /** One at a time: readers who come meanwhile get its outcome. */
  const current = (fill: NonNullable<typeof live>) =>
    (filling ??= filled(fill).finally(() => (filling = undefined)))
  type Asked = { Querystring: { readonly plain?: string } }
  app.get<Asked>('/openapi.json', { config: { operation: 'openapi' } }, async ({ query }, reply) => {
    reply.type('application/json; charset=utf-8')
    // For generators of clients: the same each time, without live values.
    if (!live || query.plain !== undefined) return reply.send((text ??= await recorded()))
    const { text: filledText, cookie } = await current(live)
    // The page that reads the document sends the cookie with its requests; a script cannot set it.
    if (cookie) reply.header('set-cookie', cookie)
    return reply.header('cache-control', 'no-store').send(filledText)
  })
  if (index)
    app.get('/', { config: { operation: 'docs' } }, async (_, reply) => sendText(reply, await index()))
  await app.register(servePage)
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
async function servePage(app: FastifyInstance): Promise<void> {
  let page: Promise<FastifyInstance> | undefined
  const response = async (request: FastifyRequest, reply: FastifyReply) => {
    const made = await (await (page ??= openPage())).inject({ method: 'GET', url: request.url })
    if (made.statusCode >= 400) fail('route_not_found')
    for (const [name, value] of Object.entries(made.headers))
      if (value !== undefined && !OWN_HEADERS.has(name)) reply.header(name, value)
    reply.headers({
      'content-security-policy': PAGE_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    return reply.code(made.statusCode).send(made.rawPayload)
  }
  serveSite(app)
  for (const url of ['/docs', '/docs/*']) app.get(url, { config: { operation: 'docs' } }, response)
  app.addHook('onClose', async () => (await page)?.close())
}

async function openPage(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const page = fastify()
  await page.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
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
