import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { idFloor } from '@svc/contract/id-kinds'
import { connectionOptions } from '@svc/platform/db/connection-options'
import type { Bed } from './bed.ts'
import type { Contender } from './contest.ts'

/** A program of PostgreSQL's client package, from PGBENCH or PSQL, else PATH or Debian's place. */
export function postgresProgram(name: 'pgbench' | 'psql'): string | undefined {
  const named = process.env[name.toUpperCase()]
  if (named) return named
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/lib/postgresql/15/bin']
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/**
 * The text of lab/bench/pgbench/<script>.sql with its words in double braces filled in. `event` is the begin of ids of
 * events: with the time of now they go where the service's own go.
 */
export async function script(name: string, words: Readonly<Record<string, string>> = {}): Promise<string> {
  const template = await readFile(new URL(`pgbench/${name}.sql`, import.meta.url), 'utf8')
  const all: Readonly<Record<string, string>> = { event: idFloor('evt', new Date()), ...words }
  return template.replace(/\{\{(\w+)\}\}/g, (_, word: string) => all[word]!)
}

/**
 * In which connections are made and prepare their statements; these seconds do not count. On a machine where processes are
 * slow to start, 64 need seconds; batches need two.
 */
const warmSecondsOf = (clients: number): number => (clients > 2 ? 8 : 2)

/**
 * pgbench running a script as the service's own role, prepared, over the Unix socket.
 * @param each how many of the service's requests one transaction carries out
 */
export function pgbenchContender(name: string, bed: Bed, sql: string, each = 1): Contender {
  const program = postgresProgram('pgbench')
  if (!program) throw new Error('There is no pgbench: install postgresql-contrib, or set PGBENCH.')
  return {
    name,
    unit: 'requests',
    pids: [bed.postmasterPid],
    async run({ callers, seconds }) {
      const folder = await mkdtemp(join(tmpdir(), 'svc-pgbench-'))
      try {
        const file = join(folder, 'script.sql')
        await writeFile(file, sql)
        // One thread a core; batches need few connections, or they wait for each other's rows only.
        const clients = each === 1 ? callers : Math.min(callers, 2)
        const warmSeconds = warmSecondsOf(clients)
        const args = [
          '-n',
          '-P',
          '1',
          '-M',
          'prepared',
          '-c',
          String(clients),
          '-j',
          String(Math.min(2, clients)),
        ]
        const at = ['-h', bed.host, '-p', String(bed.port), '-U', 'postgres', 'svc']
        // The session that the service's own statements have; plans made once, as theirs are. Left to itself PostgreSQL
        // plans scripts with long literals anew each time, and pgbench gets less done.
        const { options } = connectionOptions({ url: 'postgresql:///svc' }, 'svc_service')
        const PGOPTIONS = `${options} -c plan_cache_mode=force_generic_plan`
        const { stderr, stdout } = await promisify(execFile)(
          program,
          [...args, '-T', String(seconds + warmSeconds), '-f', file, ...at],
          { env: { ...process.env, PGOPTIONS } },
        )
        const reported = [...stderr.matchAll(/^progress: [\d.]+ s, ([\d.]+) tps/gm)].map(([, tps]) =>
          Number(tps),
        )
        // A machine that stands still for a moment has pgbench leave out its last second.
        const counted = reported.length > warmSeconds ? reported.slice(warmSeconds) : reported.slice(-1)
        if (counted.length === 0) throw new Error(`pgbench told of no second: ${stderr}`)
        const perSecond = counted.reduce((sum, tps) => sum + tps, 0) / counted.length
        const all = Number(/transactions actually processed: (\d+)/.exec(stdout)?.[1])
        return { done: perSecond * seconds * each, seconds, inAll: all * each }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}
