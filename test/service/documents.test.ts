import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPERATIONS } from '@svc/server/operations'
import MiniSearch from 'minisearch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPTIONS, SEARCH } from '../../scripts/site/search.ts'
import type { Json } from '../harness/client.ts'
import { openService, type TestService } from '../harness/service.ts'
import { ROOT } from '../harness/sources.ts'

let service: TestService
let site: { readonly pages: Map<string, string>; readonly broken: string[] }
beforeAll(async () => {
  service = await openService()
  site = await crawl()
})
afterAll(() => service.close())

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.client.baseUrl}${path}`, { headers })

const hrefsOf = (html: string): string[] =>
  [...html.matchAll(/<[^>]+ (?:href|src)="([^"]*)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'))

const idsOf = (html: string): Set<string> =>
  new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!))

/** All that links lead to from the start page, by address; other files than pages are empty. */
async function crawl(): Promise<typeof site> {
  const pages = new Map<string, string>()
  const broken: string[] = []
  const queue: [from: string, path: string][] = [['', '/docs/guides']]
  for (const [from, path] of queue) {
    if (pages.has(path)) continue
    const response = await get(path)
    const isPage = response.headers.get('content-type')?.startsWith('text/html')
    const isTrial = /^\/docs(?:\/\?tag=.*)?$/.test(path)
    const html = isPage && !isTrial ? await response.text() : ''
    if (html === '') await response.body?.cancel()
    if (response.status !== 200) broken.push(`${from}: ${path} returns ${response.status}`)
    pages.set(path, html)
    for (const href of hrefsOf(html).filter((each) => each.startsWith('/')))
      queue.push([path, href.split('#')[0]!])
  }
  return { pages, broken }
}

test('every page is reached from the start page and the navigation, and every link and anchor resolves', async () => {
  const { pages, broken } = site
  expect(broken).toEqual([])
  const navigation = /<nav [\s\S]*?<\/nav>/.exec(pages.get('/docs/guides')!)![0]
  const named = new Set(hrefsOf(navigation))
  const others = [...pages].filter(([path, html]) => html !== '' && !named.has(path)).map(([path]) => path)
  expect(others.toSorted()).toEqual(['/docs/errors', '/docs/guides'])
  expect(named.size).toBeGreaterThan(150)
  const ids = new Map([...pages].map(([path, html]) => [path, idsOf(html)]))
  const wrong = [...pages].flatMap(([path, html]) =>
    hrefsOf(html)
      .filter((href) => {
        if (/^https?:\/\//.test(href)) return false
        const [file, anchor] = href.split('#')
        const target = file || path
        if (!pages.has(target)) return true
        return anchor !== undefined && pages.get(target) !== '' && !ids.get(target)!.has(anchor)
      })
      .map((href) => `${path}: ${href}`),
  )
  expect(wrong).toEqual([])
})

test('pages have no inline script or style: the policy allows files of the site alone, and raw HTML is shown as text', async () => {
  for (const [path, html] of site.pages) {
    if (html === '') continue
    const scripts = html.match(/<script[^>]*>/g)
    expect(scripts, path).toEqual(['<script type="module" src="/docs/assets/site.js">'])
    const tags = html.match(/<[a-z][^>]*>/gi)!
    const inline = /^<(?:style|iframe)|\s(?:style|on\w+)=|javascript:/i
    expect(
      tags.filter((tag) => inline.test(tag)),
      path,
    ).toEqual([])
  }
  const policy = (await get('/docs/guides/webhooks')).headers.get('content-security-policy')
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'"])
    expect(policy).toContain(part)
  expect(policy).not.toContain('unsafe')
})

test('every page is served as Markdown too, with links that lead to pages, and llms.txt lists them', async () => {
  const list = await (await get('/llms.txt')).text()
  for (const [path, html] of site.pages) {
    if (html === '' || path === '/docs/errors') continue
    if (path !== '/docs/guides') expect(list).toContain(`(${path}.md)`)
    expect(html).toContain(`<link rel="alternate" type="text/markdown" href="`)
    expect([...site.pages.keys()]).toContain(`${path}.md`)
  }
  const markdown = await get('/docs/guides/qr-codes.md')
  expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(await markdown.text()).toContain('](/docs/tutorial/first-token-and-qr-code.md)')
  expect(await (await get('/llms-full.txt')).text()).toContain('# Encrypt a request')
})

/** What newcomers type, and the page that should be first. */
const QUESTIONS: readonly (readonly [question: string, page: string])[] = [
  ['getting started', 'tutorial/first-token-and-qr-code'],
  ['how do I get a token', 'tutorial/first-token-and-qr-code'],
  ['what is a merchant and a partner', 'guides/concepts'],
  ['overview of the architecture', 'guides/concepts'],
  ['create a qr code', 'guides/qr-codes'],
  ['refund a payment', 'guides/qr-codes'],
  ['cancel a qr code', 'guides/qr-codes'],
  ['issue a gift card', 'tutorial/gift-card'],
  ['spend from a card', 'tutorial/gift-card'],
  ['how to encrypt an order', 'guides/encrypt-a-request'],
  ['JWE python', 'guides/encrypt-a-request'],
  ['webhook signature', 'guides/webhooks'],
  ['receive events', 'guides/webhooks'],
  ['retry after timeout', 'guides/errors-and-retries'],
  ['idempotency key', 'guides/errors-and-retries'],
  ['error codes', 'reference/errors'],
  ['run in CI', 'guides/test-in-ci'],
  ['typescript sdk', 'guides/sdk'],
  ['python client', 'guides/clients'],
  ['next.js webhook receiver', 'guides/webhook-receivers'],
  ['coding agent', 'guides/coding-agents'],
  ['command line login', 'guides/command-line'],
  ['award coins', 'guides/coins'],
  ['create a company', 'guides/companies'],
  ['card account funding', 'guides/companies'],
  ['go live checklist', 'guides/go-live'],
  ['deploy with docker', 'guides/deploy'],
  ['environment variables', 'reference/settings'],
  ['restore a backup', 'guides/backup'],
  ['pay out to merchants', 'guides/payouts'],
  ['trial balance', 'guides/books'],
  ['advance the clock', 'guides/test-clocks'],
  ['simulate a failure in the sandbox', 'reference/sandbox'],
  ['verify a receipt', 'guides/receipts'],
  ['single sign-on', 'guides/console'],
  ['erase a user', 'guides/personal-data'],
  ['what is UTR', 'guides/glossary'],
  ['where are the demo credentials', 'reference/sandbox'],
  ['port is taken', 'reference/settings'],
  ['401 unauthorized', 'reference/errors'],
  ['rate limit 429', 'guides/errors-and-retries'],
  ['next page of a list', 'guides/qr-codes'],
  ['how many requests per second', 'guides/evaluate'],
  ['can I trust it', 'guides/evaluate'],
  ['production checklist', 'guides/go-live'],
  ['chargeback', 'guides/upi-rail'],
  ['report a vulnerability', 'contribute/security'],
  ['how to contribute', 'contribute/contributing'],
]

test('the operations of a tag are tried on a page of their own, which reads no others', async () => {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))]
  expect(tags.length).toBeGreaterThan(15)
  const idsIn = (document: Json): string[] =>
    Object.values<Json>(document.paths).flatMap((methods) =>
      Object.values<Json>(methods).map(({ operationId }) => operationId),
    )
  for (const tag of tags) {
    const query = `?tag=${encodeURIComponent(tag)}`
    expect(await (await get(`/docs/${query}`)).text()).toContain(`"/openapi.json${query}"`)
    const document = (await (await get(`/openapi.json${query}`)).json()) as Json
    const wanted = OPERATIONS.filter((each) => each.tag === tag).map(({ id }) => id)
    expect([tag, idsIn(document).toSorted(), document.webhooks]).toEqual([tag, wanted.toSorted(), undefined])
  }
  for (const path of ['/docs/?tag=None', '/openapi.json?tag=None', '/openapi.json?plain&tag="'])
    expect([path, (await get(path)).status]).toEqual([path, 404])
})

test('search finds the right page first for what newcomers ask', async () => {
  const index = MiniSearch.loadJSON(await (await get('/docs/assets/search.json')).text(), OPTIONS as never)
  const found = QUESTIONS.map(([question, page]) => {
    const first = index.search(question, SEARCH)[0]
    return [question, first?.['url'].split('#')[0], `/docs/${page}`]
  })
  expect(found.length).toBeGreaterThanOrEqual(30)
  expect(found.filter(([, first, wanted]) => first !== wanted)).toEqual([])
})

test('what is published is what is served: the site says the version of the program', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const [path, html] of site.pages)
    if (html !== '') expect(html, path).toContain(`svc <small>${version}</small>`)
})

test.each([
  '/docs/guides/..%2f..%2fpackage',
  '/docs/guides/none',
  '/docs/reference/promises.json',
  '/docs/images/x.svg',
  '/docs/assets/other.js',
])('%s is not found', async (path) => {
  expect((await get(path)).status).toBe(404)
})

test('the `type` of an error links to a page that the service serves, at the section of its code', async () => {
  const response = await get('/api/v0/qr-code/qr_none', { accept: 'application/problem+json' })
  const { type } = (await response.json()) as { type: string }
  const { pathname, hash } = new URL(type)
  const page = await get(pathname)
  expect(page.status).toBe(200)
  expect([...idsOf(await page.text())]).toContain(hash.slice(1))
})

const PUBLIC = OPERATIONS.filter(
  ({ method, path, auth }) => method === 'GET' && auth === 'none' && !/sandbox/.test(path),
)

test.each(PUBLIC.map(({ path }) => path))(
  '%s is served whatever query a load balancer, a scraper or a cache adds',
  async (path) => {
    const [without, withOne] = [
      await service.client.get(path),
      await service.client.get(`${path}?from=balancer&from=cache&t=1`),
    ]
    expect([without.status, withOne.status]).toEqual([200, 200])
  },
)
