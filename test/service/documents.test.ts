import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.client.baseUrl}${path}`, { headers })

const hrefsOf = (html: string): string[] =>
  [...html.matchAll(/<(?:a|img) (?:href|src)="([^"]*)"/g)].map(([, href]) => href!)

const idsOf = (html: string): Set<string> =>
  new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!))

/** Every page that links lead to from the list of guides. */
async function crawl(): Promise<{ pages: Map<string, string>; broken: string[] }> {
  const pages = new Map<string, string>()
  const broken: string[] = []
  const queue: [from: string, path: string][] = [['', '/docs/guides']]
  for (const [from, path] of queue) {
    if (pages.has(path)) continue
    const response = await get(path)
    const isPage = response.headers.get('content-type')?.startsWith('text/html')
    const html = isPage && path !== '/docs' ? await response.text() : ''
    if (response.status !== 200) broken.push(`${from}: ${path} returns ${response.status}`)
    pages.set(path, html)
    for (const href of hrefsOf(html).filter((each) => each.startsWith('/')))
      queue.push([path, href.split('#')[0]!])
  }
  return { pages, broken }
}

test('every guide is a page below /docs, and every link and anchor of every page resolves', async () => {
  const { pages, broken } = await crawl()
  expect(broken).toEqual([])
  for (const path of [
    '/docs/guides/webhooks',
    '/docs/reference/settings',
    '/docs/decisions/README',
    '/docs/errors',
  ])
    expect([...pages.keys()]).toContain(path)
  const wrong: string[] = []
  for (const [path, html] of pages)
    for (const href of hrefsOf(html)) {
      if (/^https?:\/\//.test(href)) continue
      const [file, anchor] = href.split('#')
      const target = pages.get(file || path)
      if (target === undefined || (anchor && target && !idsOf(target).has(anchor)))
        wrong.push(`${path}: ${href}`)
    }
  expect(wrong).toEqual([])
})

test('pages run no script: raw HTML of the files is shown as text, under a policy that allows no script', async () => {
  const { pages } = await crawl()
  for (const [path, html] of pages) {
    if (html === '') continue
    expect(html, path).not.toMatch(/<script|<iframe|\son\w+=|javascript:/i)
    const policy = (await get(path)).headers.get('content-security-policy')
    expect(policy, path).toContain("default-src 'none'")
    expect(policy, path).not.toContain('script-src')
  }
})

test.each([
  '/docs/guides/..%2f..%2fpackage',
  '/docs/guides/none',
  '/docs/reference/promises.json',
  '/docs/images/x.svg',
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
