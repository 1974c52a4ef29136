import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../harness/free-port.ts'
import { ROOT } from '../harness/sources.ts'

const run = promisify(execFile)

// A folder of a user, outside of the checkout, with nothing in it but what npm installs from the tarball.
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-packed-'))
  await run('npm', ['run', '--silent', 'pack', '--', folder], { cwd: ROOT })
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball)], {
    cwd: folder,
  })
}, 240_000)
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))

const npx = (...args: string[]) => run('npx', ['--no-install', 'svc', ...args], { cwd: folder })

test('the package name is in our scope, and the package installs nothing that its bundle already contains', async () => {
  const installed = await readFile(join(folder, 'node_modules/@svc/partner-service/package.json'), 'utf8')
  const { name, dependencies } = JSON.parse(installed)
  expect(name).toBe('@svc/partner-service')
  expect(Object.keys(dependencies)).not.toContain('fastify')
  expect((await readdir(join(folder, 'node_modules/@svc'))).sort()).toEqual(['partner-service'])
  expect((await npx('--version')).stdout.trim()).toBe(JSON.parse(installed).version)
})

test('the packed server serves a sandbox once sandbox.json exists, its reference and its pages, and shuts down cleanly', async () => {
  const port = `${await freePort()}`
  const env = { ...process.env, DATA_DIR: join(folder, 'data'), PORT: port, SVC_MODE: 'sandbox' }
  const child = spawn('npx', ['--no-install', 'svc', 'serve'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const closed = once(child, 'close')
  const lines: string[] = []
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        lines.push(line)
        if (line.includes('"msg":"ready"')) resolve()
      })
  })
  const untilReady = async () => {
    const probe = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status,
        () => 0,
      )
    while (child.exitCode === null && (await probe()) !== 200) await sleep(5)
    return readFile(join(folder, 'data/sandbox.json'), 'utf8')
  }
  try {
    const file = untilReady()
    file.catch(() => undefined)
    await Promise.race([ready, closed.then(() => Promise.reject(new Error(lines.join('\n'))))])
    expect(JSON.parse(await file)).toHaveProperty('merchant.apiKey')
    for (const path of ['/readyz', '/docs/', '/openapi.json', '/console/', '/portal/']) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      expect([path, response.status]).toEqual([path, 200])
    }
  } finally {
    process.kill(-child.pid!, 'SIGTERM')
    await closed
  }
  expect(lines.join('\n')).toContain('"msg":"drained"')
  expect(lines.join('\n')).not.toContain('"level":50')
})
