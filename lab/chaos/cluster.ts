import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connectionOptions } from '@svc/platform/db/connection-options'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import pg from 'pg'
import type { Server } from './bed.ts'

const run = promisify(execFile)
const NODES = [1, 2, 3] as const
export type Node = (typeof NODES)[number]
type Deed = 'start' | 'kill' | 'freeze' | 'thaw' | 'cut' | 'heal'

const QUERY_MS = 5_000
const PROBE_MS = 2_000
const PROBE_EVERY_MS = 100
/** Written through to a standby, as what callers are told is. */
const PROBE = 'insert into lab_probe default values'

/** Why no cluster can be started here. */
function impossible(): string | undefined {
  const folder = process.env['SVC_ENGINES']
  if (!folder) return 'SVC_ENGINES is not set; see npm run chaos -- --help'
  const missing = ['up.sh', 'node.sh', 'down.sh'].find((script) => !existsSync(join(folder, script)))
  if (missing) return `SVC_ENGINES names a folder without ${missing}`
  return process.getuid?.() === 0 ? undefined : 'network namespaces need root'
}

/** Three PostgreSQL nodes under Patroni, each in a network namespace of its own, with etcd apart and HAProxy in front. */
export class Cluster implements Server {
  readonly #scripts: string
  readonly #parent: string
  readonly #directory: string
  readonly #network: string
  /** Of HAProxy's port that leads to the primary. */
  readonly port: number
  #passages: ChildProcess | undefined

  private constructor(scripts: string, parent: string) {
    this.#scripts = scripts
    this.#parent = parent
    this.#directory = join(parent, 'cluster')
    const text = readFileSync(join(this.#directory, 'env'), 'utf8')
    const of = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? ''
    this.#network = of('NETNS')
    this.port = Number(of('PORT'))
    process.once('exit', this.#endWithUs)
  }

  static async open(): Promise<Cluster> {
    const why = impossible()
    if (why) throw new Error(`no cluster can be started: ${why}`)
    const scripts = process.env['SVC_ENGINES']!
    const parent = await mkdtemp(join(tmpdir(), 'svc-failover-'))
    await chmod(parent, 0o755)
    await run(join(scripts, 'up.sh'), [join(parent, 'cluster')], { env: { ...process.env, HA_NETNS: '1' } })
    const cluster = new Cluster(scripts, parent)
    await cluster.#openPassages()
    const client = await cluster.connect('postgres')
    await client.query('create table lab_probe (at timestamptz not null default now())')
    await client.end()
    return cluster
  }

  /**
   * The nodes are in namespaces of their own: a socket on this side leads to each of them, and takes no part in what
   * happens to it. Where a node is off the network, nothing comes from its socket.
   */
  async #openPassages(): Promise<void> {
    const lines = [
      'defaults',
      '  mode tcp',
      '  timeout connect 2s',
      '  timeout client 30m',
      '  timeout server 30m',
    ]
    for (const node of NODES) {
      await mkdir(this.#folderOf(node), { mode: 0o755 })
      lines.push(`listen node${node}`, `  bind unix@${this.#folderOf(node)}/.s.PGSQL.5432 mode 666`)
      lines.push(`  server s 10.99.0.1${node}:5432`)
    }
    const file = join(this.#parent, 'passages.cfg')
    await writeFile(file, `${lines.join('\n')}\n`)
    const args = ['netns', 'exec', this.#network, 'haproxy', '-db', '-f', file]
    this.#passages = spawn('ip', args, { stdio: 'ignore' })
    const open = () => NODES.every((node) => existsSync(join(this.#folderOf(node), '.s.PGSQL.5432')))
    for (let n = 0; !open(); n++, await sleep(50)) if (n > 200) throw new Error('HAProxy did not start')
  }

  #folderOf = (node: Node): string => join(this.#parent, `node${node}`)

  /** A connection URL that names all nodes. */
  urlOf(login: string, database: string): string {
    const hosts = encodeURIComponent(NODES.map(this.#folderOf).join(','))
    return `postgresql://${login}@localhost/${database}?host=${hosts}&target_session_attrs=read-write`
  }

  async connect(database = 'svc'): Promise<pg.Client> {
    const url = `${this.urlOf('postgres:postgres', database)}&options=${encodeURIComponent('-c search_path=svc,public')}`
    const options = { ...connectionOptions({ url }, undefined), query_timeout: QUERY_MS }
    const client = new DatabaseClient(options)
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** A statement at the primary; tried again while there is none. */
  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    for (;;) {
      const client = await this.connect().catch(() => undefined)
      try {
        if (client) return (await client.query<Row>(text, values)).rows
      } catch (error) {
        if (error instanceof pg.DatabaseError && !/^(?:57|53|58)/.test(error.code ?? '')) throw error
      } finally {
        // Not waited for: the node may be off the network.
        client?.end().catch(() => undefined)
      }
      await sleep(100)
    }
  }

  async #script(name: string, ...args: readonly string[]): Promise<string> {
    return (await run(join(this.#scripts, name), [this.#directory, ...args])).stdout.trim()
  }

  async primary(): Promise<Node> {
    for (;;) {
      const number = await this.#script('node.sh', 'primary').then(Number, () => 0)
      const node = NODES.find((each) => each === number)
      if (node) return node
      await sleep(200)
    }
  }

  async do(node: Node, deed: Deed): Promise<void> {
    await this.#script('node.sh', String(node), deed)
  }

  /** An orderly one, by Patroni's REST interface. */
  async switchover(primary: Node): Promise<void> {
    const url = `http://10.99.0.1${primary}:8008/switchover`
    const curl = ['curl', '-fsS', '-d', JSON.stringify({ leader: `node${primary}` }), url]
    await run('ip', ['netns', 'exec', this.#network, ...curl])
  }

  /** Resolves when there is a primary and both standbys may be promoted. */
  async whole(): Promise<void> {
    await this.#script('node.sh', 'wait')
  }

  /** What keeps the nodes in agreement says nothing, or goes on. */
  etcd(signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(Number(readFileSync(join(this.#directory, 'etcd.pid'), 'utf8')), signal)
  }

  /** Resolves, with `performance.now()` time, when a node other than this one accepts writes. */
  async acceptsWrites(except: Node | undefined, withinMs: number): Promise<number | undefined> {
    const endMs = performance.now() + withinMs
    const nodes = NODES.filter((node) => node !== except)
    let foundMs: number | undefined
    const watch = async (node: Node) => {
      for (; foundMs === undefined && performance.now() < endMs; await sleep(PROBE_EVERY_MS))
        if (await this.#writes(node)) foundMs ??= performance.now()
    }
    await Promise.all(nodes.map(watch))
    return foundMs
  }

  async #writes(node: Node): Promise<boolean> {
    const client = new pg.Client({
      host: this.#folderOf(node),
      port: 5432,
      user: 'postgres',
      password: 'postgres',
      database: 'postgres',
      connectionTimeoutMillis: PROBE_MS,
      query_timeout: PROBE_MS,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query(PROBE)
      return true
    } catch {
      return false
    } finally {
      client.end().catch(() => undefined)
    }
  }

  /** A run that breaks down leaves nothing behind. */
  readonly #endWithUs = (): void => {
    this.#passages?.kill('SIGKILL')
    execFileSync(join(this.#scripts, 'down.sh'), [this.#directory], { stdio: 'ignore' })
  }

  async close(): Promise<void> {
    process.off('exit', this.#endWithUs)
    this.#endWithUs()
    await rm(this.#parent, { recursive: true, force: true })
  }
}
