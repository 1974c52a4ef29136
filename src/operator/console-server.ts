import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'
import { mountOperations } from '../platform/http/mount.ts'
import { buildServer, type ServerOptions } from '../platform/http/server.ts'
import { PACKAGE_ROOT } from '../platform/package.ts'
import { CONSOLE_OPERATIONS } from './console-operations.ts'
import { CONSOLE_API } from './console-schema.ts'
import { authenticateLoopback, refuseCrossSite } from './request-origin.ts'
import { sessionsOf } from './sessions.ts'

/** Where `vite build` puts the page. */
const PAGE = join(PACKAGE_ROOT, 'console', 'dist')

/** Scripts are the page's own files and nothing else. Styles may be inline: Mantine writes its colours so. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
const API_POLICY = "default-src 'none'; frame-ancestors 'none'"

const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const isApi = (url: string): boolean => url === '/console/api' || url.startsWith('/console/api/')

/** The console's API and its page, as a server that never listens: `mountConsole` hands requests to it. */
export async function openConsole(options: ServerOptions): Promise<FastifyInstance> {
  // What operators ask here is in the audit; the request log is for the callers of the API.
  const { answered: _, ...shared } = options
  const { services } = options
  const inner: ServerOptions = {
    ...shared,
    family: 'problem',
    authenticators: {
      operator: { needs: 'headers', authenticate: sessionsOf(services).authenticate },
      loopback: { needs: 'headers', authenticate: authenticateLoopback },
    },
  }
  const app = buildServer(inner)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(EVERYWHERE)
    if (!isApi(request.url)) return
    reply.headers({ 'cache-control': 'no-store', 'content-security-policy': API_POLICY })
    refuseCrossSite(request, services.publicUrl())
  })
  const sandbox = services.config.SVC_MODE === 'sandbox'
  mountOperations(
    app,
    CONSOLE_OPERATIONS.filter(({ sandboxOnly }) => sandbox || !sandboxOnly),
    inner,
  )
  await servePage(app)
  await app.ready()
  return app
}

async function servePage(app: FastifyInstance): Promise<void> {
  const { default: files } = await import('@fastify/static')
  await app.register(files, { root: PAGE, serve: false, cacheControl: false, etag: true })
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = (request.params as { '*'?: string })['*'] ?? ''
    if (isApi(request.url.split('?', 1)[0]!)) fail('route_not_found')
    reply.header('content-security-policy', PAGE_POLICY)
    const isFile = /\.\w+$/.test(path)
    // The names of built files hold their hashes: what is in them never changes.
    if (isFile && path.startsWith('assets/'))
      return reply.header('cache-control', 'public, max-age=31536000, immutable').sendFile(path)
    if (isFile && path !== 'index.html')
      return reply.header('cache-control', 'public, max-age=3600').sendFile(path)
    if (!(await isBuilt()))
      return reply.code(503).header('cache-control', 'no-store').type('text/html').send(NOT_BUILT)
    // Every other path is one of the page's own.
    return reply.header('cache-control', 'no-cache').sendFile('index.html')
  }
  app.get('/console', async (_, reply) => reply.redirect('/console/', 302))
  app.get('/console/*', send)
}

const isBuilt = (): Promise<boolean> =>
  access(join(PAGE, 'index.html')).then(
    () => true,
    () => false,
  )

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc console</title>
<body style="font: 1rem/1.5 system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>The console was not built</h1>
<p>Its page is missing from <code>console/dist</code>; the service itself runs. Build it in the checkout, then load this page again:</p>
<pre>npm ci &amp;&amp; npm run build</pre>
<p>The console’s API is at <code>${CONSOLE_API}</code>.</p>
</body></html>
`
