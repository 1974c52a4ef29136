import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { FAILURES } from '@svc/contract/errors'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Run, runHere } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { runCli, spawnCli } from '../harness/processes.ts'

// The commands of a profile know nothing of the database: they get an address, and credentials by a file.
let from: SandboxService
let folder: string
let credentials: string
let env: Record<string, string>
beforeAll(async () => {
  from = await openSandbox()
  folder = await mkdtemp(join(tmpdir(), 'svc-remote-'))
  credentials = join(folder, 'sandbox.json')
  await writeFile(credentials, JSON.stringify(from.sandbox))
  env = { XDG_CONFIG_HOME: join(folder, 'config'), DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }
  await svc('login', '--base-url', from.sandbox.baseUrl, '--credentials', credentials)
  const partner = ['--as', 'incentivePartner', '--profile', 'cards']
  await svc('login', '--base-url', from.sandbox.baseUrl, '--credentials', credentials, ...partner)
  await svc('profiles', '--use', 'default')
})
afterAll(async () => {
  await from?.service.close()
  await rm(folder, { recursive: true, force: true })
})

async function svc(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await runHere([...args, '--json'], env)
  expect(code, `svc ${args.join(' ')}: ${stderr}`).toBe(0)
  return JSON.parse(stdout)
}
const run = (...args: string[]): Promise<Run> => runHere(args, env)
const asProcess = (...args: string[]) => runCli(args, env)
const secrets = (): string[] => [from.sandbox.merchant.apiKey, from.sandbox.incentivePartner.clientSecret]

test('credentials are stored in the configuration folder, readable by their owner alone, and are never printed', async () => {
  const file = join(folder, 'config', 'svc', 'profiles.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const text = await readFile(file, 'utf8')
  const printed = [
    (await run('profiles')).stdout,
    JSON.stringify(await svc('profiles')),
    (await run('login', '--base-url', from.sandbox.baseUrl, '--credentials', credentials, '--profile', 'x'))
      .stdout,
    (await run('logout', '--profile', 'x')).stdout,
    (await run('api', 'get', '/api/v0/payments', '--include')).stdout,
  ]
  for (const secret of secrets()) {
    expect(text).toContain(secret)
    for (const one of printed) expect(one).not.toContain(secret)
  }
})

test('a profiles file that others may read is rejected', async () => {
  const config = await mkdtemp(join(folder, 'open-'))
  const other = { XDG_CONFIG_HOME: config }
  const args = ['login', '--base-url', from.sandbox.baseUrl, '--credentials', credentials]
  expect((await runHere(args, other)).code).toBe(0)
  const { chmod } = await import('node:fs/promises')
  await chmod(join(config, 'svc', 'profiles.json'), 0o640)
  const { stderr } = await runHere(['profiles'], other)
  expect(stderr).toContain('Others may read')
})

test('login accepts credentials from a file or standard input, verifies them before it stores them, and accepts no argument', async () => {
  const config = { ...env, XDG_CONFIG_HOME: await mkdtemp(join(folder, 'stdin-')) }
  const url = from.sandbox.baseUrl
  const piped = await runCli(['login', '--base-url', url, '--credentials', '-'], config, {
    input: `${from.sandbox.merchant.apiKey}\n`,
  })
  expect([piped.code, piped.stderr]).toEqual([0, ''])
  expect(piped.stdout).toContain('as profile default')
  const wrong = join(folder, 'wrong.txt')
  await writeFile(wrong, 'svc_test_wrong\n')
  const refused = await runHere(
    ['login', '--base-url', url, '--credentials', wrong, '--profile', 'no', '--json'],
    config,
  )
  expect(refused.code).toBe(4)
  expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'not_signed_in' } })
  const known = await runHere(['profiles', '--json'], config)
  expect(JSON.parse(known.stdout).map((row: Json) => row.profile)).toEqual(['default'])
})

test('login takes the credentials of a sandbox from its address, and says what a server without them needs', async () => {
  const config = { XDG_CONFIG_HOME: await mkdtemp(join(folder, 'sandbox-')) }
  const url = from.sandbox.baseUrl
  const signedIn = await runHere(['login', '--sandbox', url, '--as', 'incentivePartner', '--json'], config)
  const { partnerId } = from.sandbox.incentivePartner
  expect(JSON.parse(signedIn.stdout)).toMatchObject({ baseUrl: url, tenant: 'partner', id: partnerId })
  const wrong = {
    [`--sandbox ${url}/elsewhere`]: /returned 404: only a service in sandbox mode .* svc login --base-url/,
    '--sandbox http://127.0.0.1:1': /^Nothing responds at http:\/\/127.0.0.1:1/,
    [`--sandbox ${url} --partner`]: /'--sandbox <url>' cannot be used with option '--partner'/,
    '--profile a': /--base-url <url>, or --sandbox <url>/,
  }
  for (const [options, said] of Object.entries(wrong)) {
    const { code, stderr } = await runHere(['login', ...options.split(' ')], config)
    expect([code === 0, stderr]).toEqual([false, expect.stringMatching(said)])
  }
})

test('no command sends keys over http to another machine, also with a profile or file that names one', async () => {
  const config = { XDG_CONFIG_HOME: await mkdtemp(join(folder, 'clear-')) }
  const url = 'http://127.partner.example'
  const profile = { baseUrl: url, credentials: { apiKey: from.sandbox.merchant.apiKey } }
  const profiles = JSON.stringify({ current: 'clear', profiles: { clear: profile } })
  await mkdir(join(config.XDG_CONFIG_HOME, 'svc'))
  await writeFile(join(config.XDG_CONFIG_HOME, 'svc', 'profiles.json'), profiles, { mode: 0o600 })
  const partner = join(folder, 'partner.json')
  await writeFile(partner, JSON.stringify(from.sandbox.incentivePartner))
  const orders = join(folder, 'orders.csv')
  await writeFile(orders, 'referenceNumber\n1\n')
  const sent = vi.spyOn(globalThis, 'fetch')
  for (const args of [
    ['login', '--base-url', url, '--credentials', credentials],
    ['api', 'get', '/api/v0/payments'],
    ['payments', 'list'],
    ['cards', 'issue', '--file', orders, '--key', partner, '--url', url],
    ['conformance', url, '--credentials', credentials, '--yes'],
  ]) {
    const { code, stderr } = await runHere(args, config)
    expect([args[0], code === 0, stderr]).toEqual([
      args[0],
      false,
      expect.stringMatching(/is not this machine.*SVC_ALLOW_HTTP=true/),
    ])
  }
  expect(sent).not.toHaveBeenCalled()
  sent.mockRejectedValue(new TypeError('not reached'))
  const permitted = { ...config, SVC_ALLOW_HTTP: 'true' }
  expect((await runHere(['payments', 'list'], permitted)).stderr).toContain('Nothing responds at')
  expect(sent).toHaveBeenCalled()
  sent.mockRestore()
})

test('the profile of a command is --profile, else SVC_PROFILE, else the current one; the last logout removes the file', async () => {
  const config = { XDG_CONFIG_HOME: await mkdtemp(join(folder, 'order-')) }
  const login = ['login', '--base-url', from.sandbox.baseUrl, '--credentials', credentials]
  await runHere(login, config)
  await runHere([...login, '--as', 'rewardsPartner', '--profile', 'other'], config)
  const current = async (settings = {}): Promise<string> => {
    const { stdout } = await runHere(['logout', '--json'], { ...config, ...settings })
    return JSON.parse(stdout).profile
  }
  expect(await current({ SVC_PROFILE: 'default' })).toBe('default')
  expect(await current()).toBe('other')
  await expect(stat(join(config.XDG_CONFIG_HOME, 'svc', 'profiles.json'))).rejects.toThrow('ENOENT')
})

test('api sends any authenticated request: what it creates can be read, changed and listed', async () => {
  const made = await svc('api', 'post', '/api/v0/qr-code', '--data', '{"qrName":"By api"}')
  const { qrCodeId } = made.payload
  expect((await svc('api', 'get', `/api/v0/qr-code/${qrCodeId}`)).payload.qrName).toBe('By api')
  const body = join(folder, 'body.json')
  await writeFile(body, '{}')
  const done = await svc('api', 'patch', `/api/v0/qr-code/${qrCodeId}/cancel`, '--data', `@${body}`)
  expect(done.payload.status).toBe('CANCELLED')
  const header = ['--header', 'accept: application/problem+json', '--include']
  const missing = await run('api', 'get', '/api/v0/qr-code/qr_none', ...header)
  expect(missing.stdout).toMatch(/^404 Not Found\n/)
  expect(missing.stdout).not.toContain('set-cookie')
})

test('resources have names: QR codes and payments of a merchant, cards and coins of a partner', async () => {
  const image = join(folder, 'code.png')
  const code = await svc('qr', 'create', '--name', 'Counter 1', '--multiple-use', '--image', image)
  expect((await readFile(image)).subarray(1, 4).toString()).toBe('PNG')
  expect((await svc('qr', 'show', code.qrCodeId)).qrName).toBe('Counter 1')
  await svc(
    'api',
    'post',
    '/sandbox/upi/pay',
    '--data',
    JSON.stringify({ qrCodeId: code.qrCodeId, amount: 10 }),
  )
  const [payment] = await svc('payments', 'list', '--limit', '1')
  expect(payment.qrCodeId).toBe(code.qrCodeId)
  expect((await svc('payments', 'show', payment.paymentId)).amount).toBe(10)
  const least = await svc('qr', 'create', '--amount', '50', '--minimum', '20.5')
  expect(least).toMatchObject({ amount: 50, minimumAmount: 20.5 })
  const why = 'the table is free again'
  expect((await svc('qr', 'cancel', code.qrCodeId, '--reason', why)).status).toBe('CANCELLED')
  expect((await svc('qr', 'show', code.qrCodeId)).cancelReason).toBe(why)
  const ids = (await svc('qr', 'list', '--status', 'CANCELLED')).map((row: Json) => row.qrCodeId)
  expect(ids).toContain(code.qrCodeId)
  const { companyId, cardAccountId } = from.sandbox.incentivePartner
  const found = [
    '--company',
    companyId,
    '--account',
    cardAccountId,
    '--card',
    'card_none',
    '--profile',
    'cards',
  ]
  expect(await svc('cards', 'search', ...found)).toEqual([])
  const { coinUserId } = from.sandbox
  const profile = ['--profile', 'cards']
  expect((await svc('coins', 'balance', coinUserId, ...profile)).active).toBeGreaterThan(0)
  expect((await svc('coins', 'history', coinUserId, '--limit', '1', ...profile)).length).toBe(1)
})

test('exit codes and errors: 1 rejected, 3 no response, 4 not signed in; with --json for programs, also wrong usage', async () => {
  const refused = await run('qr', 'show', 'qr_none', '--json')
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(JSON.parse(refused.stderr).error).toEqual({
    code: 'qr_code_not_found',
    message: expect.stringContaining('404'),
    status: 404,
    requestId: expect.any(String),
  })
  const config = { XDG_CONFIG_HOME: await mkdtemp(join(folder, 'gone-')) }
  const none = await runHere(['payments', 'list', '--json'], config)
  expect([none.code, JSON.parse(none.stderr).error.code]).toEqual([4, 'not_signed_in'])
  const gone = await runHere(
    ['login', '--base-url', 'http://127.0.0.1:1', '--credentials', credentials, '--json'],
    config,
  )
  expect([gone.code, JSON.parse(gone.stderr).error.code]).toEqual([3, 'unreachable'])
  const usage = await asProcess('qr', 'show', '--json')
  expect([usage.code, usage.stdout]).toEqual([1, ''])
  expect(JSON.parse(usage.stderr).error).toEqual({
    code: 'usage',
    message: "missing required argument 'qrCodeId'",
  })
})

test('listen forwards the chosen events of the profile, signed, from now on', async () => {
  const received: Json[] = []
  const hook = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      received.push({ ...JSON.parse(text), signature: request.headers['webhook-signature'] })
      response.end()
    })
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`
  const stop = new AbortController()
  const args = ['listen', '--forward-to', url, '--events', 'qr_code.cancelled', '--from', 'now']
  const listening = runCli(args, env, { signal: stop.signal })
  const position = join(folder, 'config', 'svc', 'positions', 'default.json')
  await expect
    .poll(
      () =>
        stat(position).then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true)
  const { qrCodeId } = await svc('qr', 'create')
  await svc('qr', 'cancel', qrCodeId)
  await expect.poll(() => received.length, { timeout: 30_000 }).toBe(1)
  stop.abort()
  await listening
  await new Promise((resolve) => hook.close(resolve))
  expect(received[0]).toMatchObject({ type: 'qr_code.cancelled', signature: expect.stringMatching(/^v1,/) })
})

test('logs tail prints earlier requests of the profile, then each new one as it happens, one line each', async () => {
  await run('qr', 'show', 'qr_before')
  const failures = async () => (await svc('logs', 'list', '--error', 'qr_code_not_found', '--limit', '1'))[0]
  await expect
    .poll(async () => (await failures())?.path, { timeout: 30_000 })
    .toBe('/api/v0/qr-code/qr_before')
  const child = spawnCli(['logs', 'tail', '--error', 'qr_code_not_found', '--lines', '1', '--json'], env)
  const paths: string[] = []
  for await (const line of createInterface(child.stdout!)) {
    paths.push(JSON.parse(line).path)
    if (paths.length > 1) break
    await run('qr', 'show', 'qr_after')
  }
  child.kill()
  expect(paths).toEqual(['/api/v0/qr-code/qr_before', '/api/v0/qr-code/qr_after'])
})

test('logs explain finds a request by its id: its cause with the field, the remedy, whether to send it again, and the page', async () => {
  const explain = async (operation: string, status: string) => {
    const filter = ['--operation', operation, '--status', status, '--limit', '1']
    const logged = async () => (await svc('logs', 'list', ...filter))[0]?.requestId
    await expect.poll(logged, { timeout: 30_000 }).toBeDefined()
    return svc('logs', 'explain', await logged())
  }
  await run('api', 'post', '/api/v0/qr-code', '--data', '{"amount":-1}')
  expect(await explain('createQrCode', '4xx')).toMatchObject({
    sent: 'POST /api/v0/qr-code',
    status: '400 validation_failed',
    cause: expect.stringContaining('amount must be at least'),
    remedy: FAILURES.validation_failed.remedy,
    retry: 'no: change the request',
    link: `${from.sandbox.baseUrl}/docs/errors#validation_failed`,
  })
  await run('api', 'post', '/api/v0/qr-code', '--data', '{}')
  expect(await explain('createQrCode', '2xx')).toMatchObject({ cause: 'It succeeded', retry: 'no' })
  const none = await run('logs', 'explain', `req_${'0'.repeat(26)}`)
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('Your request log has no req_0')])
  expect((await run('logs', 'explain', 'order-1042')).stderr).toContain('Give a request id')
})

/** What the completion prints, which goes around the stream that `runHere` reads. */
async function completed(...args: string[]): Promise<string> {
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)))
  try {
    const { code, stderr } = await run(...args)
    expect(code, stderr).toBe(0)
  } finally {
    log.mockRestore()
  }
  return lines.join('\n')
}

test.each(['bash', 'zsh', 'fish'])(
  'completion for %s is a script that requests the words from svc',
  async (shell) => {
    expect(await completed('completion', shell)).toMatch(/svc complete --|complete -- /)
  },
)

test('completion knows the commands and options of the whole tree', async () => {
  expect(await completed('complete', '--', 'pay')).toMatch(/^payments\b/m)
  expect(await completed('complete', '--', 'qr', 'can')).toMatch(/^cancel\b/m)
  expect(await completed('complete', '--', 'qr', 'create', '--mul')).toMatch(/^--multiple-use\b/m)
})
