import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '@svc/contract/errors'
import { PACKAGE_ROOT } from '@svc/platform/package'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseCrossSite } from './identity/request-origin.ts'

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

/** RFC 6797: for a year the browser comes by TLS alone. Not for other names of the domain, which are not ours. */
const TLS_ALONE = 'max-age=31536000'

const API_HEADERS = { 'cache-control': 'no-store', 'content-security-policy': API_POLICY }

/** The route that matched decides: the router decodes paths, so a raw URL has many spellings (RFC 3986 section 6.2.2.2). */
const isPage = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config?.isPage === true

/** For a server of a page and its API: refuses what other sites send, and says how browsers are to treat responses. */
export function guardPage(app: FastifyInstance, publicUrl: () => string): void {
  app.addHook('onRequest', async (request) => {
    if (!isPage(request)) refuseCrossSite(request, publicUrl())
  })
  app.addHook('onSend', async (request, reply) => {
    reply.headers(isPage(request) ? EVERYWHERE : { ...EVERYWHERE, ...API_HEADERS })
    if (publicUrl().startsWith('https:')) reply.header('strict-transport-security', TLS_ALONE)
  })
}

/** A page of `apps/console`, built by Vite. */
export interface BuiltPage {
  /** What people call it. */
  readonly name: string
  /** Path at which it is served. */
  readonly at: string
  /** Folder of `apps/console` where the build puts it. */
  readonly folder: string
}

export async function servePage(app: FastifyInstance, page: BuiltPage): Promise<void> {
  const { at } = page
  const root = join(PACKAGE_ROOT, 'apps', 'console', page.folder)
  const { default: files } = await import('@fastify/static')
  await app.register(files, {
    root,
    serve: false,
    cacheControl: false,
    acceptRanges: false,
    etag: true,
    preCompressed: true,
  })
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = (request.params as { '*'?: string })['*'] ?? ''
    // The library throws a bare 412 for them (`@fastify/send`); without ranges they guard nothing on GET (RFC 9110 13.1).
    delete request.headers['if-match']
    delete request.headers['if-unmodified-since']
    if (leavesThePage(path)) fail('route_not_found')
    reply.header('content-security-policy', PAGE_POLICY)
    const isFile = /\.\w+$/.test(path)
    // The names of built files hold their hashes: what is in them never changes.
    if (isFile && path.startsWith('assets/'))
      return reply.header('cache-control', 'public, max-age=31536000, immutable').sendFile(path)
    if (isFile && path !== 'index.html')
      return reply.header('cache-control', 'public, max-age=3600').sendFile(path)
    if (!(await isBuilt(root)))
      return reply.code(503).header('cache-control', 'no-store').type('text/html').send(notBuilt(page))
    // Every other path is one of the page's own.
    return reply.header('cache-control', 'no-cache').sendFile('index.html')
  }
  const config = { isPage: true } as const
  app.get(at, { config }, async (_, reply) => reply.redirect(`${at}/`, 302))
  app.get(`${at}/*`, { config }, send)
  for (const path of [`${at}/api`, `${at}/api/*`]) app.get(path, async () => fail('route_not_found'))
}

/**
 * Hidden files, segments such as `..`, empty segments, which the library refuses with an error of its own, and characters
 * that no file of the page has; the path is decoded already.
 */
const leavesThePage = (path: string): boolean => {
  const segments = path.split(/[/\\]/)
  return (
    path.includes('\0') ||
    segments.some((segment, n) => segment.startsWith('.') || (segment === '' && n < segments.length - 1))
  )
}

const isBuilt = (root: string): Promise<boolean> =>
  access(join(root, 'index.html')).then(
    () => true,
    () => false,
  )

const notBuilt = ({
  name,
  at,
  folder,
}: BuiltPage): string => `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc ${name}</title>
<body style="font: 1rem/1.5 system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>The ${name} was not built</h1>
<p>Its page is missing from <code>apps/console/${folder}</code>; the service itself runs. Build it in the checkout, then load this page again:</p>
<pre>npm ci &amp;&amp; npm run build</pre>
<p>Its API is at <code>${at}/api/v0</code>.</p>
</body></html>
`
