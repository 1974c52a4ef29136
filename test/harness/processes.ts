import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

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

/** Runs `svc <args>` from the sources, with these settings and no others. */
function spawnCli(args: readonly string[], env: Environment): ChildProcess {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env
  return spawn(process.execPath, ['--import', 'tsx', 'src/cli.ts', ...args], {
    cwd: ROOT,
    env: { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

const endOf = (child: ChildProcess): Promise<Ended> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))

/** Starts `svc serve` and resolves when it says that it is ready. */
export async function startProcess(env: Environment): Promise<ServiceProcess> {
  const child = spawnCli(['serve'], { PORT: '0', LOG_LEVEL: 'info', ...env })
  const ended = endOf(child)
  const lines: string[] = []
  const baseUrl = new Promise<string>((resolve) => {
    for (const stream of [child.stdout!, child.stderr!])
      createInterface(stream).on('line', (line) => {
        lines.push(line)
        const entry = readLogLine(line)
        if (entry['msg'] === 'ready') resolve(String(entry['baseUrl']))
      })
  })
  const started = await Promise.race([baseUrl, ended])
  const written = () => lines.join('\n')
  if (typeof started !== 'string') throw new Error(`the service ended before it was ready:\n${written()}`)
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

function readLogLine(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return {}
  }
}

/**
 * Runs a command of the CLI to its end; answers its exit code and what it printed. SIGKILL ends it at the signal, or
 * once `when`, asked after each piece of standard error, says so.
 */
export async function runCli(
  args: readonly string[],
  env: Environment,
  kill: { when?: (stderr: string) => boolean; signal?: AbortSignal } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnCli(args, env)
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
