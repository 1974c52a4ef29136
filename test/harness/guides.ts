import { type ExecFileException, execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Json } from './client.ts'
import { startProcess } from './processes.ts'
import { MASTER_KEY, newDatabase } from './service.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface Block {
  readonly code: string
  /** The block of output that follows it, if one does. */
  readonly output?: string
}

/** Code blocks of a page of `docs/` in one language; those that are marked `not-run` are left out. */
export async function blocksOf(file: string, language: string): Promise<Block[]> {
  const text = await readFile(join(ROOT, 'docs', file), 'utf8')
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)]
  return blocks
    .filter(([, of]) => of === language)
    .map(([, , code = '', output]) => (output === undefined ? { code } : { code, output }))
}

export const works = (command: string, ...args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

type Environment = Readonly<Record<string, string>>

/** A checkout of the repository beside a sandbox of its own, in which the guides' commands run. */
export interface Checkout {
  readonly folder: string
  readonly baseUrl: string
  readonly databaseUrl: string
  /** Runs a program in the checkout; fails with its output when it does not exit with 0. */
  run(command: string, args: readonly string[], env?: Environment): Promise<string>
  bash(script: string, env?: Environment): Promise<string>
  /** Runs the shell blocks of a page in order, as they are printed. */
  runGuide(file: string, env?: Environment): Promise<string>
  /** Advances the clocks of all demo tenants by a day. */
  nextDay(): Promise<void>
  close(): Promise<void>
}

const PARTS = ['package.json', 'node_modules', 'scripts', 'bin', 'dist', 'packages', 'migrations', 'docs']

export async function openCheckout(settings: Environment = {}): Promise<Checkout> {
  const db = await newDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'svc-guides-'))
  const files = await mkdtemp(join(tmpdir(), 'svc-files-'))
  for (const part of PARTS) await symlink(join(ROOT, part), join(folder, part))
  const installation = { DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, ...settings }
  const sandbox = await startProcess({ ...installation, DATA_DIR: join(folder, 'data') })
  const run: Checkout['run'] = (command, args, more = {}) => {
    const { PATH = '', HOME = '' } = process.env
    const options = { cwd: folder, env: { PATH, HOME, TMPDIR: files, ...installation, ...more } }
    return new Promise((resolve, reject) => {
      execFile(command, args, options, (error: ExecFileException | null, stdout, stderr) => {
        if (error) reject(new Error(`${command}: exit code ${error.code}\n${stdout}\n${stderr}`))
        else resolve(stdout)
      })
    })
  }
  const bash: Checkout['bash'] = (script, env) => run('bash', ['-euo', 'pipefail', '-c', script], env)
  return {
    folder,
    baseUrl: sandbox.baseUrl,
    databaseUrl: db.url,
    run,
    bash,
    runGuide: async (file, env) => bash((await blocksOf(file, 'sh')).map(({ code }) => code).join('\n'), env),
    async nextDay() {
      const tenants: Json = JSON.parse(await readFile(join(folder, 'data/sandbox.json'), 'utf8'))
      const ids = Object.values<Json>(tenants).flatMap((each) => each?.partnerId ?? each?.merchantId ?? [])
      for (const id of ids)
        await fetch(`${sandbox.baseUrl}/sandbox/tenants/${id}/clock/advance`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"bySeconds":86400}',
        })
    },
    async close() {
      await sandbox.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
      await rm(files, { recursive: true, force: true })
    },
  }
}
