import * as fc from 'fast-check'

/** Bytes for a bare connection, latin1. `@auth@` stands for a live token. */
export interface RawPlan {
  readonly text: string
  /** Bytes per write; all at once when 0. */
  readonly piece: number
  /** Whether our side is closed after the last byte, as a client does that has nothing more to say. */
  readonly ends: boolean
}

const CRLF = '\r\n'
const post = (
  headers: readonly string[],
  body: string,
  line = 'POST /api/v0/qr-code/search HTTP/1.1',
): string => [line, ...headers, '', body].join(CRLF)
const BASE = ['Host: a', 'Authorization: Bearer @auth@', 'Content-Type: application/json']

const framing = fc.constantFrom(
  'Content-Length: 2',
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: 2, 2',
  'Content-Length: +2',
  'Content-Length: -2',
  'Content-Length: 0x2',
  'Content-Length: 2 ',
  'Content-Length:\t2',
  'content-length: 02',
  'Content-Length: 99999999999999999999',
  'Content-Length: 2\r\n 3',
  'Content-Length : 2',
  'Content-Length: ',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: Chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding : chunked',
  ' Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: x',
  'X: y\nTransfer-Encoding: chunked',
  'X: y\rTransfer-Encoding: chunked',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding: \x0bchunked',
  'Connection: Transfer-Encoding',
  'Connection: close, Content-Length',
  'Upgrade: h2c\r\nConnection: Upgrade',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Expect: 100-continue',
  'Expect: x',
)
const bodyText = fc.constantFrom(
  '{}',
  '0\r\n\r\n',
  '2\r\n{}\r\n0\r\n\r\n',
  '2;a=b\r\n{}\r\n0\r\n\r\n',
  '2;a="\r\n{}\r\n0\r\n\r\n',
  '02\r\n{}\r\n0\r\n\r\n',
  '0x2\r\n{}\r\n0\r\n\r\n',
  '2 \r\n{}\r\n0\r\n\r\n',
  '2\n{}\n0\n\n',
  'ffffffffffffffff2\r\n{}\r\n0\r\n\r\n',
  '2\r\n{}0\r\n\r\n',
  '2\r\n{}\r\n0\r\nX: y\r\n\r\n',
  '2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n',
  '-2\r\n{}\r\n',
  'zz',
  `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  '2\r\n{}\r\n0\r\n',
  '',
)
const smuggled = fc.constantFrom(
  '',
  '',
  'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'GARBAGE',
  '\x00\x01',
  '\r\n\r\n',
  'GET /metrics HTTP/1.1\r\nX: ',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET / HTTP/0.9\r\n\r\n',
  'PATCH /api/v0/qr-code/x/cancel HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
)
const smuggling = fc
  .tuple(fc.array(framing, { maxLength: 3 }), bodyText, smuggled)
  .map(([headers, body, next]) => post([...BASE, ...headers], body) + next)

const odd = fc.constantFrom(
  'GET',
  'GET ',
  'GET /livez',
  'GET /livez HTTP/1.1',
  'GET /livez HTTP/1.1\r\n',
  '\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /livez HTTP/1.0\r\n\r\n',
  'GET /livez HTTP/2.0\r\n\r\n',
  'GET\t/livez\tHTTP/1.1\r\nHost: a\r\n\r\n',
  'GET http://127.0.0.1:1/livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET //evil/livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET ///livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET * HTTP/1.1\r\nHost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET ?x HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /livez#a HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n',
  'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  'TRACE /livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'PURGE /livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'get /livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'QUERY /livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'M-SEARCH * HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: a@b/c\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost:\r\n\r\n',
  'GET /livez HTTP/1.1\r\n: a\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: a\r\nx\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: a\r\nx: a\x00b\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: a\r\nx: a\r\n b\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: a\r\n__proto__: x\r\nconstructor: y\r\n\r\n',
  `GET /livez HTTP/1.1\r\nHost: a\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`,
  `GET /livez HTTP/1.1\r\nHost: a\r\n${'x: y\r\n'.repeat(3_000)}\r\n`,
  `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'G'.repeat(20_000),
  '\x16\x03\x01\x00\xa5\x01\x00',
  '\x00',
  '\xff\xff\xff\xff',
  'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50),
  `GET /livez HTTP/1.1\r\nHost: a\r\n\r\n\x00garbage`,
  'HEAD /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /docs/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /docs/..%2f..%2fpackage.json HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /docs/../../package.json HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /docs/js/..%5c..%5cx HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /docs/\xff HTTP/1.1\r\nHost: a\r\n\r\n',
)

/** One byte of a good request put in, changed or left out. */
const changed = fc
  .tuple(
    fc.constantFrom(
      post([...BASE, 'Content-Length: 2'], '{}'),
      'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n',
      post([...BASE, 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'),
    ),
    fc.nat(2_000),
    fc.nat(255),
    fc.constantFrom('put', 'change', 'drop'),
  )
  .map(([text, at, code, how]) => {
    const where = at % text.length
    return (
      text.slice(0, where) +
      (how === 'drop' ? '' : String.fromCharCode(code)) +
      text.slice(how === 'put' ? where : where + 1)
    )
  })

export const rawPlan: fc.Arbitrary<RawPlan> = fc.record({
  text: fc.oneof(
    { weight: 4, arbitrary: smuggling },
    { weight: 2, arbitrary: odd },
    { weight: 3, arbitrary: changed },
  ),
  piece: fc.constantFrom(0, 0, 0, 1_000, 7),
  ends: fc.constantFrom(true, true, true, true, true, true, true, true, true, false),
})
