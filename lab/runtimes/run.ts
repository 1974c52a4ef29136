// Installs the packed SDK into empty projects and runs a typed program on every runtime that npm packages offer, against
// a sandbox of the built program: npm run test:runtimes [-- --write]. `--write` puts the table into the SDK's README.
import { execFile, spawn } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { freePort } from '../../test/harness/free-port.ts'
import { packSdk } from '../../test/harness/packed-sdk.ts'
import { startProcess } from '../../test/harness/processes.ts'
import { ROOT } from '../../test/harness/sources.ts'
import { installRuntime, NODE_VERSIONS, nodePackage } from './node.ts'

const run = promisify(execFile)
const EXPECTED = 'payment, events, webhook, cancel, list, encrypted order, streamed search, typed error'
const README = join(ROOT, 'packages/sdk/README.md')
const MARKS = ['<!-- runtimes: by `npm run test:runtimes -- --write` -->', '<!-- /runtimes -->'] as const

interface Runtime {
  readonly name: string
  /** Its npm package for this machine, and the program in it. */
  readonly packageName: string
  readonly version: string
  readonly binary: string
  /** How the program is run: the file, and arguments before it. */
  readonly ways: readonly { readonly as: string; readonly args: readonly string[]; readonly file: string }[]
}

const BUILT = { as: 'ES module', args: [], file: 'program.js' }
const COMMON_JS = { as: 'CommonJS', args: [], file: 'program.cjs' }
const TYPESCRIPT = { as: 'TypeScript', args: [], file: 'program.ts' }

const node = (version: string, ...more: Runtime['ways']): Runtime => ({
  name: 'Node',
  ...nodePackage,
  version,
  ways: [BUILT, COMMON_JS, ...more],
})
const denoWay = (way: Runtime['ways'][number]) => ({
  ...way,
  args: ['run', '--no-remote', '--no-lock', '--node-modules-dir=manual', '--allow-all'],
})

const RUNTIMES: readonly Runtime[] = [
  ...NODE_VERSIONS.map((version) => (version.startsWith('20.') ? node(version) : node(version, TYPESCRIPT))),
  {
    name: 'Bun',
    packageName: `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x64'}`,
    version: '1.4.4',
    binary: 'bin/bun',
    ways: [BUILT, COMMON_JS, TYPESCRIPT],
  },
  {
    name: 'Deno',
    packageName: `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`,
    version: '2.9.6',
    binary: 'deno',
    ways: [denoWay(BUILT), denoWay(COMMON_JS), denoWay(TYPESCRIPT)],
  },
]

/** An empty project with the packed SDK, and the program compiled in it with the strictest types. */
async function newProject(folder: string): Promise<string> {
  const project = join(folder, 'project')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}')
  const offline = [
    'install',
    '--offline',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    await packSdk(folder),
  ]
  await run('npm', offline, { cwd: project })
  await copyFile(join(ROOT, 'lab/runtimes/program.ts'), join(project, 'program.ts'))
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    strict: true,
    types: [],
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  await run(process.execPath, [join(ROOT, 'node_modules/typescript7/bin/tsc'), '-p', project])
  const source = await readFile(join(project, 'program.js'), 'utf8')
  await writeFile(join(project, 'worker.js'), workerOf(source))
  const required = source.replace(/^import (\{.*\}) from '@svc\/sdk';?$/m, "const $1 = require('@svc/sdk')")
  await writeFile(join(project, 'program.cjs'), `(async () => {\n${required}\n})()\n`)
  return project
}

/** The program as a Worker: it runs for a request, and its credentials are a binding instead of a file. */
function workerOf(source: string): string {
  const [imports = ''] = /^import .*$/m.exec(source) ?? []
  return `${imports}
export default {
  async fetch(_, { SANDBOX }) {
    globalThis.process = { env: {}, getBuiltinModule: () => ({ readFile: async () => SANDBOX }) }
    const lines = []
    const console = { log: (line) => lines.push(line) }
    ${source.replace(imports, '')}
    return new Response(lines.join('\\n'))
  },
}
`
}

const WORKERD_VERSION = '1.20261117.1'
const configOf = (port: string): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .program), (name = "internet", network = (allow = ["127.0.0.0/8"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const program :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "bundle.js")],
  bindings = [(name = "SANDBOX", text = embed "sandbox.json")],
  compatibilityDate = "2026-01-01",
);
`

/** Workers have no file system and no modules of Node: the SDK is bundled, and needs WebCrypto and `fetch` alone. */
async function runOnWorkerd(project: string, dataDir: string): Promise<Result> {
  const runtime = `workerd ${WORKERD_VERSION}`
  const packageName = `@cloudflare/workerd-${process.platform}-${process.arch === 'x64' ? '64' : process.arch}`
  let child: ReturnType<typeof spawn> | undefined
  try {
    const binary = await installRuntime({ packageName, version: WORKERD_VERSION, binary: 'bin/workerd' })
    const entryPoints = [join(project, 'worker.js')]
    await build({
      entryPoints,
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      outfile: join(project, 'bundle.js'),
    })
    await copyFile(join(dataDir, 'sandbox.json'), join(project, 'sandbox.json'))
    const port = `${await freePort()}`
    await writeFile(join(project, 'config.capnp'), configOf(port))
    child = spawn(binary, ['serve', 'config.capnp'], { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] })
    const printed = await printedBy(`http://127.0.0.1:${port}/`)
    return {
      runtime,
      as: 'ES module',
      outcome: printed === EXPECTED ? 'passed' : `printed: ${printed.slice(0, 200)}`,
    }
  } catch (error) {
    return { runtime, as: 'ES module', outcome: firstLine(error) }
  } finally {
    child?.kill()
  }
}

/** What the Worker responds, once it listens. */
async function printedBy(url: string): Promise<string> {
  for (let tries = 0; ; tries++)
    try {
      return (await (await fetch(url)).text()).trim()
    } catch (error) {
      if (tries === 50) throw error
      await sleep(100)
    }
}

interface Result {
  readonly runtime: string
  readonly as: string
  /** `passed`, or what went wrong. */
  readonly outcome: string
}

async function runOn(runtime: Runtime, project: string, dataDir: string): Promise<Result[]> {
  const name = `${runtime.name} ${runtime.version}`
  const results: Result[] = []
  let program: string
  try {
    program = await installRuntime(runtime)
  } catch (error) {
    return [{ runtime: name, as: '', outcome: `not installed: ${firstLine(error)}` }]
  }
  for (const { as, args, file } of runtime.ways) {
    const env = { PATH: process.env['PATH'] ?? '', HOME: project, DATA_DIR: dataDir }
    const outcome = await run(program, [...args, file], { cwd: project, env, timeout: 60_000 }).then(
      ({ stdout }) => (stdout.trim() === EXPECTED ? 'passed' : `printed: ${stdout.trim()}`),
      (error: unknown) => firstLine(error),
    )
    results.push({ runtime: name, as, outcome })
  }
  return results
}

const firstLine = (error: unknown): string => {
  const { stderr = '', message } = error as { stderr?: string; message: string }
  const line = stderr.split('\n').find((text) => /error/i.test(text)) ?? message.split('\n')[0] ?? ''
  return line.trim().slice(0, 200)
}

function tableOf(results: readonly Result[]): string {
  const names = [...new Set(results.map(({ runtime }) => runtime))]
  const ways = ['ES module', 'CommonJS', 'TypeScript']
  const cell = (name: string, way: string) =>
    results.find(({ runtime, as }) => runtime === name && as === way)?.outcome ?? '–'
  return [
    '| Runtime | ES module | CommonJS | TypeScript as it is |',
    '|---|---|---|---|',
    ...names.map((name) => `| ${name} | ${ways.map((way) => cell(name, way)).join(' | ')} |`),
  ].join('\n')
}

const folder = await mkdtemp(join(tmpdir(), 'svc-runtimes-'))
const dataDir = join(folder, 'data')
await mkdir(dataDir)
const sandbox = await startProcess({ DATA_DIR: dataDir })
try {
  const project = await newProject(folder)
  const results: Result[] = []
  for (const runtime of RUNTIMES) results.push(...(await runOn(runtime, project, dataDir)))
  results.push(await runOnWorkerd(project, dataDir))
  const table = tableOf(results)
  console.log(table)
  if (process.argv.includes('--write')) {
    const [begin, rest = ''] = (await readFile(README, 'utf8')).split(MARKS[0])
    const after = rest.slice(rest.indexOf(MARKS[1]))
    await writeFile(README, `${begin}${MARKS[0]}\n\n${table}\n\n${after}`)
  }
  process.exitCode = results.every(({ outcome }) => outcome === 'passed') ? 0 : 1
} finally {
  await sandbox.end('SIGTERM')
  await rm(folder, { recursive: true, force: true })
}
