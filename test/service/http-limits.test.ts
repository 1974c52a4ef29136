import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { openService, type TestService, tokenOf } from '../harness/service.ts'

let service: TestService
/** It waits for no request for long. */
let impatient: TestService
let client: Client
let bearer: string
let besideSlowOnes: Client

beforeAll(async () => {
  service = await openService()
  impatient = await openService({
    db: service.db,
    env: { HEADERS_TIMEOUT_MS: '500', REQUEST_TIMEOUT_MS: '1000' },
  })
  const merchant = await service.newMerchant()
  bearer = `Bearer ${await tokenOf(service.client, merchant.apiKey)}`
  client = service.client.with({ authorization: bearer })
  besideSlowOnes = await impatient.as(merchant)
})
afterAll(async () => {
  await impatient.close()
  await service.close()
})

/** A connection that says something other than HTTP clients do. */
async function say(text: string, to = service): Promise<Socket> {
  const { hostname, port } = new URL(to.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(text, 'latin1')
  return socket
}

/** All that the service answers until it hangs up: the test times out when it never does. */
async function untilClosed(socket: Socket): Promise<string> {
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => (received += text))
  await once(socket, 'close')
  return received
}

interface RawResponse {
  readonly status: number
  readonly headers: string
  readonly json: Json
  readonly error: string
}

function lastResponse(received: string): RawResponse {
  const start = received.lastIndexOf('HTTP/1.1 ')
  const [headers = '', body = ''] = received.slice(start).split('\r\n\r\n')
  const json: Json = JSON.parse(body)
  expect(Number(/content-length: (\d+)/i.exec(headers)?.[1])).toBe(Buffer.byteLength(body))
  expect(/x-request-id: (\S+)/i.exec(headers)?.[1]).toBe(json.errorResponse.requestId)
  expect(headers).toMatch(/connection: close/i)
  expect(json).toMatchObject({
    response_code: 1,
    response_message: 'Failure',
    errorResponse: { errorMessage: json.payload },
  })
  return { status: Number(headers.slice(9, 12)), headers, json, error: JSON.parse(json.payload).error }
}

const responseTo = async (text: string, to = service) => lastResponse(await untilClosed(await say(text, to)))
const post = (...headers: string[]) =>
  ['POST /api/v0/merchant/token HTTP/1.1', 'Host: a', ...headers, '', ''].join('\r\n')
const CHUNKED = 'Transfer-Encoding: chunked'
const JSON_TYPE = 'Content-Type: application/json'

test.each([
  ['one long header', () => `GET /livez HTTP/1.1\r\nHost: a\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`],
  ['many short headers', () => `GET /livez HTTP/1.1\r\nHost: a\r\n${'x: aaaaaaaaaa\r\n'.repeat(1_800)}\r\n`],
  ['a long path', () => `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a long query', () => `GET /livez?${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
])('a header block over 16 KiB is 431 and ends the connection: %s', async (_, text) => {
  const { status, error, json } = await responseTo(text())
  expect([status, error, json.errorResponse.errorType]).toEqual([
    431,
    'headers_too_large',
    'VALIDATION_ERROR',
  ])
})

test.each([
  ['both Content-Length and chunks', post('Content-Length: 5', CHUNKED) + '0\r\n\r\n'],
  ['chunks and then Content-Length', post(CHUNKED, 'Content-Length: 5') + '0\r\n\r\n'],
  ['two Content-Lengths', post('Content-Length: 2', 'Content-Length: 3') + '{} '],
  ['the same Content-Length twice', post(JSON_TYPE, 'Content-Length: 2', 'Content-Length: 2') + '{}'],
  ['a list as Content-Length', post(JSON_TYPE, 'Content-Length: 2, 2') + '{}'],
  ['a negative Content-Length', post('Content-Length: -1') + '{}'],
  ['a Content-Length with a sign', post('Content-Length: +2') + '{}'],
  ['a Content-Length in hexadecimal', post('Content-Length: 0x2') + '{}'],
  ['an endless Content-Length', post(`Content-Length: ${'9'.repeat(30)}`) + '{}'],
  ['a chunk size that is no number', post(JSON_TYPE, CHUNKED) + 'zz\r\n{}\r\n0\r\n\r\n'],
  ['a chunk longer than its size', post(JSON_TYPE, CHUNKED) + '1\r\n{}\r\n0\r\n\r\n'],
  ['an endless chunk extension', `${post(JSON_TYPE, CHUNKED)}2;${'a'.repeat(20_000)}\r\n{}\r\n`],
  ['a chunk size that overflows', post(JSON_TYPE, CHUNKED) + 'fffffffffffffffff\r\n{}\r\n'],
  ['a transfer coding that does not end in chunks', post('Transfer-Encoding: gzip') + '{}'],
  ['an unknown transfer coding', post('Transfer-Encoding: xchunked') + '0\r\n\r\n'],
  ['chunks behind a line fold', post('Transfer-Encoding:\r\n chunked') + '0\r\n\r\n'],
  ['a space before the colon', 'GET /livez HTTP/1.1\r\nHost : a\r\n\r\n'],
  ['a folded header', 'GET /livez HTTP/1.1\r\nHost: a\r\nx: a\r\n b\r\n\r\n'],
  ['a NUL in a header', 'GET /livez HTTP/1.1\r\nHost: a\r\nx: a\u0000b\r\n\r\n'],
  ['a bare CR in a header', 'GET /livez HTTP/1.1\r\nHost: a\r\nx: a\rb: c\r\n\r\n'],
  ['line feeds alone', 'GET /livez HTTP/1.1\nHost: a\n\n'],
  ['an unknown method', 'FETCH /livez HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an unknown version', 'GET /livez HTTP/3.7\r\nHost: a\r\n\r\n'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a greeting in TLS', '\u0016\u0003\u0001\u0000\u00a5\u0001\u0000'],
  ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n'],
  ['no host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['two hosts', 'GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
])('ambiguous or broken HTTP is 400 in the envelope and ends the connection: %s', async (_, text) => {
  const { status, error } = await responseTo(text)
  expect([status, error]).toEqual([400, 'bad_request'])
})

test('nothing that follows broken framing is treated as a request', async () => {
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', {}))
  const smuggled = `PATCH /api/v0/qr-code/${qrCodeId}/cancel HTTP/1.1\r\nHost: a\r\nAuthorization: ${bearer}\r\nContent-Length: 0\r\n\r\n`
  const attempts = [
    post(`Content-Length: ${smuggled.length + 5}`, CHUNKED) + `0\r\n\r\n${smuggled}`,
    post('Content-Length: 0', `Content-Length: ${smuggled.length}`) + smuggled,
    post(JSON_TYPE, CHUNKED) + `2\r\n{}\r\nx\r\n\r\n${smuggled}`,
    post('Transfer-Encoding: chunked, identity') + `0\r\n\r\n${smuggled}`,
    `GARBAGE\r\n\r\n${smuggled}`,
  ]
  for (const text of attempts) expect((await responseTo(text)).status).toBe(400)
  expect(payloadOf(await client.get(`/api/v0/qr-code/${qrCodeId}`)).status).toBe('ACTIVE')
})

test.each([
  ['garbage', '\u0000\u0001garbage\r\n\r\n'],
  ['a request with broken framing', post('Content-Length: 2', CHUNKED) + '0\r\n\r\n'],
  ['a request whose body breaks', post(JSON_TYPE, CHUNKED) + '1\r\n{}\r\n0\r\n\r\n'],
])('%s behind requests does not prevent their responses, and ends the connection', async (_, broken) => {
  // /readyz waits for the database: its answer is not there yet when what follows is read.
  for (const paths of [['/readyz'], ['/readyz', '/nowhere', '/livez']]) {
    const received = await untilClosed(
      await say(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('') + broken),
    )
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
    expect(statuses).toEqual([...paths.map((path) => (path === '/nowhere' ? 404 : 200)), 400])
    expect(lastResponse(received).error).toBe('bad_request')
  }
})

test('garbage behind a request does not replace its response', async () => {
  const create = ['POST /api/v0/qr-code HTTP/1.1', 'Host: a', `Authorization: ${bearer}`, JSON_TYPE]
  const whole = [...create, 'Content-Length: 2', '', '{}'].join('\r\n')
  const received = await untilClosed(await say(`${whole}${whole}\u0000\u0001garbage\r\n\r\n`))
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
    '200',
    '200',
    '400',
  ])
})

test('pipelined requests all get their responses, in their order', async () => {
  const paths = ['/livez', '/nowhere', '/livez', '/readyz']
  const received = await untilClosed(
    await say(
      paths
        .map(
          (path, i) =>
            `GET ${path} HTTP/1.1\r\nHost: a\r\n${i === paths.length - 1 ? 'Connection: close\r\n' : ''}\r\n`,
        )
        .join(''),
    ),
  )
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
    '200',
    '404',
    '200',
    '200',
  ])
})

test.each([
  ['headers that never end', () => 'GET /livez HTTP/1.1\r\nHost: a\r\nx: '],
  ['half a request line', () => 'GE'],
  ['a body that never comes', () => post(JSON_TYPE, 'Content-Length: 2')],
  ['a body that never ends', () => `${post(JSON_TYPE, CHUNKED)}1\r\n{\r\n`],
])('a request that does not arrive in time is 408 and ends the connection: %s', async (_, text) => {
  const { status, error } = await responseTo(text(), impatient)
  expect([status, error]).toEqual([408, 'request_timeout'])
})

test('the fields of its operation’s envelope are in the 408 of a request whose operation is known, and in its 400', async () => {
  const late = await responseTo(post(JSON_TYPE, 'Content-Length: 2'), impatient)
  const broken = await responseTo(`${post(JSON_TYPE, CHUNKED)}1\r\n{}\r\n0\r\n\r\n`)
  for (const { json } of [late, broken])
    expect(json).toMatchObject({
      resultCode: 1,
      resultMessage: JSON.parse(json.payload).error_description,
    })
  const behind = await responseTo(`GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n`)
  expect(behind.json).not.toHaveProperty('resultCode')
  const problem = await untilClosed(
    await say(post(JSON_TYPE, 'Accept: application/problem+json', 'Content-Length: 2'), impatient),
  )
  expect(problem).toMatch(/^HTTP\/1\.1 408 .*\r\nContent-Type: application\/problem\+json\r\n/i)
  expect(JSON.parse(problem.split('\r\n\r\n')[1]!)).toMatchObject({ status: 408, error: 'request_timeout' })
  const refused = await untilClosed(
    await say(post(JSON_TYPE, 'Accept: application/problem+json;q=0', 'Content-Length: 2')),
  )
  expect(refused).toMatch(/^HTTP\/1\.1 408 .*\r\nContent-Type: application\/json/i)
})

test.each([
  ['headers that never end', 'GET /livez HTTP/1.1\r\nHost: a\r\nx: '],
  ['nothing at all', ''],
  ['garbage', 'garbage\r\n\r\n'],
  ['a body that never comes', post(JSON_TYPE, 'Content-Length: 2')],
])(
  'a caller that keeps its half of a rejected connection open does not keep ours open: %s',
  async (_, text) => {
    const { hostname, port } = new URL(impatient.baseUrl)
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    socket.write(text)
    await once(socket, 'end')
    // What arrives at a connection that is closed on both sides is answered with a reset.
    const insisting = setInterval(() => socket.write(' '), 20)
    onTestFinished(() => {
      clearInterval(insisting)
      socket.destroy()
    })
    // What it writes meets a closed connection: an error, which `once` would throw.
    await new Promise((resolve) => socket.once('close', resolve))
  },
)

test('a wrong key counts as one also when its caller disconnects before it is checked', async () => {
  const failures = async () => {
    const { text } = await client.get('/metrics')
    const lines = text.matchAll(
      /^svc_failures_total\{operation="issueMerchantToken",error="(\w+)"\} (\d+)$/gm,
    )
    return new Map([...lines].map(([, code, count]) => [code!, Number(count)] as const))
  }
  const before = await failures()
  service.app.http.server.prependOnceListener('request', (request) => void request.socket.destroy())
  const socket = await say(post('API-Key: svc_test_wrongkey', 'Content-Length: 0'))
  await once(socket, 'close')
  const counted = async (code: string) => ((await failures()).get(code) ?? 0) - (before.get(code) ?? 0)
  await expect.poll(() => counted('invalid_api_key'), { timeout: 20_000 }).toBe(1)
  expect(await counted('internal_error')).toBe(0)
  expect(service.logged()).not.toContain('a request failed')
})

/** How often reading a request's body broke off. */
async function brokenOff(): Promise<number> {
  const { text } = await client.get('/metrics')
  return Number(
    /svc_failures_total\{operation="issueMerchantToken",error="bad_request"\} (\d+)/.exec(text)?.[1] ?? 0,
  )
}

test('a caller that disconnects in the middle of a body causes no error of the service', async () => {
  const before = await brokenOff()
  const socket = await say(`${post(JSON_TYPE, 'Content-Length: 9', 'Expect: 100-continue')}{`)
  // The interim answer tells that the request is being read.
  await once(socket, 'data')
  socket.destroy()
  while ((await brokenOff()) === before) await nextTurn()
  expect(service.logged()).not.toContain('a request failed')
})

test('200 slow clients are dropped, and a well-behaved client is always served meanwhile', async () => {
  const slow = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      say(
        i % 2 ? 'GET /livez HTTP/1.1\r\nHost: a\r\nx: ' : post(JSON_TYPE, 'Content-Length: 65536') + '{',
        impatient,
      ),
    ),
  )
  // Each sends a little now and then, as one does who wants to keep the connection.
  const trickle = setInterval(() => slow.forEach((socket) => socket.writable && socket.write(' ')), 100)
  let open = slow.length
  const dropped = Promise.all(slow.map((socket) => untilClosed(socket).then(() => open--)))
  let served = 0
  while (open > 0) {
    const response = await besideSlowOnes.post('/api/v0/qr-code', {})
    expect(response.status, response.text).toBe(200)
    served++
  }
  clearInterval(trickle)
  await dropped
  expect(served).toBeGreaterThan(0)
})
