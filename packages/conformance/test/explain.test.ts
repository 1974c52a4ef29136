import { checkConformance } from '@svc/conformance/conformance'
import { explain } from '@svc/conformance/explain'
import { htmlReport } from '@svc/conformance/report-html'
import { junitReport } from '@svc/conformance/report-junit'
import { jsonReport, textReport } from '@svc/conformance/report-text'
import type { Result } from '@svc/conformance/run'
import { expect, test } from 'vitest'
import { CREDENTIALS, type Mistake, startWrongServer } from './wrong-server.ts'

async function resultOf(...mistakes: readonly Mistake[]): Promise<Result> {
  const server = await startWrongServer(mistakes)
  const { baseUrl } = server
  const limits = { timeoutMs: 20_000, totalMs: 60_000 }
  try {
    return await checkConformance({ baseUrl, credentials: CREDENTIALS, profile: 'spec', ...limits })
  } finally {
    await server.close()
  }
}

/** Mistakes that people make, and the one line that names each. */
const MISTAKES: readonly (readonly [words: string, line: RegExp, mistake: Mistake])[] = [
  [
    'a field is left out',
    /POST \/api\/v0\/merchant\/token lacks resultCode {2}\[2 failed\]$/,
    (reply, { name }) => void (name === 'token' && delete reply.json['resultCode']),
  ],
  [
    'a handler throws',
    /PATCH \/api\/v0\/qr-code\/\{qrCodeId\}\/cancel returns 500 {2}\[1 failed, \d+ blocked\]$/,
    (reply, { name }) => void (name === 'cancel' && reply.status === 200 && (reply.status = 500)),
  ],
  [
    'a number is sent as text',
    /svcCard\/search: payload\.recordsCount is string "\d+", expected integer {2}\[4 failed\]$/,
    ({ json, status }, { name }) =>
      void (name === 'search' && status === 200 && (json['payload'].recordsCount += '')),
  ],
  [
    'an object is sent as text',
    /POST \/api\/v0\/partner\/svcCard: payload\.cardStatus is string "UL", expected object {2}\[1 failed\]$/,
    ({ json, status }, { name }) =>
      void (name === 'create' && status === 200 && (json['payload'].cardStatus = 'UL')),
  ],
  [
    'failure bodies have no request id',
    /the failure body of GET \/api\/v0\/svc-coins\/\{coinConfigId\} lacks errorResponse\.requestId {2}\[5 failed\]$/,
    ({ json }) => void delete json['errorResponse']?.requestId,
  ],
  [
    'a check of the request is missing',
    /POST \/api\/v0\/partner\/svcCard does not keep §4\.3, email: .+ {2}\[\d+ failed\]$/,
    (reply, { name }) => {
      if (name !== 'create' || !String(reply.json['payload']).includes('"email"')) return
      Object.assign(reply, { status: 200, json: { code: 0, message: 'Success', payload: {} } })
    },
  ],
]

const causeLines = (text: string): string[] => text.split('\n').filter((line) => /^ ?\d+ {2}/.test(line))

test('the small server without a mistake conforms, so that each mistake is tested on its own', async () => {
  const result = await resultOf()
  expect(explain(result).causes).toEqual([])
  expect(result.outcomes.filter(({ status }) => status === 'passed').length).toBeGreaterThan(300)
})

test.each(MISTAKES)('%s: the report names that one cause, on one line', async (_, line, mistake) => {
  const lines = causeLines(textReport(await resultOf(mistake)))
  expect(lines).toEqual([expect.stringMatching(line)])
})

test('the first screen of a server with all these mistakes has at most 40 lines: each cause once, and nothing else', async () => {
  const text = textReport(await resultOf(...MISTAKES.map(([, , mistake]) => mistake)))
  const lines = causeLines(text)
  for (const [words, line] of MISTAKES) expect(lines.filter((one) => line.test(one)).length, words).toBe(1)
  expect(lines.length).toBe(MISTAKES.length)
  expect(text.split('\n').length).toBeLessThanOrEqual(40)
  expect(text.split('\n').filter((line) => line !== '' && !lines.includes(line))).toEqual([
    expect.stringMatching(/^✗ Does not conform: /),
    expect.stringContaining('--details'),
  ])
})

test('a card creation that always fails is the first thing to fix, and every check that needs a card waits for it', async () => {
  const result = await resultOf(
    (reply, { name }) => void (name === 'token' && delete reply.json['resultCode']),
    (reply, { name }) => {
      if (name === 'create') Object.assign(reply, { status: 500, type: 'text/html', json: '<h1>Oops</h1>' })
    },
  )
  const { causes, outcomes } = explain(result)
  expect(causes.map(({ title }) => title)).toEqual([
    'POST /api/v0/partner/svcCard returns 500',
    'POST /api/v0/merchant/token lacks resultCode',
  ])
  const [first] = causes
  expect(first?.failed.length).toBe(1)
  expect(first?.blocked.some(({ check }) => check.id.startsWith('4.4.'))).toBe(true)
  const wrong = outcomes.filter(({ status }) => status === 'failed' || status === 'blocked').length
  expect(causes.reduce((sum, { failed, blocked }) => sum + failed.length + blocked.length, 0)).toBe(wrong)
})

test('text, JUnit, HTML and JSON show for each cause what the server sent next to what the specification shows', async () => {
  const result = await resultOf(
    (reply, { name }) => void (name === 'token' && delete reply.json['resultCode']),
  )
  const text = textReport(result, { details: true })
  expect(text).toMatch(/your server sent +│ the specification shows/)
  expect(text).toMatch(/"token": "\$MERCHANT_TOKEN", +│ +"token": "string",/)
  const junit = junitReport(result)
  expect(junit).toMatch(/your server sent +│ the specification shows/)
  const html = htmlReport(result)
  expect(html).toContain('<p class="soft">Your server sent</p><pre>200 application/json')
  expect(html).toContain('&quot;resultCode&quot;: &quot;integer (int32)&quot;')
  const json = jsonReport(result) as { causes: { sent: string; shown: string; failed: string[] }[] }
  expect(json.causes).toHaveLength(1)
  expect(json.causes[0]).toMatchObject({
    failed: ['4.1.fields', '4.1.resultCode'],
    sent: expect.stringContaining('"resultMessage": "Success"'),
    shown: expect.stringContaining('"resultCode": "integer (int32)"'),
  })
  for (const report of [text, junit, html, JSON.stringify(json)])
    for (const secret of ['token-of-merchant-1', 'api-key-of-merchant', 'access-token-of-'])
      expect(report).not.toContain(secret)
})

test('a server’s interpretation of an unspecified point is found by requests, and explains the checks that differ', async () => {
  const server = await startWrongServer([
    ({ json, status }, { name }) => void (name === 'token' && status === 200 && (json['expiry'] = 3_600_000)),
  ])
  const { baseUrl } = server
  const result = await checkConformance({
    baseUrl,
    credentials: CREDENTIALS,
    profile: 'full',
    only: ['4.1.expiry', '4.1.expiry.absolute'],
    timeoutMs: 20_000,
    totalMs: 60_000,
  })
  await server.close()
  const words =
    'your server reads section 2.1 as: expiry of a token is the time that is left, in milliseconds (TOKEN_EXPIRY=duration)'
  expect(explain(result).causes.map(({ title }) => title)).toEqual([words])
  for (const report of [textReport(result, { details: true }), htmlReport(result)])
    expect(report).toContain(words)
})
