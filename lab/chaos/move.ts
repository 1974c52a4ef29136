import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { acknowledgedMore } from './acknowledged-more.ts'
import { type AnyBed, type BedOptions, inOperatorsName, loginUrls, makeLogins, makeTenants } from './bed.ts'
import type { Fault, Outcome, Trial } from './faults.ts'
import { makePlace } from './file-system.ts'
import { type Environment, Member, only, programOf, ROOT, svc } from './members.ts'
import { Receiver } from './receiver.ts'
import { type Cell, Router, routerPorts } from './router.ts'
import { DatabaseServer } from './server.ts'

/** The run of moves between cells, by its name in `--only`. */
export const MOVE = 'move'

/** Promise N9: callers of a tenant wait no longer than this for an acknowledgement. */
const PAUSE_MS_MAX = 2_000
const LOGICAL = { wal_level: 'logical', max_replication_slots: '40', max_active_replication_origins: '40' }
const RANGES = { a: '99991201', b: '99991301' } as const
const CELLS = ['a', 'b'] as const

/** Two cells behind HAProxy, as `docs/guides/cells.md` sets them up. */
export interface MoveBed extends AnyBed {
  readonly servers: Readonly<Record<Cell, DatabaseServer>>
  readonly ofCell: Readonly<Record<Cell, readonly Member[]>>
  readonly router: Router
  /** Where each tenant that may move lives. */
  readonly homes: Map<string, Cell>
  /** Settings of the command line in a cell. */
  readonly settings: Readonly<Record<Cell, Environment>>
}

/** The rows of both databases together: what moves is in one of them. */
const both = (servers: Readonly<Record<Cell, DatabaseServer>>): AnyBed['server'] => ({
  connect: (database) => servers.a.connect(database),
  async query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> {
    const rows = await Promise.all(CELLS.map((cell) => servers[cell].query<Row>(text, values)))
    return rows.flat()
  },
})

/** What commands and processes of each cell are started with. */
function environments(past: (cell: Cell, login: string) => string, ofProcesses: Environment) {
  const shared = {
    SVC_MODE: 'live',
    SVC_MASTER_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    APPROVAL_ABOVE_RUPEES: 'none',
    PUBLIC_URL: 'https://svc.example.com',
  }
  const urlsOf = (cell: Cell) => loginUrls((login) => past(cell, login))
  const settingsOf = (cell: Cell): Environment => ({
    ...shared,
    ...urlsOf(cell),
    DATABASE_OWNER_URL: past(cell, 'svc_migrator'),
    CELL_DATABASE_URLS: CELLS.map((each) => `${each}=${past(each, 'postgres')}`).join(' '),
  })
  return {
    settings: { a: settingsOf('a'), b: settingsOf('b') },
    servedBy: (cell: Cell): Environment => ({ ...shared, ...ofProcesses, ...urlsOf(cell) }),
  }
}

async function openServer(folder: string, undo: (() => Promise<unknown>)[]): Promise<DatabaseServer> {
  const server = await DatabaseServer.open(folder, LOGICAL)
  undo.push(() => server.close())
  await makeLogins(server)
  return server
}

type Tenants = Awaited<ReturnType<typeof makeTenants>>

const inFirstCell = ({ merchants, partner }: Tenants): Map<string, Cell> =>
  new Map([...merchants.map(({ merchantId }) => merchantId), partner.partnerId].map((id) => [id, 'a']))

/** By the commands of the guide: a first cell with its tenants, and a second one. */
async function makeCells(
  servers: Readonly<Record<Cell, DatabaseServer>>,
  settings: Readonly<Record<Cell, Environment>>,
  makeTenantsBy: (operate: AnyBed['operate']) => ReturnType<typeof makeTenants>,
) {
  for (const cell of CELLS) await svc(settings[cell], 'admin', 'migrate')
  await svc(settings.a, 'admin', 'cell', 'name', 'a', '--card-range', RANGES.a)
  const operate = await inOperatorsName(servers.a, settings.a)
  const tenants = await makeTenantsBy(operate)
  await svc(settings.b, 'admin', 'cell', 'create', 'b', '--from', 'a', '--card-range', RANGES.b)
  return { operate, operateB: await inOperatorsName(servers.b, settings.b), tenants }
}

export async function makeMoveBed({ processes, groups }: BedOptions): Promise<MoveBed> {
  const place = await makePlace()
  const undo: (() => Promise<unknown>)[] = [() => place.remove()]
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const servers = {
      a: await openServer(join(place.directory, 'a'), undo),
      b: await openServer(join(place.directory, 'b'), undo),
    }
    const past = (cell: Cell, login: string) => {
      const { host, port } = servers[cell]
      return `postgresql://${login}@localhost/svc?host=${encodeURIComponent(host)}&port=${port}`
    }
    const receiver = await Receiver.open(place.logs)
    undo.push(() => receiver.close())
    const ports = await routerPorts()
    const railKey = randomBytes(24).toString('hex')
    const { settings, servedBy } = environments(past, {
      UPI_RAIL_KEYS: railKey,
      CELL_URLS: `a=http://127.0.0.1:${ports.a} b=http://127.0.0.1:${ports.b}`,
      RATE_LIMIT_PER_SECOND: '0',
      NODE_EXTRA_CA_CERTS: receiver.certificate,
    })
    const { operate, operateB, tenants } = await makeCells(servers, settings, (of) =>
      makeTenants(of, servers.a, receiver, groups),
    )
    const members: Member[] = []
    undo.push(() => Promise.all(members.map((member) => member.stop())))
    const start = async (cell: Cell) => {
      const count = Math.max(2, Math.floor(processes / 2))
      for (let n = 0; n < count; n++)
        members.push(await Member.open(servedBy(cell), join(place.logs, `process-${cell}${n}`)))
      return members.slice(-count)
    }
    const ofCell = { a: await start('a'), b: await start('b') }
    const router = await Router.open(place.logs, ports, ofCell)
    undo.push(() => router.stop())
    return {
      ...tenants,
      server: both(servers),
      servers,
      members,
      ofCell,
      front: [router],
      router,
      receiver,
      railKey,
      homes: inFirstCell(tenants),
      settings,
      operate,
      alsoOperate: [operateB],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

type Disturb = (bed: MoveBed, from: Cell, to: Cell, mover: ChildProcess) => Promise<unknown>

/** What breaks while a tenant moves: each in turn, at a moment that is drawn. */
const DISTURBANCES: readonly (readonly [name: string, disturb: Disturb])[] = [
  ['nothing', async () => undefined],
  ['the mover', async (_bed, _from, _to, mover) => mover.kill('SIGKILL')],
  ['the database that it leaves', (bed, from) => bed.servers[from].kill()],
  ['a process of the cell that it leaves', ({ ofCell }, from) => ofCell[from][0]!.end('SIGKILL')],
  ['the router', ({ router }) => router.kill()],
  ['the database that it goes to', (bed, _from, to) => bed.servers[to].kill()],
  ['a process of the cell that it goes to', ({ ofCell }, _from, to) => ofCell[to][0]!.end('SIGKILL')],
]
/** Of these the promise of N9 does not hold for the pause: who kills a primary waits for it too. */
const IS_SLOW = new Set(['the database that it leaves', 'the database that it goes to'])
const TRIES_MAX = 20

interface Mover {
  readonly child: ChildProcess
  /** Lines of its progress, as they come. */
  readonly lines: string[]
  readonly ended: Promise<number | null>
}

function startMover({ router, settings }: MoveBed, tenantId: string, from: Cell, to: Cell): Mover {
  const routers = ['--router', router.socket, '--router-maps', router.maps, '--export', router.maps]
  const args = ['admin', 'tenant', 'move', tenantId, '--to', to, ...routers]
  const child = spawn(process.execPath, [programOf(ROOT), ...args], {
    env: only(settings[from]),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const lines: string[] = []
  createInterface(child.stderr).on('line', (line) => lines.push(line))
  return { child, lines, ended: once(child, 'close').then(([code]) => code as number | null) }
}

/** How long the mover says that it held the tenant, where it came to that in this call. */
function heldMs(lines: readonly string[]): Record<string, number> {
  const held = lines.map((line) => /^held for (\d+) ms; lives/.exec(line)?.[1]).find(Boolean)
  return held === undefined ? {} : { 'held ms': Number(held) }
}

let moved = 0

async function move({ bed, load, random }: Trial<MoveBed>): Promise<Outcome> {
  const [name, disturb] = DISTURBANCES[moved % DISTURBANCES.length]!
  const tenantId = [...bed.homes.keys()][moved % bed.homes.size]!
  moved++
  const from = bed.homes.get(tenantId)!
  const to = from === 'a' ? 'b' : 'a'
  load.record.forgetPauses()
  const beganMs = performance.now()
  let tries = 1
  let mover = startMover(bed, tenantId, from, to)
  // Most of a move is copying: half of the disturbances come when that is done, around the hold.
  const waitsForHold = random.next() < 0.5
  const isCopied = () => mover.lines.some((line) => /^(\d+) of \1 tables copied/.test(line))
  const untilMs = performance.now() + random.below(3_000)
  while (waitsForHold ? !isCopied() && mover.child.exitCode === null : performance.now() < untilMs)
    await sleep(5)
  await sleep(random.below(200))
  await disturb(bed, from, to, mover.child)
  let code = await mover.ended
  for (; code !== 0 && tries < TRIES_MAX; tries++) {
    await sleep(500)
    mover = startMover(bed, tenantId, from, to)
    code = await mover.ended
  }
  if (code !== 0) {
    const why = mover.lines.at(-1) ?? ''
    return { injected: 1, survived: 0, broken: [`a move was not finished after ${name} broke: ${why}`] }
  }
  bed.homes.set(tenantId, to)
  const tookMs = performance.now() - beganMs
  const goesOn = await acknowledgedMore({ load }, 20)
  const own = load.record.longestPauseOf(tenantId)
  const others = Math.max(
    0,
    ...[...bed.homes.keys()].filter((id) => id !== tenantId).map((id) => load.record.longestPauseOf(id)),
  )
  const isLate = !IS_SLOW.has(name) && own > PAUSE_MS_MAX
  return {
    injected: 1,
    survived: goesOn ? 1 : 0,
    figures: {
      [`${name} broke: move ms`]: tookMs,
      ...heldMs(mover.lines),
      [`${name} broke: pause of the tenant ms`]: own,
      [`${name} broke: pause of the others ms`]: others,
      'commands run': tries,
    },
    ...(isLate && { broken: [`callers waited ${Math.round(own)} ms while ${name} broke`] }),
  }
}

export const MOVE_FAULTS: readonly Fault<MoveBed>[] = [
  {
    name: MOVE,
    description:
      'a tenant moves to the other cell and back; the mover, databases, processes or the router are killed meanwhile',
    share: 14,
    inject: move,
  },
]
