import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../test/harness/free-port.ts'
import { median } from '../contest.ts'
import { peerProgram } from '../peers.ts'
import { ROOT, residentMb, type Start, startServer } from '../server-process.ts'
import type { Measure, Note } from './measure.ts'

const DOCUMENT = `${ROOT}/docs/reference/openapi.json`

interface Started {
  readonly startMs: number
  readonly idleMb: number
}

/** Starts it, lets it come to rest, and ends it. */
async function startOnce(start: Start): Promise<Started> {
  const server = await startServer(start)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const idleMb = (await residentMb(server.pid)) ?? 0
  await server.end()
  return { startMs: server.startMs, idleMb }
}

/** `npm start` as a user types it, until the service says that it is ready. */
async function npmStartMs(dataDir: string): Promise<number> {
  const startMs = performance.now()
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('npm start ended')))
    child.stdout.on('data', (data: Buffer) => {
      if (data.includes('"ready"')) resolve()
    })
  })
  const tookMs = performance.now() - startMs
  process.kill(-child.pid!, 'SIGTERM')
  await ended
  return tookMs
}

/** What `npm ci --omit=dev` puts on the disk, in MB: the files of these packages and all they need. */
async function installedMb(folder: string, names: readonly string[]): Promise<number> {
  const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<
      string,
      { dev?: boolean; link?: boolean; dependencies?: object; optionalDependencies?: object }
    >
  }
  const wanted = new Set<string>()
  const find = (name: string, below: string): string | undefined => {
    for (let at = below; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/')))) {
      const path = `${at}${at && !at.endsWith('/') ? '/' : ''}node_modules/${name}`
      if (lock.packages[path]) return path
      if (at === '') return undefined
    }
  }
  const add = (name: string, below: string) => {
    const path = find(name, below)
    if (!path || wanted.has(path)) return
    wanted.add(path)
    const { dependencies = {}, optionalDependencies = {} } = lock.packages[path]!
    for (const next of [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]) add(next, path)
  }
  for (const name of names) add(name, '')
  const sizes = await Promise.all([...wanted].map((path) => folderBytes(join(folder, path))))
  return sizes.reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : await folderBytes(path)
    else if (entry.isFile()) bytes += (await stat(path)).size
  }
  return bytes
}

const prism: Start = {
  args: [peerProgram('@stoplight', 'prism-cli', 'dist', 'index.js'), 'mock', '--port', '0', DOCUMENT],
  ready: (line) => /Prism is listening on (http:\S+)/.exec(line)?.[1],
}

/** Mockoon wants a number, so it is given one that was free a moment ago. */
function mockoon(port: number): Start {
  return {
    args: [
      peerProgram('@mockoon', 'cli', 'bin', 'run.js'),
      'start',
      '--data',
      DOCUMENT,
      '--port',
      String(port),
      '--disable-log-to-file',
    ],
    env: { MOCKOON_TELEMETRY: 'false', DO_NOT_TRACK: '1' },
    ready: (line) => (/started/i.test(line) ? `http://127.0.0.1:${port}` : undefined),
  }
}

export const footprint: Measure = {
  id: 'footprint',
  title: 'Start, idle memory, size on disk',
  async run({ rounds, progress }) {
    const notes: Note[] = []
    const left: string[] = []
    const folder = await mkdtemp(join(tmpdir(), 'svc-bench-start-'))
    try {
      const [empty, used]: [number[], number[]] = [[], []]
      for (let round = 0; round < Math.max(3, rounds); round++) {
        progress(`starting svc, round ${round + 1}`)
        const dataDir = join(folder, `data-${round}`)
        empty.push(await npmStartMs(dataDir))
        used.push(await npmStartMs(dataDir))
      }
      notes.push(
        { name: 'svc: npm start, empty data directory', value: median(empty) / 1_000, unit: 's', atMost: 3 },
        { name: 'svc: npm start, used data directory', value: median(used) / 1_000, unit: 's', atMost: 1.5 },
      )
      const svc = await startOnce({
        args: ['bin/svc.mjs', 'serve'],
        env: { PORT: '0', DATA_DIR: join(folder, 'data-0') },
      })
      notes.push({ name: 'svc: idle memory (without PostgreSQL)', value: svc.idleMb, unit: 'MB' })
      for (const [name, start] of [
        ['Prism', prism],
        ['Mockoon', mockoon(await freePort())],
      ] as const) {
        progress(`starting ${name}`)
        try {
          const started = await startOnce(start)
          notes.push(
            { name: `${name}: start`, value: started.startMs / 1_000, unit: 's' },
            { name: `${name}: idle memory`, value: started.idleMb, unit: 'MB' },
          )
        } catch (error) {
          left.push(`${name}: ${(error as Error).message.split('\n').slice(0, 3).join(' ')}`)
        }
      }
      const { dependencies, optionalDependencies } = JSON.parse(
        await readFile(`${ROOT}/package.json`, 'utf8'),
      ) as {
        dependencies: object
        optionalDependencies: object
      }
      const ours = [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]
      notes.push(
        {
          name: 'svc: packages on disk (PostgreSQL included)',
          value: await installedMb(ROOT, ours),
          unit: 'MB',
        },
        {
          name: 'Prism: packages on disk',
          value: await installedMb(join(ROOT, 'lab/bench'), ['@stoplight/prism-cli']),
          unit: 'MB',
        },
        {
          name: 'Mockoon: packages on disk',
          value: await installedMb(join(ROOT, 'lab/bench'), ['@mockoon/cli']),
          unit: 'MB',
        },
      )
      return { figures: [], comparisons: [], notes, left }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}
