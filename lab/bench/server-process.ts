import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A contender that answers HTTP. */
export interface ServerProcess {
  readonly baseUrl: string
  readonly port: number
  readonly pid: number
  /** From the start of its process to its being ready. */
  readonly startMs: number
  end(): Promise<void>
}

export interface Start {
  /** Node's program; by default the one that runs this. */
  readonly node?: string
  /** Its arguments. */
  readonly args: readonly string[]
  readonly env?: Record<string, string>
  readonly cwd?: string
  /** Finds, in a line of its output, the address where it listens. Default: our own log line. */
  readonly ready?: (line: string) => string | undefined
}

function ourReady(line: string): string | undefined {
  try {
    const entry = JSON.parse(line) as { msg?: string; baseUrl?: string; level?: number }
    if ((entry.level ?? 0) >= 50) console.error(line)
    return entry.msg === 'ready' ? entry.baseUrl : undefined
  } catch {
    return undefined
  }
}

export async function startServer({
  node = process.execPath,
  args,
  env = {},
  cwd = ROOT,
  ready = ourReady,
}: Start): Promise<ServerProcess> {
  const { PATH = '', HOME = '' } = process.env
  const beganMs = performance.now()
  const child = spawn(node, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const output: string[] = []
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once('exit', () =>
      reject(new Error(`${args.join(' ')} did not start:\n${output.slice(-20).join('\n')}`)),
    )
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        if (output.length < 200) output.push(line)
        const url = ready(line)
        if (url) resolve(url)
      })
    }
  })
  return {
    baseUrl,
    port: Number(new URL(baseUrl).port),
    pid: child.pid!,
    startMs: performance.now() - beganMs,
    async end() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(timer)
    },
  }
}

/** CPU time that processes have used, their threads included, in microseconds; where there is no /proc, 0. */
export async function cpuMicros(pids: readonly number[]): Promise<number> {
  let ticks = 0
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
    // utime and stime, and those of children that have ended: PostgreSQL's backends come and go.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticks += fields.slice(11, 15).reduce((sum, field) => sum + (Number(field) || 0), 0)
  }
  return ticks * 10_000
}

/** A process and its children. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const children: number[] = []
  for (const entry of await readdir('/proc').catch(() => [] as string[])) {
    if (!/^\d+$/.test(entry)) continue
    const stat = await readFile(`/proc/${entry}/stat`, 'latin1').catch(() => '')
    if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid) children.push(Number(entry))
  }
  return [pid, ...children]
}

/** Resident memory in MB, as Linux counts it; undefined elsewhere. */
export async function residentMb(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kb === undefined ? undefined : Number(kb) / 1_024
}

/** What a program that ends by itself took. */
export interface Ran {
  readonly output: string
  readonly seconds: number
  /** The most of memory that it had at once; where Linux says so. */
  readonly peakMb: number
}

const PEAK_EVERY_MS = 10

/** Runs a program to its end. */
export async function runProgram({
  node = process.execPath,
  args,
  env = {},
  cwd = ROOT,
}: Start): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env
  const beganMs = performance.now()
  const child = spawn(node, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  const errors: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  let peakMb = 0
  const look = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    peakMb = Math.max(peakMb, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024)
  }
  const timer = setInterval(() => void look(), PEAK_EVERY_MS)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearInterval(timer)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${errors.join('')}`)
  return { output: output.join(''), seconds: (performance.now() - beganMs) / 1_000, peakMb }
}
