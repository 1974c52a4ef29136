import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '@svc/embedded-postgres/embedded-postmaster'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../harness/free-port.ts'
import { LONG } from '../harness/long.ts'
import { errorsIn, runCli, spawnCli, startProcess } from '../harness/processes.ts'

let dataDir: string
beforeEach(async () => void (dataDir = await mkdtemp(join(tmpdir(), 'svc-ends-'))))
afterEach(async () => {
  // Only where a test failed: a database server that was left behind.
  if (databaseRuns()) process.kill(postmasterPid(), 'SIGQUIT')
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
})

const postmaster = (): string => join(dataDir, 'postgres/postmaster.pid')
const postmasterPid = (): number => Number.parseInt(readFileSync(postmaster(), 'utf8'), 10)
const databaseRuns = (): boolean => existsSync(postmaster())

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s shuts the service down cleanly: it drains, stops its PostgreSQL, exits 0 and logs no error',
  async (signal) => {
    const service = await startProcess({ DATA_DIR: dataDir })
    expect(databaseRuns()).toBe(true)
    expect(await service.end(signal)).toEqual({ code: 0, signal: null })
    expect(service.written()).toContain('"msg":"drained"')
    expect(databaseRuns()).toBe(false)
    expect(errorsIn(service.written())).toEqual([])
  },
)

test('Ctrl-C under npm, which the terminal and npm both send, is one request to stop', async () => {
  const service = await startProcess({ DATA_DIR: dataDir })
  process.kill(service.pid, 'SIGINT')
  expect(await service.end('SIGINT')).toEqual({ code: 0, signal: null })
  expect(service.written()).toContain('"msg":"drained"')
  expect(databaseRuns()).toBe(false)
})

test('a PostgreSQL that crashed and was restarted is stopped with the service, and leaves no process behind', async () => {
  const service = await startProcess({ DATA_DIR: dataDir })
  const first = postmasterPid()
  process.kill(first, 'SIGKILL')
  const isBack = async () =>
    databaseRuns() && postmasterPid() !== first && (await fetch(`${service.baseUrl}/readyz`)).ok
  await expect.poll(isBack, { timeout: 60_000 }).toBe(true)
  const second = postmasterPid()
  expect(await service.end('SIGINT')).toEqual({ code: 0, signal: null })
  expect([databaseRuns(), isAlive(second)]).toEqual([false, false])
})

/** A program that this is loaded into has three unhandled errors at SIGUSR2, one after the other. */
const ERRORS_AT_SIGUSR2 = `process.on('SIGUSR2', () => {
  setImmediate(() => { throw new Error('first') })
  setImmediate(() => { throw new Error('second') })
  setImmediate(() => { Promise.reject(new Error('third')) })
})`

test('an unhandled error shuts the service down cleanly with exit code 1; later ones are logged and do not cut that short', async () => {
  const service = await startProcess({
    DATA_DIR: dataDir,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ERRORS_AT_SIGUSR2)}`,
  })
  expect(await service.end('SIGUSR2')).toEqual({ code: 1, signal: null })
  expect(service.written()).toContain('"msg":"drained"')
  expect(databaseRuns()).toBe(false)
  const errors = errorsIn(service.written()) as { err: Error; msg: string }[]
  expect(errors.map(({ err, msg }) => `${err.message}: ${msg}`).sort()).toEqual([
    'first: an unhandled error; shutting down',
    'second: an unhandled error while shutting down',
    'third: an unhandled error while shutting down',
  ])
})

test('a database that is deleted while the service runs stops the service, which reports the reason', async () => {
  const service = await startProcess({ DATA_DIR: dataDir })
  const postgres = postmasterPid()
  await rm(join(dataDir, 'postgres'), { recursive: true, force: true, maxRetries: 10 })
  // It would notice by itself within a minute.
  process.kill(postgres, 'SIGKILL')
  expect(await service.ended).toEqual({ code: 1, signal: null })
  expect(service.written()).toContain('was deleted while the service ran. Start again')
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
})

if (LONG)
  test('an unfinished request does not keep the process running beyond the drain timeout', async () => {
    const service = await startProcess({
      DATA_DIR: dataDir,
      DRAIN_TIMEOUT_MS: '1000',
      REQUEST_TIMEOUT_MS: '300000',
    })
    const { hostname, port } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    socket.write('POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n')
    await once(socket, 'connect')
    // Behind the request on another connection, so that the server has read the beginning of the first one.
    await fetch(`${service.baseUrl}/livez`)
    const closed = once(socket, 'close')
    expect(await service.end('SIGTERM')).toEqual({ code: 1, signal: null })
    await closed
    expect(service.written()).toContain('requests were still in progress')
    expect(databaseRuns()).toBe(false)
  })

if (LONG)
  test('a terminal that closes sends SIGHUP more than once, and the service still shuts down cleanly', async () => {
    const service = await startProcess({ DATA_DIR: dataDir })
    for (let n = 0; n < 5; n++) process.kill(service.pid, 'SIGHUP')
    expect(await service.ended).toEqual({ code: 0, signal: null })
    expect(databaseRuns()).toBe(false)
  })

test('a port in use is detected before anything is created, and the message says what to do', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = String((server.address() as { port: number }).port)
  try {
    const { code, stdout, stderr } = await runCli(['serve'], { DATA_DIR: join(dataDir, 'data'), PORT: port })
    expect(code, stdout).toBe(1)
    expect(stderr.trim()).toBe(
      `Port ${port} on 127.0.0.1 is taken. Choose another one, for example: PORT=8090 npm start`,
    )
    expect(await readdir(dataDir)).toEqual([])
  } finally {
    server.close()
  }
})

test('a start in the folder of a sandbox that runs names that one, and its sandbox.json goes on naming it', async () => {
  const first = await startProcess({ DATA_DIR: dataDir })
  try {
    const { port } = new URL(first.baseUrl)
    const { code, stderr } = await runCli(['serve'], { DATA_DIR: dataDir, PORT: port })
    expect(code).toBe(1)
    expect(stderr).toContain(`A sandbox on ${dataDir} already runs at ${first.baseUrl}. Use it`)
    const second = await startProcess({ DATA_DIR: dataDir })
    expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null })
    const { baseUrl } = JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8'))
    expect([baseUrl, second.baseUrl]).toEqual([first.baseUrl, expect.not.stringMatching(baseUrl)])
  } finally {
    await first.end('SIGTERM')
  }
})

test('svc sandbox exec runs a program beside a sandbox of its own, ends with its exit code, and leaves nothing', async () => {
  // As a program that tests an integration finds them; settings of another installation do not reach the sandbox.
  const program = `
    const { SVC_BASE_URL, DATA_DIR, DATABASE_URL } = process.env
    const { baseUrl } = JSON.parse(fs.readFileSync(DATA_DIR + '/sandbox.json'))
    const demo = await (await fetch(SVC_BASE_URL + '/sandbox/credentials')).json()
    const headers = { 'API-Key': demo.merchant.apiKey }
    const { status } = await fetch(SVC_BASE_URL + '/api/v0/merchant/token', { method: 'POST', headers })
    console.log(JSON.stringify({ status, same: baseUrl === SVC_BASE_URL, DATABASE_URL, DATA_DIR }))
    process.exit(7)`
  const settings = {
    TMPDIR: dataDir,
    DATABASE_URL: 'postgresql://127.0.0.1:1/nothing',
    SVC_MASTER_KEY_FILE: '/no/file',
    TLS_CERT_FILE: '/no/file',
    SVC_MODE: 'live',
  }
  const args = [process.execPath, '--input-type=module', '-e', `import fs from 'node:fs'; ${program}`]
  const { code, stdout, stderr } = await runCli(['sandbox', 'exec', '--', ...args], settings)
  expect([code, stderr]).toEqual([7, ''])
  const found = JSON.parse(stdout)
  expect(found).toMatchObject({ status: 200, same: true })
  expect(found.DATABASE_URL).toBeUndefined()
  expect(await readdir(dataDir)).toEqual([])
  const wrong = await runCli(['sandbox', 'exec', '--', 'true'], { TMPDIR: dataDir, TOKEN_TTL_SECONDS: 'x' })
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('TOKEN_TTL_SECONDS must be a whole number'),
  ])
  expect(await readdir(dataDir)).toEqual([])
})

test.each(['192.0.2.1', 'no-such-host.invalid'])(
  'an address that is not local to the machine is detected before anything is created (%s)',
  async (host) => {
    const { code, stderr } = await runCli(['serve'], {
      DATA_DIR: join(dataDir, 'data'),
      HOST: host,
      PORT: '0',
    })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Cannot listen on .* \(E\w+\)\. Check HOST and PORT\.\n$/),
    ])
    expect(await readdir(dataDir)).toEqual([])
  },
)

test.each(['serve', 'admin migrate', 'admin migrate --status'])(
  'svc %s reports that the database cannot be reached, its address, and the setting that names it',
  async (command) => {
    const port = `${await freePort()}`
    const env = { DATA_DIR: dataDir, PORT: '0' }
    const one = { ...env, DATABASE_URL: `postgresql://svc@127.0.0.1:${port}/svc` }
    const two = { ...env, DATABASE_URL: `postgresql://svc@127.0.0.1:${port},127.0.0.1:${port}/svc` }
    for (const settings of [one, two]) {
      const { code, stderr } = await runCli(command.split(' '), settings)
      expect(code).toBe(1)
      expect(stderr).toMatch(
        new RegExp(`The database cannot be reached: .*127.0.0.1:${port}.* DATABASE_URL says`),
      )
    }
  },
)

if (LONG)
  test.skipIf(!existsSync('/dev/full'))(
    'a log that cannot be written does not stop the service',
    async () => {
      const port = `${await freePort()}`
      const full = openSync('/dev/full', 'w')
      const child = spawnCli(['serve'], { DATA_DIR: dataDir, PORT: port, LOG_LEVEL: 'debug' }, [
        'ignore',
        full,
        'ignore',
      ])
      closeSync(full)
      const ended = once(child, 'exit')
      let isOver = false
      void ended.then(() => (isOver = true))
      const isReady = async () =>
        isOver ||
        (await fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ))
      await expect.poll(isReady, { timeout: 60_000 }).toBe(true)
      for (let n = 0; n < 100 && !isOver; n++) await fetch(`http://127.0.0.1:${port}/livez`)
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
      expect(databaseRuns()).toBe(false)
    },
  )
