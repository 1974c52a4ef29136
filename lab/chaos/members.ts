import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/harness/free-port.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** A folder with a built program. */
export const programOf = (root: string): string => join(root, 'bin', 'svc.mjs')
const PROGRAM = programOf(ROOT)
export type Environment = Readonly<Record<string, string>>

/** The environment of a program of ours: its settings and no others. */
export const only = (env: Environment): Environment => {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, ...env }
}

/** Runs `svc <args> --json` as an operator does; answers what it printed. Throws with its own words when it fails. */
export async function svc(env: Environment, ...args: string[]): Promise<unknown> {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--json'], { env: only(env) })
  child.stdin.end()
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (part: Buffer) => (texts[name] += part.toString()))
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}:\n${texts.stderr}${texts.stdout}`)
  return JSON.parse(texts.stdout)
}

/** One process of the service on a port of its own, started again whenever it ends, as an init system would. */
export class Member {
  readonly baseUrl: string
  readonly #env: Environment
  readonly #log: WriteStream
  /** What runs from the next start on. */
  program: string
  #child: ChildProcess | undefined
  #ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }> = new Promise(() => undefined)
  #stopped = false
  /** Signals that the run sent to the present process. */
  #sent = new Set<NodeJS.Signals>()
  /** Unexpected ends, in words. */
  readonly crashes: string[] = []
  /** Log entries of level error and above, by what they say. */
  readonly errors = new Map<string, number>()

  private constructor(port: number, env: Environment, directory: string, program: string) {
    this.program = program
    this.baseUrl = `http://127.0.0.1:${port}`
    this.#env = only({ ...env, PORT: String(port), DATA_DIR: directory })
    this.#log = createWriteStream(join(directory, 'svc.log'), { flags: 'a' })
  }

  static async open(env: Environment, directory: string, program = PROGRAM): Promise<Member> {
    await mkdir(directory, { recursive: true })
    const member = new Member(await freePort(), env, directory, program)
    member.#start()
    await member.ready()
    return member
  }

  get pid(): number {
    return this.#child!.pid!
  }

  #start(): void {
    const child = spawn(process.execPath, [this.program, 'serve'], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    // A run that breaks down leaves nobody behind.
    const endWithUs = () => child.kill('SIGKILL')
    process.once('exit', endWithUs)
    const sent = new Set<NodeJS.Signals>()
    this.#sent = sent
    for (const stream of [child.stdout!, child.stderr!])
      createInterface(stream).on('line', (line) => this.#note(line))
    this.#ended = new Promise((resolve) =>
      child.once('exit', (code, signal) => {
        process.off('exit', endWithUs)
        const expected = signal ? sent.has(signal) : sent.has('SIGTERM') && code === 0
        if (!expected && !this.#stopped) this.crashes.push(`ended with ${signal ?? code}`)
        if (!this.#stopped) this.#start()
        resolve({ code, signal })
      }),
    )
  }

  #note(line: string): void {
    this.#log.write(`${line}\n`)
    try {
      const { level, msg, error, err } = JSON.parse(line) as Record<string, unknown>
      if (typeof level !== 'number' || level < 50) return
      const detail = (err as { message?: string } | undefined)?.message ?? ''
      const text = [msg, error, detail].filter(Boolean).join(': ')
      this.errors.set(text, (this.errors.get(text) ?? 0) + 1)
    } catch {
      this.errors.set(line, (this.errors.get(line) ?? 0) + 1)
    }
  }

  /** Sends a signal; resolves when the process has ended (and another is being started), with its exit code. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const ended = this.#ended
    this.#sent.add(signal)
    this.#child!.kill(signal)
    return (await ended).code
  }

  /** Sends a signal that does not end it. */
  report(signal: NodeJS.Signals): void {
    this.#child!.kill(signal)
  }

  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(2_000)
    return fetch(`${this.baseUrl}/readyz`, { signal }).then(
      async (response) => (await response.text(), response.status === 200),
      () => false,
    )
  }

  /** Resolves when it says that it is ready; throws when it does not for two minutes. */
  async ready(): Promise<void> {
    for (const end = performance.now() + 120_000; !(await this.isReady()); await sleep(20))
      if (performance.now() > end) throw new Error(`${this.baseUrl} is not ready: ${this.crashes.join(', ')}`)
  }

  async stop(): Promise<number | null> {
    this.#stopped = true
    const code = await this.end('SIGTERM')
    await new Promise((resolve) => this.#log.end(resolve))
    return code
  }
}
