import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCredentials } from '@svc/conformance/credentials'
import { SECTIONS } from '@svc/conformance/registry'
import { htmlReport } from '@svc/conformance/report-html'
import { junitReport } from '@svc/conformance/report-junit'
import { jsonReport, textReport } from '@svc/conformance/report-text'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Run, runHere } from '../harness/cli.ts'
import {
  conformanceOf,
  conformanceOfMutant,
  idsOf,
  openSandbox,
  type SandboxService,
} from '../harness/conformance.ts'
import { runCli } from '../harness/processes.ts'

let from: SandboxService
let folder: string
let file: string

beforeAll(async () => {
  from = await openSandbox()
  folder = await mkdtemp(join(tmpdir(), 'svc-conformance-'))
  file = join(folder, 'sandbox.json')
  await writeFile(file, JSON.stringify(from.sandbox))
})
afterAll(async () => {
  await from.service.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]): Promise<Run> => runHere(['conformance', ...args], {})

const everyCheck = SECTIONS.flatMap(({ id: section, checks }) =>
  checks.map((check) => ({ section, ...check })),
)
const secretsOf = ({ sandbox }: SandboxService): string[] =>
  [
    sandbox.merchant,
    sandbox.otherMerchant,
    sandbox.incentivePartner,
    sandbox.rewardsPartner,
    sandbox.otherPartner,
  ].flatMap((holder) =>
    'apiKey' in holder ? [holder.apiKey, holder.accessKey] : [holder.clientSecret, holder.sharedKey.k],
  )

test('the service passes every check of the specification and of its decisions: no failures, no skips', async () => {
  const result = await conformanceOf(from)
  expect(result.outcomes.filter(({ status }) => status !== 'passed')).toEqual([])
  expect(result.outcomes.length).toBe(everyCheck.length)
})

test('there are at least 120 checks; each has its own id that begins with its section, a title and a source that fits its origin', () => {
  expect(everyCheck.length).toBeGreaterThanOrEqual(120)
  expect(new Set(everyCheck.map(({ id }) => id)).size).toBe(everyCheck.length)
  for (const { id, section, source, origin, title } of everyCheck) {
    expect(id.startsWith(`${section}.`), id).toBe(true)
    expect(source, id).toMatch(origin === 'spec' ? /^§[1-9]/ : /^decisions? [A-Z]\d/)
    expect(title.length, id).toBeGreaterThan(10)
  }
})

test('the profile spec runs the specification’s checks alone, and works with what the specification names', async () => {
  const result = await conformanceOf(from, { profile: 'spec' })
  expect(new Set(result.outcomes.map(({ check }) => check.origin))).toEqual(new Set(['spec']))
  expect(idsOf(result, 'failed', 'blocked', 'skipped')).toEqual([])
})

test('without credentials, checks that need none run, and every other check is skipped with its reason', async () => {
  const result = await conformanceOf(from, { credentials: {} })
  expect(idsOf(result, 'failed', 'blocked')).toEqual([])
  expect(idsOf(result, 'passed')).toContain('4.5.401.missing.status')
  for (const { status, reason } of result.outcomes)
    if (status === 'skipped') expect(reason).toMatch(/^the credentials have no /)
})

test('without a simulator payments are skipped; without creation the codes of the file are cancelled, then the rest is skipped', async () => {
  const code = await fetch(`${from.sandbox.baseUrl}/api/v0/merchant/token`, {
    method: 'POST',
    headers: { 'api-key': from.sandbox.merchant.apiKey },
  })
  const { token } = (await code.json()) as { token: string }
  const made = await fetch(`${from.sandbox.baseUrl}/api/v0/qr-code`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  })
  const { payload } = (await made.json()) as { payload: { qrCodeId: string } }
  const result = await conformanceOfMutant(
    from,
    {
      edit(request) {
        if (
          request.path === '/sandbox/upi/pay' ||
          (request.path === '/api/v0/qr-code' && request.method === 'POST')
        )
          request.path = '/nowhere'
      },
    },
    { sections: ['4.2'], credentials: { ...from.sandbox, disposableQrCodeIds: [payload.qrCodeId] } },
  )
  expect(idsOf(result, 'failed', 'blocked')).toEqual([])
  expect(idsOf(result, 'passed')).toContain('4.2.cancelled')
  const reasons = new Map(result.outcomes.map(({ check, reason }) => [check.id, reason]))
  expect(reasons.get('4.2.pays-no-more')).toBe('the server has no payment simulator')
  expect(reasons.get('4.2.together')).toMatch(/disposableQrCodeIds is used up/)
})

test('reports of a server that fails state what was expected, what was received and how to repeat it, and no secret', async () => {
  const hostile = '<script>alert(1)</script>&"\u0000\u001b[31m'
  const result = await conformanceOfMutant(from, {
    report(reported, { path }) {
      if (path === '/oauth/token') return
      if (reported.json?.payload?.svcCardId)
        Object.assign(reported.json.payload, { firstName: hostile, remarks: '4111 1111 1111 1111' })
      else if (reported.status === 200) reported.status = 299
      else reported.text = `${hostile} ${secretsOf(from).join(' ')}`
    },
  })
  expect(idsOf(result, 'failed')).toContain('4.3.no-number')
  expect(idsOf(result, 'failed')).toContain('4.5.401.missing.content-type')
  const html = htmlReport(result)
  const texts = {
    text: textReport(result, { details: true }),
    json: JSON.stringify(jsonReport(result)),
    junit: junitReport(result),
    html,
  }
  for (const [name, text] of Object.entries(texts)) {
    for (const secret of secretsOf(from)) expect(text.includes(secret), name).toBe(false)
    expect(text, name).not.toMatch(/eyJ[\w-]+\.[\w-]+/)
    expect(text, name).not.toContain('4111 1111 1111 1111')
    expect(text, name).toContain('curl -i -X')
    expect(text, name).toContain('$INCENTIVE_PARTNER_TOKEN')
  }
  expect(html).not.toContain('<script')
  expect(texts.junit).not.toContain('<script')
  // oxlint-disable-next-line no-control-regex -- that there is none is the point
  expect(texts.junit).not.toMatch(/[\u0000-\u0008\u001b]/)
})

test('the printed command repeats the request: with its variables set, a shell gets the same response', async () => {
  const result = await conformanceOfMutant(from, {
    report: (reported, { method }) =>
      void (method === 'PATCH' && reported.status === 404 && (reported.status = 410)),
  })
  const { failure } = result.outcomes.find(({ check }) => check.id === '4.2.missing.status')!
  const { token } = (await (
    await fetch(`${from.sandbox.baseUrl}/api/v0/merchant/token`, {
      method: 'POST',
      headers: { 'api-key': from.sandbox.merchant.apiKey },
    })
  ).json()) as { token: string }
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const script = failure!.curl!.replaceAll(result.baseUrl, from.sandbox.baseUrl)
  const env = { ...process.env, MERCHANT_TOKEN: token }
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env })
  expect(stdout).toContain('404 Not Found')
  expect(stdout).toContain('qr_code_not_found')
})

/** Servers that do not even speak properly. */
const RUDE: readonly (readonly [name: string, answer: string])[] = [
  ['answers what is not HTTP', 'hello\r\n\r\n'],
  ['closes every connection', ''],
]

test.each(RUDE)('a server that %s is unreachable, not conformant', async (_, response) => {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined).resume()
    socket.end(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await expect(conformanceOf(from, { baseUrl: `http://127.0.0.1:${port}` })).rejects.toThrow('received')
  await new Promise((resolve) => server.close(resolve))
})

test('a server that stops responding is not waited for repeatedly: the remaining checks are blocked', async () => {
  const result = await conformanceOfMutant(
    from,
    { edit: ({ path }) => (path === '/' ? undefined : 'hang') },
    { timeoutMs: 1_000 },
  )
  expect(idsOf(result, 'passed')).toEqual([])
  expect(result.requests).toBeLessThan(40)
  expect(result.outcomes.at(-1)?.reason).toContain('the server has stopped responding')
})

test('a request that was sent too soon, by 429 and Retry-After, is sent again when the server allows it, and counts as nothing', async () => {
  const refused = new Set<string>()
  const result = await conformanceOfMutant(
    from,
    {
      report(reported, { method, path, body }) {
        const request = `${method} ${path} ${body.toString()}`
        if (path === '/' || refused.has(request)) return
        refused.add(request)
        reported.status = 429
        reported.headers = { 'retry-after': '0' }
        reported.text = ''
        reported.json = undefined
      },
    },
    { sections: ['4.4', '4.5'] },
  )
  expect(idsOf(result, 'failed', 'blocked', 'skipped')).toEqual([])
  expect(refused.size).toBeGreaterThan(30)
})

test('a server that always returns 429 is not retried forever: 429 is a response like any other', async () => {
  const result = await conformanceOfMutant(
    from,
    {
      report(reported, { path }) {
        if (!path.startsWith('/api/v0/svc-coins')) return
        reported.status = 429
        reported.headers['retry-after'] = '0'
      },
    },
    { sections: ['4.5'] },
  )
  expect(idsOf(result, 'failed')).toContain('4.5.401.missing.status')
})

test('a redirect is never followed: it is a response like any other', async () => {
  let visits = 0
  const elsewhere = createServer((socket) => {
    visits++
    socket.destroy()
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  const { port } = elsewhere.address() as { port: number }
  const result = await conformanceOfMutant(
    from,
    {
      report(reported, { path }) {
        if (!path.startsWith('/api/v0/svc-coins')) return
        reported.status = 307
        reported.headers['location'] = `http://127.0.0.1:${port}/`
      },
    },
    { sections: ['4.5'] },
  )
  expect(idsOf(result, 'failed')).toContain('4.5.401.missing.status')
  expect(visits).toBe(0)
  await new Promise((resolve) => elsewhere.close(resolve))
})

test('all mistakes of a credentials file are reported, and no value', () => {
  const text = JSON.stringify({
    merchant: { apiKey: 7 },
    incentivePartner: { partnerId: 'p' },
    coinConfigId: {},
  })
  expect(() => readCredentials(text)).toThrow(
    'merchant.apiKey: must be a string with something in it; incentivePartner.companyId: is required; incentivePartner.cardAccountId: is required; incentivePartner: clientId and clientSecret, or accessToken, is required; coinConfigId: must be a string',
  )
})

test('where wrong credentials block most of a run, the reports state what the checks wait for', async () => {
  const { incentivePartner: partner, ...sandbox } = from.sandbox
  const credentials = { ...sandbox, incentivePartner: { ...partner, clientSecret: 'another' } }
  const result = await conformanceOf(from, { credentials, sections: ['4.3'] })
  const words =
    /credentials of that server\? 29\d checks wait for one thing: needs a token of incentivePartner: .+invalid_client/
  expect(textReport(result, { details: true })).toMatch(words)
  expect(htmlReport(result).replaceAll('&quot;', '"')).toMatch(words)
  expect(textReport(await conformanceOf(from, { sections: ['9'] }))).not.toContain('wait for')
})

test('a page returned instead of the service’s response is shown on one line', async () => {
  const result = await conformanceOfMutant(
    from,
    {
      report: (reported) =>
        void Object.assign(reported, { status: 501, text: '<h1>\n  Sorry\n</h1>\n', json: undefined }),
    },
    { only: ['4.1.status'] },
  )
  expect(result.outcomes[0]?.failure?.received).toBe('501 <h1> Sorry </h1> ')
})

test('the command exits 0 and writes its reports for a server that conforms', async () => {
  const [junit, html] = [join(folder, 'report.xml'), join(folder, 'report.html')]
  const args = [
    'conformance',
    from.sandbox.baseUrl,
    '-c',
    file,
    '--section',
    '4.2',
    '9',
    '--junit',
    junit,
    '--html',
    html,
  ]
  const { code, stdout, stderr } = await runCli(args, {})
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/4\.2 Cancel UPI QR code +\d+ +· +· +·/)
  expect(stdout).toContain('Conforms in all that could be checked')
  expect(await readFile(junit, 'utf8')).toContain('<testsuite name="4.2 Cancel UPI QR code"')
  expect(await readFile(html, 'utf8')).toContain('<h2 id="s9">9 Versioning</h2>')
})

test('without credentials the command exits 3 and reports that nothing was checked, unless what ran needs none', async () => {
  const { code, stdout } = await run(from.sandbox.baseUrl)
  expect(code).toBe(3)
  expect(stdout).toMatch(
    /Not checked, \d{3} of \d{3} checks need credentials: give a file with --credentials/,
  )
  expect(stdout).not.toContain('Conforms')
  const empty = join(folder, 'empty.json')
  await writeFile(empty, '{"coinConfigId":"ccf_1"}')
  expect((await run(from.sandbox.baseUrl, '-c', empty)).code).toBe(3)
  const skipped = await run(from.sandbox.baseUrl, '--only', '4.1.status', '--json')
  expect([skipped.code, JSON.parse(skipped.stdout).verdict]).toEqual([3, 'nothing checked'])
  expect((await run(from.sandbox.baseUrl, '--only', '9.openapi')).code).toBe(0)
  const wrong = await run(`${from.sandbox.baseUrl}/nowhere`, '--only', '4.5.401.missing.status')
  expect(wrong.code).toBe(1)
})

test('every report of a run without credentials states that nothing was checked', async () => {
  const result = await conformanceOf(from, { credentials: {} })
  for (const text of [textReport(result, { details: true }), htmlReport(result)]) {
    expect(text).toContain('Not checked')
    expect(text).toContain('need credentials')
    expect(text).not.toContain('Conforms')
  }
})

test('--strict counts skipped checks as failures: exit 1, and a failure in JUnit', async () => {
  const { otherMerchant: _, ...fewer } = from.sandbox
  const partial = join(folder, 'partial.json')
  await writeFile(partial, JSON.stringify(fewer))
  const args = [from.sandbox.baseUrl, '-c', partial, '--only', '5.other-merchant', '4.1.status']
  expect((await run(...args)).code).toBe(0)
  const junit = join(folder, 'strict.xml')
  const { code, stdout } = await run(...args, '--strict', '--junit', junit)
  expect(code).toBe(1)
  expect(stdout).toContain(
    'Does not conform: 1 passed, 0 failed, 0 blocked, 1 skipped, which counts as failed',
  )
  expect(await readFile(junit, 'utf8')).toContain('skipped: the credentials have no otherMerchant')
  expect((await run(from.sandbox.baseUrl, '--strict')).code).toBe(1)
  expect((await run(from.sandbox.baseUrl, '-c', file, '--only', '4.1.status', '--strict')).code).toBe(0)
})

test('the command exits 1 for one that does not, and prints JSON on request', async () => {
  const nowhere = `${from.sandbox.baseUrl}/nowhere`
  const { code, stdout } = await run(nowhere, '-c', file, '--only', '4.1.status', '--json')
  expect(code).toBe(1)
  const report = JSON.parse(stdout)
  expect(report.specification).toEqual({ passed: 0, failed: 1, blocked: 0, skipped: 0 })
  expect(report.checks[0]).toMatchObject({ id: '4.1.status', status: 'failed', expected: 'status 200' })
})

test.each([
  [[], 'Say which server'],
  [['http://127.0.0.1:1', '-c', '/dev/null'], 'it is not JSON'],
  [['http://127.0.0.1:1'], 'Nothing responds'],
  [['http://partner.example', '-c', '/dev/null'], 'add --yes'],
  [['http://user:secret@127.0.0.1:1'], 'A base URL has no user'],
  [['http://127.0.0.1:1', '--only', '4.2.repeet'], 'no such check: 4.2.repeet'],
  [['--list', '--section', '6'], 'no such section: 6'],
])('the command exits 2 and reports what is wrong: %j', async (args, words) => {
  const { code, stdout, stderr } = await run(...args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(words)
})

test('the command exits 2 for unknown options, run as a process as users do', async () => {
  const { code, stderr } = await runCli(['conformance', 'http://127.0.0.1:1', '--profile', 'decision'], {})
  expect(code).toBe(2)
  expect(stderr).toContain('Allowed choices are spec, full')
})
