import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { keepLog } from './causes.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The service as a process of its own, listening. */
export interface ServiceProcess {
  readonly baseUrl: string
  readonly pid: number
  readonly ended: Promise<Ended>
  /** What it wrote, log and errors, as text. */
  readonly written: () => string
  /** Sends a signal and resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<Ended>
}

type Environment = Readonly<Record<string, string>>

/** The program that ships, built when a run of the tests begins. */
export const PROGRAM = join(ROOT, 'bin/svc.mjs')

/** Runs `svc <args>` with these settings and no others. */
export function spawnCli(
  args: readonly string[],
  env: Environment,
  stdio: StdioOptions = ['ignore', 'pipe', 'pipe'],
): ChildProcess {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd: ROOT,
    env: { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...env },
    stdio,
  })
}

const endOf = (child: ChildProcess): Promise<Ended> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))

/** Starts `svc serve` and resolves when it says that it is ready. With a PUBLIC_URL, name the port. */
export async function startProcess(env: Environment): Promise<ServiceProcess> {
  const child = spawnCli(['serve'], { PORT: '0', LOG_LEVEL: 'info', ...env })
  // The last lines may come after the end.
  const closed = new Promise((resolve) => child.once('close', resolve))
  const ended = endOf(child).then((end) => closed.then(() => end))
  const lines: string[] = []
  const baseUrl = new Promise<string>((resolve) => {
    for (const stream of [child.stdout!, child.stderr!])
      createInterface(stream).on('line', (line) => {
        lines.push(line)
        const entry = readLogLine(line)
        if (entry['msg'] !== 'ready') return
        resolve(env['PUBLIC_URL'] ? `http://127.0.0.1:${env['PORT']}` : String(entry['baseUrl']))
      })
  })
  const started = await Promise.race([baseUrl, ended])
  const written = () => lines.join('\n')
  if (typeof started !== 'string') throw new Error(`the service ended before it was ready:\n${written()}`)
  keepLog(started, written)
  return {
    baseUrl: started,
    pid: child.pid!,
    ended,
    written,
    end(signal) {
      child.kill(signal)
      return ended
    },
  }
}

/** Entries of a log of level error and above. */
export const errorsIn = (written: string): Record<string, unknown>[] =>
  written
    .split('\n')
    .map(readLogLine)
    .filter(({ level }) => Number(level) >= 50)

function readLogLine(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return {}
  }
}

/**
 * Runs a command of the CLI to its end; answers its exit code and what it printed. SIGKILL ends it at the signal, or
 * once `when`, asked after each piece of standard error, says so. `input` is its standard input.
 */
export async function runCli(
  args: readonly string[],
  env: Environment,
  kill: { when?: (stderr: string) => boolean; signal?: AbortSignal; input?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnCli(args, env, ['pipe', 'pipe', 'pipe'])
  child.stdin!.end(kill.input)
  kill.signal?.addEventListener('abort', () => child.kill('SIGKILL'))
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]!.on('data', (part: Buffer) => (texts[name] += part.toString()))
  child.stderr!.on('data', () => kill.when?.(texts.stderr) && child.kill('SIGKILL'))
  const closed = new Promise((resolve) => child.once('close', resolve))
  const { code } = await endOf(child)
  await closed
  return { code, ...texts }
}

/** Several processes on one database, one after the other, so that the first one makes what each of them finds. */
export async function startProcesses(
  count: number,
  env: Environment,
  dataDir: string,
): Promise<ServiceProcess[]> {
  const started: ServiceProcess[] = []
  for (let n = 0; n < count; n++) {
    const own = join(dataDir, `process-${n}`)
    await mkdir(own)
    started.push(await startProcess({ ...env, DATA_DIR: own }))
  }
  return started
}
