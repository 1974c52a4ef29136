import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FAILURES, fail } from '../../errors.ts'
import { documentedBody, documentedHeaders, nameSchemas } from './openapi.ts'
import type { Operation } from './operation.ts'
import { addExamples, type Examples } from './worked-examples.ts'

export interface About {
  readonly version: string
  /** Of the document, where it is not the integrators'. */
  readonly title?: string
  readonly description?: string
  readonly publicUrl: () => string
  readonly securitySchemes: Record<string, object>
  /** What is sent to those who want to be told, by name. */
  readonly webhooks: Readonly<Record<string, object>>
  /** Loaded when the document is first asked for. */
  readonly examples: () => Promise<Examples>
}

const DESCRIPTION = `Merchants get tokens and run UPI QR codes; card partners issue gift cards with sealed requests and search them; rewards partners search employees' cards and run coin configurations; everyone follows events.

Every failure, of every operation, has the same envelope: \`payload\` and \`errorResponse.errorMessage\` hold the JSON text \`{"error","error_description"}\`. Decide by \`error\`, quote \`errorResponse.requestId\` (also in \`x-request-id\`) when you ask for help. Send \`Accept: application/problem+json\` for RFC 9457 instead.

Every write takes an \`Idempotency-Key\`.`

/**
 * `/openapi.json`, made from the schemas that check the requests, and `/docs`, a reference to try it with. Must be
 * registered before the operations, whose schemas it collects.
 */
export async function serveReference(
  app: FastifyInstance,
  operations: readonly Operation[],
  about: About,
): Promise<void> {
  await serveDocument(app, operations, about)
  await app.register(servePage)
}

/** `/openapi.json` alone. */
export async function serveDocument(
  app: FastifyInstance,
  operations: readonly Operation[],
  about: About,
): Promise<void> {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const { default: swagger } = await import('@fastify/swagger')
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: about.title ?? 'svc',
        version: about.version,
        description: about.description ?? DESCRIPTION,
      },
      components: { securitySchemes: about.securitySchemes as never },
    },
    transform: ({ schema, url }) => {
      const operation = byId.get(String((schema as { operationId?: string } | undefined)?.operationId))
      const headers = operation && documentedHeaders(operation)
      const body = operation && documentedBody(operation)
      return { schema: { ...schema, ...(headers && { headers }), ...(body && { body }) }, url }
    },
  })
  let text: string | undefined
  app.get('/openapi.json', { schema: { hide: true }, config: { operation: 'openapi' } }, async (_, reply) => {
    text ??= documentText(
      { ...withOptionalBodies(app.swagger() as never as Document), webhooks: about.webhooks },
      about,
      await about.examples(),
    )
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

function documentText(document: Document, { publicUrl }: About, examples: Examples): string {
  const named = nameSchemas(document)
  addExamples(named.paths as never, examples)
  return JSON.stringify({ ...named, servers: [{ url: publicUrl() }] })
}

interface Document {
  components?: { schemas?: Record<string, unknown> }
  readonly webhooks?: Readonly<Record<string, object>>
  readonly paths?: Record<
    string,
    Record<string, { requestBody?: { required?: boolean; content: Record<string, { schema?: object }> } }>
  >
}

/** A body without a required field may be left out altogether; the generator calls every body required. */
function withOptionalBodies(document: Document): Document {
  for (const methods of Object.values(document.paths ?? {}))
    for (const { requestBody } of Object.values(methods)) {
      if (!requestBody) continue
      const needsFields = Object.values(requestBody.content).some(
        ({ schema = {} }) => !('properties' in schema) || 'required' in schema,
      )
      if (!needsFields) requestBody.required = false
    }
  return document
}

/** Scripts and styles of the page are its own, inline ones included; nothing is loaded from or sent to elsewhere. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"

/** Inline, so that the browser does not ask for /favicon.ico, which is none of our operations. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7"><path fill="#0a7a5a" d="M0 0h3v3H0zM4 0h3v3H4zM0 4h3v3H0zM4 4h1v1H4zM6 4h1v1H6zM5 5h1v1H5zM4 6h1v1H4zM6 6h1v1H6z"/></svg>',
)}`

/** Headers that the inner server makes for itself and that are none of the page's. */
const OWN_HEADERS = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding', 'content-length'])

/** Made on first use, by a server of its own behind this one: loading it would take a quarter of the start. */
async function servePage(app: FastifyInstance): Promise<void> {
  let page: Promise<FastifyInstance> | undefined
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
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
  app.get('/docs/errors', { schema: { hide: true }, config: { operation: 'docs' } }, async (_, reply) =>
    reply
      .headers({
        'content-security-policy':
          "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
      })
      .type('text/html; charset=utf-8')
      .send(errorPage()),
  )
  for (const url of ['/docs', '/docs/*'])
    app.get(url, { schema: { hide: true }, config: { operation: 'docs' } }, answer)
  app.addHook('onClose', async () => (await page)?.close())
}

async function openPage(): Promise<FastifyInstance> {
  const [{ default: fastify }, { default: reference }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ])
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

const marked = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/`([^`]+)`/g, '<code>$1</code>')

/** The error words as a page, each with an anchor to point people at. */
function errorPage(): string {
  const rows = Object.entries(FAILURES).map(
    ([word, { status, errorType, description, remedy }]) =>
      `<section id="${word}"><h2><a href="#${word}"><code>${word}</code></a></h2>` +
      `<p>${status} · ${errorType}</p><p><b>${marked(description)}.</b> ${marked(remedy)}</p></section>`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>svc errors</title><link rel="icon" href="${ICON}">
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem}
h2{font-size:1.1rem;margin:2rem 0 0}p{margin:.2rem 0}a{color:inherit;text-decoration:none}section:target{outline:2px solid #0a7a5a;outline-offset:.6rem;border-radius:2px}</style>
<h1>Errors</h1><p>Every failure carries one of these words in <code>error</code>. <a href="/docs"><u>Operations</u></a></p>
${rows.join('\n')}</html>`
}

/** The error words as a Markdown table, for the generated reference. */
export function errorTable(): string {
  const rows = Object.entries(FAILURES).map(
    ([word, { status, errorType, description, remedy }]) =>
      `| <a id="${word}"></a>\`${word}\` | ${status} | \`${errorType}\` | ${description} | ${remedy} |`,
  )
  return [
    '| `error` | Status | `errorType` | Description | What to do |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
