import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DatabaseServer } from '../../lab/chaos/server.ts'
import { blocksOf } from '../harness/guides.ts'
import { buildImage, type Images, openImages, whyNoImage } from '../harness/images.ts'
import { createLogins } from '../harness/live.ts'
import { errorsIn } from '../harness/processes.ts'

const PASSWORD = 'correct horse battery staple'
/** As deploy/compose.yaml runs it. Loopback is its whole network, so that port 8080 is free. */
const AS_COMPOSED = [
  ...['--read-only', '--read-only-tmpfs=false', '--tmpfs=/tmp', '--cap-drop=all'],
  ...['--security-opt=no-new-privileges', '--network=none', '--stop-timeout=40'],
  // Without cgroups, and with the limits of this process, which may be less than Podman's own.
  ...['--cgroups=disabled', '--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096'],
  // systemd would run the check at intervals; here the test does.
  '--health-interval=disable',
]

const asOptions = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).map(([name, value]) => `--env=${name}=${value}`)

/** The database's socket, for users who may not enter its folder. */
async function relay(from: string, to: string): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(to)
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const])
      one.on('error', () => other.destroy()).pipe(other)
  })
  await once(server.listen(from), 'listening')
  await chmod(from, 0o666)
  return server
}

const without = whyNoImage()
describe.skipIf(without)(`the image of deploy/Containerfile${without && ` (skipped: ${without})`}`, () => {
  let images: Images
  let database: DatabaseServer
  let passage: Server
  let mounts: string[]
  let ownerUrl: string

  const inContainer = (args: readonly string[], env: Readonly<Record<string, string>> = {}, input?: string) =>
    images.podman(['exec', '-i', ...asOptions(env), 'svc', ...args], input)

  beforeAll(async () => {
    images = await openImages()
    await buildImage(images)
    const [secrets, socket] = [join(images.folder, 'secrets'), join(images.folder, 'socket')]
    await mkdir(secrets)
    await mkdir(socket)
    await chmod(images.folder, 0o755)
    database = await DatabaseServer.open(join(images.folder, 'postgresql'))
    passage = await relay(join(socket, '.s.PGSQL.5432'), join(database.host, `.s.PGSQL.${database.port}`))
    const logins = await createLogins(database, { host: '/run/postgresql', port: 5432 })
    ownerUrl = logins['DATABASE_OWNER_URL']!
    for (const [name, secret] of [
      ['database-url', logins['DATABASE_URL']!],
      ['database-operator-url', logins['DATABASE_OPERATOR_URL']!],
      ['master-key', randomBytes(32).toString('base64')],
      ['metrics-token', randomBytes(16).toString('hex')],
    ] as const)
      await writeFile(join(secrets, name), secret)
    mounts = [`--volume=${secrets}:/run/secrets:ro`, `--volume=${socket}:/run/postgresql`]
  })
  afterAll(async () => {
    await images?.close()
    passage?.close()
    await database?.close()
  })

  const settings = {
    DATABASE_URL_FILE: '/run/secrets/database-url',
    DATABASE_OPERATOR_URL_FILE: '/run/secrets/database-operator-url',
    SVC_MASTER_KEY_FILE: '/run/secrets/master-key',
    METRICS_TOKEN_FILE: '/run/secrets/metrics-token',
    PUBLIC_URL: 'https://pay.example.com',
    TRUST_PROXY: '1',
  }
  const given = asOptions(settings)

  test('it has a health check, a user who is not root, and nothing that only builds it', async () => {
    const [{ Config }] = JSON.parse(await images.podman(['image', 'inspect', 'svc']))
    expect(Config).toMatchObject({ User: '65532:65532', StopSignal: 'SIGTERM', Cmd: ['serve'] })
    expect(Config.Healthcheck.Test[0]).toBe('CMD')
    const run = ['run', '--rm', ...AS_COMPOSED, '--entrypoint', '/bin/sh', 'svc', '-c']
    expect((await images.podman([...run, 'ls node_modules/esbuild packages 2>&1; ls'])).split('\n')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/cannot access 'node_modules\/esbuild'/),
        expect.stringMatching(/cannot access 'packages'/),
        'migrations',
      ]),
    )
  })

  test('it migrates, starts in live mode as user 65532 on a read-only root without capabilities, and is healthy', async () => {
    const owner = `--env=DATABASE_OWNER_URL=${ownerUrl}`
    await images.podman([
      'run',
      '--rm',
      ...AS_COMPOSED,
      ...mounts,
      ...given,
      owner,
      'svc',
      'admin',
      'migrate',
    ])
    await images.podman(['run', '--detach', '--name=svc', ...AS_COMPOSED, ...mounts, ...given, 'svc'])
    await expect
      .poll(
        () =>
          images.podman(['healthcheck', 'run', 'svc']).then(
            () => true,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true)
    const [status, touched] = await Promise.all([
      inContainer(['cat', '/proc/1/status']),
      inContainer(['sh', '-c', 'touch /opt/svc/x /etc/x /run/secrets/x 2>&1 || true']),
    ])
    expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      expect(status).toMatch(new RegExp(`^Cap${set}:\t0+$`, 'm'))
    expect(touched.match(/Read-only file system/g)).toHaveLength(3)
  })

  test('it conforms to the specification', async () => {
    await inContainer(
      ['node', 'bin/svc.mjs', 'admin', 'operator', 'create', 'asha', '--role', 'admin', '--password-stdin'],
      {},
      `${PASSWORD}\n`,
    )
    const operator = { SVC_OPERATOR: 'asha', SVC_OPERATOR_PASSWORD: PASSWORD }
    const guide = await blocksOf('guides/conformance.md', 'sh')
    const { code } = guide.find((block) => block.code.includes('admin partner create'))!
    const exec = [...images.command, 'exec', '-i', ...asOptions(operator), 'svc', 'node', 'bin/svc.mjs']
    // The guide's lines, with the program of the image in place of the npm script.
    const script = `npm() { shift 4; ${exec.map((word) => `'${word}'`).join(' ')} "$@" < /dev/null; }\n${code}`
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: images.folder })
    const credentials = await readFile(join(images.folder, 'credentials.json'), 'utf8')
    await inContainer(['sh', '-c', 'cat > /tmp/credentials.json'], {}, credentials)
    const kit = ['conformance', 'http://127.0.0.1:8080', '--credentials', '/tmp/credentials.json', '--json']
    const { verdict, checks } = JSON.parse(await inContainer(['node', 'bin/svc.mjs', ...kit]))
    const failed = checks.filter(({ status }: { status: string }) => status === 'failed')
    expect([verdict, failed]).toEqual(['conforms', []])
  })

  test('it writes nothing outside of /tmp, and SIGTERM ends it in order: it drains and exits 0', async () => {
    await images.podman(['stop', 'svc'])
    const [{ State }] = JSON.parse(await images.podman(['inspect', 'svc']))
    expect(State).toMatchObject({ Status: 'exited', ExitCode: 0 })
    const log = await images.podman(['logs', 'svc'])
    expect(log).toContain('"msg":"drained"')
    expect(errorsIn(log)).toEqual([])
    const changed = (await images.podman(['diff', '--format=json', 'svc'])).trim()
    expect(changed).toBe('{}')
  })
})
