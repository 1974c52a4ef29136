import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { EmbeddedInternals, EmbeddedOptions, EmbeddedServer } from '@svc/embedded-postgres/embedded'

/** The user that owns nothing. */
export const nobody = 65534
const embeddedModule = path.resolve(import.meta.dirname, '../src/embedded.ts')
const require = createRequire(import.meta.url)
const children: ChildProcess[] = []

export async function killChildren(): Promise<void> {
  for (const child of children.splice(0)) await killHard(child)
}

export async function killHard(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** A process that has ended counts as ended, also while the machine's first process has not noticed it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** The id of a living process that is no server. Its parent would not do: PostgreSQL knows that it is not the old server. */
export function unrelatedProcess(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  children.push(child)
  return child.pid ?? 0
}

const childProgram = `
  const { openEmbeddedWith } = await import(process.env.EMBEDDED_MODULE)
  const say = (what) => console.log(JSON.stringify(what))
  const [options, internals] = JSON.parse(process.env.EMBEDDED_ARGUMENTS)
  try {
    const server = await openEmbeddedWith(options, internals)
    say(server)
    process.stdin.once('data', async () => { say({ released: await server.release() }); process.exit(0) })
  } catch (error) { say({ error: error.message }); process.exit(1) }
`

interface Child {
  process: ChildProcess
  /** Its next line: the server that it opened, its error, or how it released. */
  next(): Promise<Partial<EmbeddedServer> & { error?: string; released?: string }>
  release(): Promise<string | undefined>
}

/** Opens the server in a process of its own, with `asNobody` as that user. */
export function openInChild(
  options: EmbeddedOptions,
  { asNobody = false, ...internals }: EmbeddedInternals & { asNobody?: boolean } = {},
): Child {
  const tsx = require.resolve('tsx')
  const node = [process.execPath, '--import', `file://${tsx}`, '--input-type=module', '-e', childProgram]
  const user = asNobody ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : []
  const [command = '', ...args] = [...user, ...node]
  const child = spawn(command, args, {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      EMBEDDED_MODULE: embeddedModule,
      EMBEDDED_ARGUMENTS: JSON.stringify([options, internals]),
    },
  })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next: Child['next'] = async () => {
    const line = await lines.next()
    if (line.done) throw new Error('the child ended without a line')
    return JSON.parse(line.value)
  }
  return {
    process: child,
    next,
    async release() {
      child.stdin.write('release\n')
      return (await next()).released
    },
  }
}
