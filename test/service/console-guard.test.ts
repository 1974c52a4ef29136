import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { API, OWN, signedIn } from '../harness/console.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let pool: Pool
let cookie: string
beforeAll(async () => {
  service = await openService()
  // Sends paths as they are: a URL object would resolve `%2e%2e/` first.
  pool = new Pool(service.client.baseUrl)
  cookie = (await signedIn(service, 'admin')).cookie!
})
afterAll(async () => {
  await pool.close()
  await service.close()
})

async function send(method: string, path: string, headers: Record<string, string> = {}) {
  const { statusCode, headers: got, body } = await pool.request({ method: method as 'GET', path, headers })
  const text = await body.text()
  const isJson = String(got['content-type']).includes('json')
  const json = isJson && text ? JSON.parse(text) : undefined
  const isHtml = String(got['content-type']).includes('html')
  // A malformed path never reaches the console: its failure has the envelope of the API.
  const error = json?.payload ? JSON.parse(json.payload).error : json?.error
  return { status: statusCode, headers: got, isHtml, error }
}

const percent = (text: string) =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

/** Spellings that the router reads as the same path, or as another one. */
const spellings = (path: string): string[] => {
  const [, first, second, ...rest] = path.split('/') as [string, string, string, ...string[]]
  const tail = rest.join('/')
  return [
    path,
    `/${percent(first)}/${second}/${tail}`,
    `/${first}/${percent(second)}/${tail}`,
    `/${first}/%61${second.slice(1)}/${tail}`,
    `/${first}/${second}/${rest.map(percent).join('/')}`,
    `/${first}%2f${second}/${tail}`,
    `/${first}/${second}%2F${tail}`,
    `/${first}/./${second}/${tail}`,
    `/${first}//${second}/${tail}`,
    `/${first}/x/..%2f${second}/${tail}`,
    `/${first}/${second.toUpperCase()}/${tail}`,
    `/${first}/${second};x=1/${tail}`,
    `${path}?/console/assets/x.js`,
  ]
}

const REQUESTS = CONSOLE_OPERATIONS.flatMap(({ id, method, path }) =>
  spellings(path.replace(/:\w+/g, 'none_0')).map((spelled) => ({ id, method, spelled })),
)

test('no spelling of a path lets another site’s page call an operation of the console', async () => {
  for (const { method, spelled } of REQUESTS) {
    // A foreign page can read a GET only if the response says so, so only `sec-fetch-site` is judged there.
    const foreign = { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const got = await send(method, spelled, foreign)
    // Other paths than the API's are the page's own; links of other sites may open it.
    const isPage = method === 'GET' && got.isHtml
    if (!isPage) expect([403, 404, 405], `${method} ${spelled}: ${got.status}`).toContain(got.status)
    expect(got.headers['set-cookie'], `${method} ${spelled}`).toBeUndefined()
    const { 'sec-fetch-site': _, ...older } = foreign
    if (method !== 'GET')
      expect([403, 404, 405], `${method} ${spelled}, an older browser`).toContain(
        (await send(method, spelled, older)).status,
      )
  }
})

test('every response of the console’s API has no-store, however the path is spelled and whatever the status', async () => {
  const seen = new Set<number>()
  const others = [`${API}/none`, API, '/console/api', '/console/api/', '/console/%61pi/none']
  for (const { method, spelled } of [
    ...REQUESTS.filter(({ id }) => id !== 'console.signOut'),
    ...others.flatMap((spelled) => ['GET', 'HEAD', 'POST', 'PUT'].map((method) => ({ method, spelled }))),
    { method: 'GET', spelled: `${API}/session` },
    { method: 'PUT', spelled: `${API}/merchants` },
    { method: 'HEAD', spelled: `${API}/merchants` },
    { method: 'GET', spelled: `${API}/merchants?limit=x` },
  ]) {
    const got = await send(method, spelled, { cookie, ...OWN })
    seen.add(got.status)
    // Other paths than the API's are the page's own.
    const expected = got.isHtml ? /^(no-store|no-cache)$/ : /^no-store$/
    expect(String(got.headers['cache-control']), `${method} ${spelled}: ${got.status}`).toMatch(expected)
  }
  for (const status of [200, 400, 404, 405]) expect(seen).toContain(status)
})

test('a path of the API never returns the page, however it is spelled', async () => {
  for (const path of [
    '/console/api',
    '/console/api/v0',
    '/console/%61pi/none',
    '/console/a%70%69',
    '/console/api/',
  ])
    for (const method of ['GET', 'POST', 'DELETE']) {
      const got = await send(method, path, OWN)
      expect([method, path, got.status, got.error]).toEqual([method, path, 404, 'route_not_found'])
    }
})

test.each([
  '..%2f',
  'console//assets/none.js',
  'assets//none.js',
  '..%2fpackage.json',
  '..%2F..%2F..%2Fetc%2Fpasswd',
  'assets/..%2f..%2findex.html',
  'assets%2f..%2f..%2fpackage.json',
  '%2e%2e%2fpackage.json',
  '..%5cpackage.json',
  'assets/%00.js',
  'assets/x.js%00',
  `assets/${'x'.repeat(5_000)}.js`,
  '.%2f.env',
  '.env',
  'assets/.hidden.js',
  'assets/none.js',
  '%ff.js',
  '%c0%ae%c0%ae%2fpackage.json',
])(
  'the console path %s is 404: nothing outside the built page is reachable, and nothing fails',
  async (path) => {
    const got = await send('GET', `/console/${path}`)
    expect([got.status, got.error]).toEqual([404, 'route_not_found'])
    expect(service.logged()).not.toContain('a request failed')
  },
)

test.each([
  ['if-match', '"x"'],
  ['if-match', 'bytes=0-1'],
  ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['range', 'bytes=999999999-'],
  ['range', 'bytes=0-1,5-6'],
  ['range', 'x'],
])(
  '%s: %s on a page of the console is ignored: the whole page, and no error of the service',
  async (name, value) => {
    const whole = await send('GET', '/console/index.html')
    const got = await send('GET', '/console/index.html', { [name]: value })
    expect([got.status, got.headers['content-length']]).toEqual([200, whole.headers['content-length']])
  },
)
