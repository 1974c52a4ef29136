/**
 * How many coin configurations are looked up a second, beside what a bare Fastify answers on the same machine.
 *
 *   npx tsx bench/coin-lookup.ts       BENCH_SECONDS=6 BENCH_ROUNDS=5 BENCH_CALLERS=64 are the defaults
 *   BENCH_PROFILE=1 …                  besides, a CPU profile of the service: where the rest goes
 *
 * The service (sandbox, embedded PostgreSQL 18) and the bare Fastify are processes of their own; this process makes
 * the load for both, over raw sockets, one request at a time on each. Phases alternate, so that a noisy machine is noisy
 * for both; the medians of the rounds count. All of it shares the same cores.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const CALLERS = Number(process.env['BENCH_CALLERS'] ?? 64)
const PROFILE = process.env['BENCH_PROFILE'] !== undefined
const ROOT = fileURLToPath(new URL('..', import.meta.url))

const HELLO = `
  import fastify from 'fastify'
  const app = fastify()
  app.get('/hello', async () => ({ hello: 'world' }))
  console.log(JSON.stringify({ msg: 'ready', baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }) }))
  process.on('SIGTERM', () => process.exit())`

interface Server {
  readonly baseUrl: string
  readonly pid: number
  readonly end: () => Promise<void>
}

/** Starts a process and waits until it says where it listens. */
async function start(args: readonly string[], env: Record<string, string> = {}): Promise<Server> {
  const { PATH = '', HOME = '' } = process.env
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('a server did not start')))
    createInterface(child.stdout!).on('line', (line) => {
      const entry = JSON.parse(line) as { msg: string; baseUrl: string }
      if (entry.msg === 'ready') resolve(entry.baseUrl)
    })
  })
  return {
    baseUrl,
    pid: child.pid!,
    async end() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

interface Target {
  readonly port: number
  /** One for each caller. */
  readonly requests: readonly Buffer[]
}

const HEAD_END = Buffer.from('\r\n\r\n')

/** One caller: sends the request, waits for the whole answer, sends it again; answers how often. */
function call(port: number, request: Buffer, endMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let done = 0
    let rest: Buffer = Buffer.alloc(0)
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request))
    socket.on('error', reject)
    socket.on('data', (data: Buffer) => {
      rest = rest.length === 0 ? data : Buffer.concat([rest, data])
      const head = rest.indexOf(HEAD_END)
      if (head < 0) return
      const text = rest.toString('latin1', 0, head)
      if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(text.slice(0, 200)))
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
      if (rest.length < head + HEAD_END.length + length) return
      rest = Buffer.alloc(0)
      done++
      if (performance.now() < endMs) socket.write(request)
      else socket.end(() => resolve(done))
    })
  })
}

/** CPU time that a process has used, in ticks of 10 ms; where there is no /proc, nothing. */
async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return user + system
}

interface Phase {
  readonly perSecond: number
  /** Microseconds of the server process's CPU for a request: hardly depends on who else uses the machine. */
  readonly cpuMicros: number
}

async function measure(target: Target, pid: number): Promise<Phase> {
  const [startMs, startTicks] = [performance.now(), await cpuTicks(pid)]
  const perSecond = await rate(target)
  const requests = perSecond * ((performance.now() - startMs) / 1_000)
  return { perSecond, cpuMicros: (((await cpuTicks(pid)) - startTicks) * 10_000) / requests }
}

async function rate(target: Target, seconds = SECONDS): Promise<number> {
  const startMs = performance.now()
  const endMs = startMs + seconds * 1_000
  const counts = await Promise.all(target.requests.map((request) => call(target.port, request, endMs)))
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - startMs) / 1_000)
}

function targetOf(baseUrl: string, paths: readonly string[], headers: Record<string, string> = {}): Target {
  const { host, port } = new URL(baseUrl)
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`))
  return { port: Number(port), requests }
}

/** Every caller asks for a configuration of its own, so that coalescing has as many rows to read as there are callers. */
async function lookupTarget({ baseUrl }: Server, dataDir: string): Promise<Target> {
  const file = JSON.parse(await readFile(join(dataDir, 'sandbox.json'), 'utf8')) as {
    incentivePartner: { clientId: string; clientSecret: string }
  }
  const { clientId, clientSecret } = file.incentivePartner
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const answer = await fetch(`${baseUrl}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  const paths = Array.from({ length: CALLERS }, async (_, n) => {
    const body = JSON.stringify({
      event: `bench.${n}`,
      amount: 100,
      title: 'Thank you for the referral',
      coinsExpireAfterDays: 365,
    })
    const made = await fetch(`${baseUrl}/api/v0/svc-coins`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    })
    const { payload } = (await made.json()) as { payload: { coinConfigId: string } }
    return `/api/v0/svc-coins/${payload.coinConfigId}`
  })
  return targetOf(baseUrl, await Promise.all(paths), headers)
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly url: string; readonly functionName: string }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Whose code it is: a folder of ours, a package, a part of Node, or what the engine says of itself. */
function ownerOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)'
  const [, ours] = /\/src\/((?:platform\/)?[^/]+)\//.exec(url) ?? []
  if (ours && !url.includes('node_modules')) return `src/${ours}`
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  return name ?? url.replace('node:', 'node ').replace(/internal\/.*/, 'internal')
}

async function showProfile(folder: string): Promise<void> {
  const owners = new Map<string, number>()
  const functions = new Map<string, number>()
  const add = (to: Map<string, number>, name: string, time: number) =>
    to.set(name, (to.get(name) ?? 0) + time)
  for (const name of await readdir(folder)) {
    const profile = JSON.parse(await readFile(join(folder, name), 'utf8')) as CpuProfile
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
    profile.samples.forEach((id, i) => {
      const { url, functionName } = frames.get(id)!
      if (functionName === '(idle)') return
      const owner = ownerOf(url, functionName)
      add(owners, owner, profile.timeDeltas[i]!)
      add(functions, `${functionName}  ${owner}`, profile.timeDeltas[i]!)
    })
  }
  const total = [...owners.values()].reduce((sum, time) => sum + time, 0)
  const print = (shares: Map<string, number>) => {
    for (const [name, time] of [...shares].sort(([, x], [, y]) => y - x).slice(0, 18))
      console.log(`  ${((100 * time) / total).toFixed(1).padStart(5)} %  ${name}`)
  }
  console.log('CPU of the service, its start included: self time by owner of the code, then by function')
  print(owners)
  console.log('')
  print(functions)
}

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!
const show = (figures: readonly number[]): string => figures.map((figure) => Math.round(figure)).join(' ')

const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'))
const profiles = join(dataDir, 'profiles')
const flags = PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : []
const service = await start([...flags, '--import', 'tsx', 'src/cli.ts', 'serve'], {
  PORT: '0',
  DATA_DIR: dataDir,
})
const hello = await start(['--input-type=module', '-e', HELLO])
try {
  const servers = { lookup: service, hello }
  const targets = {
    lookup: await lookupTarget(service, dataDir),
    hello: targetOf(
      hello.baseUrl,
      Array.from({ length: CALLERS }, () => '/hello'),
    ),
  }
  const phases = { lookup: [] as Phase[], hello: [] as Phase[] }
  for (const name of ['lookup', 'hello'] as const) await rate(targets[name], 3)
  for (let round = 0; round < ROUNDS; round++)
    for (const name of ['lookup', 'hello'] as const)
      phases[name].push(await measure(targets[name], servers[name].pid))
  console.log(
    `${CALLERS} callers, ${ROUNDS} rounds of ${SECONDS} s, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}; medians`,
  )
  const print = (name: string, of: readonly Phase[]) => {
    const rates = of.map(({ perSecond }) => perSecond)
    const cpu = of.map(({ cpuMicros }) => cpuMicros)
    console.log(
      `${name} ${Math.round(median(rates))}/s (${show(rates)}), CPU ${median(cpu).toFixed(0)} µs a request (${show(cpu)})`,
    )
  }
  print('coin look-up ', phases.lookup)
  print('Fastify hello', phases.hello)
  const ratioBy = (pick: (phase: Phase) => number) =>
    median(phases.lookup.map(pick)) / median(phases.hello.map(pick))
  console.log(
    `ratio of rates ${ratioBy(({ perSecond }) => perSecond).toFixed(2)}, of CPU (inverse) ${(1 / ratioBy(({ cpuMicros }) => cpuMicros)).toFixed(2)}`,
  )
} finally {
  await hello.end()
  await service.end()
  if (PROFILE) await showProfile(profiles)
  await rm(dataDir, { recursive: true, force: true })
}
