import { type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { UsageError } from './usage-error.ts'

interface Beside {
  readonly baseUrl: string
  /** Holds the `sandbox.json` of the sandbox. */
  readonly dataDir: string
  readonly stdio: StdioOptions
}

/** Runs a program that finds a sandbox in its environment; resolves to its exit code, as a shell gives it. */
export async function runBeside(
  [program = '', ...args]: readonly string[],
  { baseUrl, dataDir, stdio }: Beside,
): Promise<number> {
  const outside = Object.entries(process.env).filter(([setting]) => !setting.startsWith('DATABASE_'))
  const env = { ...Object.fromEntries(outside), SVC_BASE_URL: baseUrl, DATA_DIR: dataDir }
  const child = spawn(program, args, { env, stdio })
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  process.on('SIGTERM', forward)
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return code ?? 128 + constants.signals[signal!]
  } catch (error) {
    throw new UsageError(`${program} cannot be run: ${(error as Error).message}`)
  } finally {
    process.off('SIGTERM', forward)
  }
}
