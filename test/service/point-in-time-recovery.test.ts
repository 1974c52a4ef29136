import { execFile } from 'node:child_process'
import { appendFile, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { reconcileAll } from '@svc/console-api/faces/reconciliations'
import { expect, onTestFinished, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { freePort } from '../harness/free-port.ts'
import { openService } from '../harness/service.ts'
import { canReplicate, openArchived } from '../harness/standby.ts'

const GUIDE = fileURLToPath(new URL('../../docs/guides/point-in-time-recovery.md', import.meta.url))

/** The guide's blocks in one language, without the indentation of its lists, at other places than the guide's. */
async function blocksOf(language: string, folder: string): Promise<string[]> {
  const text = (await readFile(GUIDE, 'utf8')).replaceAll('/var/lib/postgresql/', `${folder}/`)
  return [...text.matchAll(/^( *)```(\w+)\n(.*?)^ *```\n/gms)]
    .filter(([, , of]) => of === language)
    .map(([, indent = '', , code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
}

const settingsOf = (conf: string): Record<string, string> =>
  Object.fromEntries(
    conf
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' = '))
      .map(([name = '', value = '']) => [name, value.replace(/^'(.*)'$/, '$1')]),
  )

/** From a slow archive: a server serves reads long before it accepts writes. */
const fromSlowArchive = (script: string): string =>
  script.replace("restore_command = '", "restore_command = 'sleep 0.5; ")

test.skipIf(!canReplicate)(
  'the guide’s commands restore the chosen moment: what was before it is there, what came later is not, and the books balance',
  async () => {
    const { primary, folder, binDir, close } = await openArchived(async (at) => {
      await mkdir(join(at, 'archive'))
      return settingsOf((await blocksOf('conf', at))[0]!)
    })
    onTestFinished(close)
    // As the user of the server; root is nobody in a user namespace of its own.
    const { uid, gid } = await stat(join(folder, 'postgres'))
    const bash = async (script: string, more: Record<string, string> = {}) => {
      const { PATH = '' } = process.env
      const env = {
        PATH: `${binDir}:${PATH}`,
        PGHOST: primary.host,
        PGPORT: String(primary.port),
        PGUSER: 'postgres',
        ...more,
      }
      const args = ['-euo', 'pipefail', '-c', script]
      const asNobody = ['--user', '--map-user=65534', '--map-group=65534', 'bash', ...args]
      if (process.getuid?.() === 0 && uid === 0) return promisify(execFile)('unshare', asNobody, { env })
      return promisify(execFile)('bash', args, { env, ...(process.getuid?.() === 0 && { uid, gid }) })
    }
    const [copy, switchLog, choose, recover] = await blocksOf('sh', folder)
    await bash(copy!)

    const before = await openService({ db: primary })
    const kept = await before.newMerchant()
    payloadOf(await (await before.as(kept)).post('/api/v0/qr-code', { qrName: 'kept' }))
    const { now } = (await primary.run(`select clock_timestamp()::text as now`))!
    const lost = await before.newMerchant()
    for (let n = 0; n < 3; n++)
      payloadOf(await (await before.as(kept)).post('/api/v0/qr-code', { qrName: 'lost' }))
    await before.close()
    const { segment } = (await primary.run('select pg_walfile_name(pg_current_wal_lsn()) as segment'))!
    await bash(switchLog!)
    const isArchived = `select last_archived_wal >= '${String(segment)}' as done from pg_stat_archiver`
    await expect.poll(async () => (await primary.run(isArchived))?.['done'], { timeout: 20_000 }).toBe(true)

    // The recovered server gets addresses of its own on this machine.
    const port = await freePort()
    const own = `port = ${port}\nunix_socket_directories = '${primary.host}'\narchive_mode = off\n`
    await appendFile(join(folder, 'base', 'postgresql.auto.conf'), own)
    const moment = choose!.replace(/'.*'/, `'${String(now)}'`)
    onTestFinished(async () => void (await bash(`pg_ctl --pgdata=${folder}/recovered --mode=immediate stop`)))
    await bash(`${moment}\n${fromSlowArchive(recover!)}`, { PGPORT: String(port) })

    const url = `postgresql://postgres@localhost/svc?host=${encodeURIComponent(primary.host)}&port=${port}`
    const after = await openService({ db: { host: primary.host, port, database: 'svc', url } })
    onTestFinished(() => after.close())
    const client = await after.as(kept)
    const found = payloadOf(await client.post('/api/v0/qr-code/search', {}))
    expect(found.data.map(({ qrName }: { qrName: string }) => qrName)).toEqual(['kept'])
    const token = await after.client.post('/api/v0/merchant/token', undefined, { 'api-key': lost.apiKey })
    expect(token.status).toBe(401)
    expect((await client.get('/api/v0/events?after=4')).error).toBe('events_ahead')
    expect((await reconcileAll(after.app.services.database)).ok).toBe(true)
  },
)
