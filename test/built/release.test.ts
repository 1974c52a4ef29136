import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../harness/free-port.ts'
import { ROOT } from '../harness/sources.ts'

const run = promisify(execFile)

/** A user's folders, outside of the checkout, each with nothing in it but what npm installs from a tarball. */
type Name = 'server' | 'sdk' | 'cli'
let place: string
const tarballs: Partial<Record<Name, string>> = {}
const folderOf = (name: Name) => join(place, name)
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-release-'))
  await run('npm', ['run', '--silent', 'release', '--', join(place, 'release')], { cwd: ROOT })
  for (const file of await readdir(join(place, 'release'))) {
    const [, name] = /^svc-(partner-service|sdk|cli)-[\d.]+\.tgz$/.exec(file) ?? []
    if (name) tarballs[name === 'partner-service' ? 'server' : (name as Name)] = file
  }
  // What has no dependencies installs without a registry.
  await install('server', '--prefer-offline')
  await install('sdk', '--offline')
  await install('cli', '--offline')
}, 240_000)
afterAll(() => rm(place, { recursive: true, force: true, maxRetries: 10 }))

async function install(name: Name, registry: '--offline' | '--prefer-offline'): Promise<void> {
  const cwd = folderOf(name)
  await mkdir(cwd)
  await writeFile(join(cwd, 'package.json'), '{"private":true,"type":"module"}')
  const tarball = join(place, 'release', tarballs[name]!)
  await run('npm', ['install', registry, '--no-audit', '--no-fund', tarball], { cwd })
}

const packageOf = (name: Name) =>
  join(folderOf(name), 'node_modules/@svc', name === 'server' ? 'partner-service' : name)
const read = async (...path: string[]) => JSON.parse(await readFile(join(...path), 'utf8'))
const npx = (name: Name, args: readonly string[], env: Record<string, string> = {}) =>
  run('npx', ['--no-install', 'svc', ...args], {
    cwd: folderOf(name),
    env: { ...process.env, XDG_CONFIG_HOME: join(place, 'config'), ...env },
  })

/** Runs the packed server in an empty folder until the work is done; returns what it logged. */
async function withSandbox(work: (baseUrl: string) => Promise<void>): Promise<string> {
  const port = `${await freePort()}`
  const env = { ...process.env, DATA_DIR: join(place, 'data'), PORT: port, SVC_MODE: 'sandbox' }
  const child = spawn('npx', ['--no-install', '@svc/partner-service'], {
    cwd: folderOf('server'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const closed = once(child, 'close')
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => lines.push(line))
  const baseUrl = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${baseUrl}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )
  try {
    while (!(await isReady())) {
      expect(child.exitCode, lines.join('\n')).toBeNull()
      await sleep(20)
    }
    await work(baseUrl)
  } finally {
    process.kill(-child.pid!, 'SIGTERM')
    await closed
  }
  return lines.join('\n')
}

test('packages are in our scope, have one version, and install nothing that they already contain', async () => {
  const { version } = await read(ROOT, 'package.json')
  for (const name of ['server', 'sdk', 'cli'] as const) {
    const manifest = await read(packageOf(name), 'package.json')
    expect(manifest).toMatchObject({ version, license: 'MIT' })
    expect(manifest.private).toBeUndefined()
    expect(await readdir(join(folderOf(name), 'node_modules/@svc'))).toHaveLength(1)
  }
  expect(Object.keys((await read(packageOf('server'), 'package.json')).dependencies)).not.toContain('fastify')
  for (const name of ['sdk', 'cli'] as const)
    expect((await read(packageOf(name), 'package.json')).dependencies).toBeUndefined()
  for (const name of ['server', 'cli'] as const)
    expect((await npx(name, ['--version'])).stdout.trim()).toBe(version)
  await expect(npx('cli', ['serve'])).rejects.toThrow('svc serve is a command of @svc/partner-service')
  // What a package says of itself holds where it is installed alone.
  for (const name of ['server', 'sdk', 'cli'] as const)
    expect(await readFile(join(packageOf(name), 'README.md'), 'utf8')).not.toMatch(
      /^npm (?:ci|start|test)$|\]\(docs\//m,
    )
})

test('from the tarballs alone a sandbox starts, the thin command line signs in, issues a card and lists, the SDK’s example runs', async () => {
  const { version } = await read(ROOT, 'package.json')
  const logged = await withSandbox(async (baseUrl) => {
    for (const path of ['/readyz', '/docs/', '/openapi.json', '/console/', '/portal/'])
      expect([path, (await fetch(`${baseUrl}${path}`)).status]).toEqual([path, 200])
    const json = async (path: string) => (await fetch(`${baseUrl}${path}`)).json()
    expect(await json('/livez')).toMatchObject({ status: 'ok', version })
    expect(await json('/openapi.json')).toMatchObject({ info: { version } })

    const signIn = ['login', '--sandbox', baseUrl]
    await npx('cli', [...signIn, '--as', 'incentivePartner', '--profile', 'cards'])
    const order = ['cards', 'create', '--first-name', 'Asha', '--mobile', '9876543210', '--profile', 'cards']
    const card = await npx('cli', [...order, '--json'])
    expect(JSON.parse(card.stdout)).toMatchObject({ maskedNumber: expect.stringMatching(/X/) })
    await npx('cli', [...signIn, '--profile', 'shop'])
    await npx('cli', ['qr', 'create', '--name', 'Counter 1', '--profile', 'shop'])
    const listed = await npx('cli', ['qr', 'list', '--profile', 'shop', '--json'])
    expect(JSON.parse(listed.stdout)).toContainEqual(expect.objectContaining({ qrName: 'Counter 1' }))

    await cp(join(ROOT, 'packages/sdk/examples/tour.ts'), join(folderOf('sdk'), 'tour.ts'))
    const loader = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href
    const options = { cwd: folderOf('sdk'), env: { ...process.env, DATA_DIR: join(place, 'data') } }
    const example = await run(process.execPath, ['--import', loader, 'tour.ts'], options)
    expect(example.stdout).toMatch(/^card +\d+X+\d+ holds 500 rupees$/m)
  })
  expect(logged).toContain('"msg":"drained"')
  expect(logged).not.toContain('"level":50')
})

test('every tarball names what is bundled in it, in its bill of materials and with its licence', async () => {
  const { packages } = await read(ROOT, 'package-lock.json')
  const bundled: string[] = await read(packageOf('server'), 'dist/packages.json')
  const components: { 'bom-ref': string }[] = (await read(packageOf('server'), 'sbom.cdx.json')).components
  const named = components.map((component) => component['bom-ref'])
  const licences = await readFile(join(packageOf('server'), 'THIRD-PARTY-LICENCES.txt'), 'utf8')
  expect(bundled.length).toBeGreaterThan(50)
  for (const path of bundled) {
    const name = path.split('node_modules/').at(-1)
    expect(named).toContain(`${name}@${packages[path].version}`)
    expect(licences).toContain(`${name} ${packages[path].version} (`)
  }
  expect(named).toEqual(expect.arrayContaining([expect.stringMatching(/^react@/)]))
  for (const name of ['sdk', 'cli'] as const) {
    const bill = await read(packageOf(name), 'dist/sbom.cdx.json')
    const text = await readFile(join(packageOf(name), 'dist/THIRD-PARTY-LICENCES.txt'), 'utf8')
    expect(bill.metadata.component.name).toBe(`@svc/${name}`)
    const refs: string[] = bill.components.map((each: { 'bom-ref': string }) => each['bom-ref'])
    const inNotices = [...text.matchAll(/^(\S+) (\d+\.\S+) \(/gm)].map(
      ([, of, version]) => `${of}@${version}`,
    )
    expect(new Set(refs)).toEqual(new Set(inNotices))
    expect(refs).toEqual(expect.arrayContaining([expect.stringMatching(/^jose@/)]))
  }
  // Source maps name the sources from the package's own folder: the same bytes on every machine.
  const { sources } = await read(packageOf('sdk'), 'dist/index.js.map')
  for (const source of sources) expect(source).toMatch(/^\.\.\/(?:src|\.\.\/\.\.\/node_modules)\//)
})

test('a publisher finds checksums, the changes, where it comes from, and what both images are built of', async () => {
  const release = join(place, 'release')
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release })
  const { version } = await read(ROOT, 'package.json')
  expect(await readFile(join(release, 'CHANGES.md'), 'utf8')).toMatch(new RegExp(`^## \\[?${version}`))
  const provenance = await readFile(join(release, 'PROVENANCE.txt'), 'utf8')
  const sums = await readFile(join(release, 'SHA256SUMS'), 'utf8')
  for (const tarball of Object.values(tarballs)) {
    const [sum] = sums
      .split('\n')
      .find((line) => line.endsWith(`  ${tarball}`))!
      .split('  ')
    expect(provenance).toContain(`sha256 ${sum}  ${tarball}`)
  }
  for (const client of ['python/svc_client.py', 'java/Svc.java', 'php/Svc.php'])
    expect(sums).toMatch(new RegExp(`^[0-9a-f]{64}  clients/${client}$`, 'm'))
  for (const image of ['live', 'sandbox']) {
    const context = join(release, `image-${image}`)
    const [, base] = /^FROM (\S+)$/m.exec(await readFile(join(context, 'Containerfile'), 'utf8'))!
    expect(base).toMatch(/^docker\.io\/library\/node:\d+\.\d+\.\d+-\w+-slim$/)
    expect(provenance).toContain(`Base image   ${base};`)
  }
  // The lock file of the images installs, with the tarball's integrity.
  const context = join(place, 'image')
  await cp(join(release, 'image-live'), context, { recursive: true })
  const args = ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', args, { cwd: context })
  const svc = join(context, 'node_modules/@svc/partner-service/bin/svc.mjs')
  expect((await run(process.execPath, [svc, '--version'])).stdout.trim()).toBe(version)
})
