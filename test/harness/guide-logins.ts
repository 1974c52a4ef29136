import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openEmbedded } from '@svc/embedded-postgres/embedded'
import pg from 'pg'
import { freePort } from './free-port.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Passwords count: nobody enters over TCP without. */
const HBA = 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n'
export interface GuideServer {
  /** What the guide's lines leave in the environment of their shell. */
  readonly env: Readonly<Record<string, string>>
  /** Statements of the superuser. */
  readonly admin: (text: string) => Promise<pg.QueryResult>
  close(): Promise<void>
}

/** The code blocks under a heading of the guide, in one language. */
async function blocks(language: string, heading: string): Promise<string[]> {
  const text = await readFile(join(ROOT, 'docs/guides/operate.md'), 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  return [...section.matchAll(/^```(\w+)\n(.*?)^```\n/gms)]
    .filter(([, of]) => of === language)
    .map(([, , code = '']) => code)
}

/** The statements by which the guide creates roles, logins and the database. */
export const guideStatements = async (): Promise<string[]> =>
  (await blocks('sql', 'PostgreSQL')).flatMap((block) => block.split(';\n').filter(Boolean))

/** A PostgreSQL server set up by the SQL and the lines of the guide, as they are printed. */
export async function openGuideServer(settings: Record<string, string> = {}): Promise<GuideServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-guide-'))
  await chmod(dataDir, 0o711)
  const hba = join(dataDir, 'pg_hba.conf')
  await writeFile(hba, HBA, { mode: 0o644 })
  const tcp = { listen_addresses: '127.0.0.1', port: String(await freePort()), hba_file: hba }
  const server = await openEmbedded({ dataDir, settings: { ...tcp, ...settings } })
  const { host, port } = server
  const superuser = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await superuser.connect()
  const close = async () => {
    await superuser.end()
    await server.release()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    for (const statement of await guideStatements()) await superuser.query(statement)
    const [setUp = ''] = await blocks('sh', 'PostgreSQL')
    const { PATH = '', HOME = '' } = process.env
    const options = { cwd: ROOT, env: { PATH, HOME, PGPORT: String(port) } }
    const file = join(dataDir, 'env')
    const script = `${setUp}\nenv -0 > ${file}`
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options)
    const lines = (await readFile(file, 'utf8')).split('\0').filter((line) => /^(?:DATABASE|SVC)_/.test(line))
    // The guide's server listens on the usual port, this one on another.
    const values = lines.map((line) => line.replace('@127.0.0.1/', `@127.0.0.1:${port}/`).split(/=(.*)/s))
    const env = Object.fromEntries(values.map(([name, value]) => [name, value]))
    return { env: { ...env, DATA_DIR: join(dataDir, 'data') }, admin: (text) => superuser.query(text), close }
  } catch (error) {
    await close()
    throw error
  }
}
