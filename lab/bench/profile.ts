import { readFile } from 'node:fs/promises'
import { PEER, SVC } from './against-peer.ts'
import type { Side } from './bed.ts'
import { cpuProfile, type Shares } from './cpu-profile.ts'
import { closedLoop, type Load } from './load.ts'
import type { Pair } from './pair.ts'
import { PEER_OPERATIONS, type PeerOperation, prepareSide } from './peer-operations.ts'
import { cpuMicros, familyOf } from './server-process.ts'

/** Where the time of the machine goes while one server is sent as much as it takes. Cores; they add up to those there are. */
export interface Cores {
  readonly perSecond: number
  readonly callers: number
  readonly service: number
  readonly postgres: number
  /** Of the kernel, and of everything else that runs here. */
  readonly others: number
  /** Nothing to do before the disk has written. */
  readonly disk: number
  readonly idle: number
}

/** Of PostgreSQL's statements, by name. */
export interface Statement {
  readonly name: string
  /** A request. */
  readonly calls: number
  readonly micros: number
}

export interface Profiled {
  readonly id: string
  readonly title: string
  readonly aim: number
  readonly svc: Cores
  readonly peer: Cores
  /** Of the service's busy time. */
  readonly shares: Shares
  readonly statements: readonly Statement[]
}

/** Seconds of all cores since the machine's start. Linux counts a hundred a second. */
async function machineSeconds() {
  const [, ...ticks] = (await readFile('/proc/stat', 'latin1')).split('\n')[0]!.split(/ +/).map(Number)
  const [user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, soft = 0, steal = 0] = ticks
  return { busy: (user + nice + system + irq + soft + steal) / 100, idle: idle / 100, disk: disk / 100 }
}

async function coresOf({ service, postmasterPid }: Side, load: Load, callers: number, seconds: number) {
  const postgres = await familyOf(postmasterPid)
  const measure = async () => ({
    ...(await machineSeconds()),
    callers: process.cpuUsage(),
    service: (await cpuMicros([service.pid])) / 1e6,
    postgres: (await cpuMicros(postgres)) / 1e6,
    atMs: performance.now(),
  })
  const before = await measure()
  const { perSecond } = await closedLoop(load, callers, seconds)
  const after = await measure()
  const took = (after.atMs - before.atMs) / 1_000
  const { user, system } = process.cpuUsage(before.callers)
  const own = (user + system) / 1e6 / took
  const each = (key: 'busy' | 'idle' | 'disk' | 'service' | 'postgres') => (after[key] - before[key]) / took
  const [served, stored] = [each('service'), each('postgres')]
  const others = Math.max(0, each('busy') - own - served - stored)
  const cores = { callers: own, service: served, postgres: stored, others }
  return { perSecond, ...cores, disk: each('disk'), idle: each('idle') } satisfies Cores
}

const STATEMENTS = `select query as text, calls::float8 as calls, total_exec_time as ms from pg_stat_statements
  where dbid = (select oid from pg_database where datname = current_database()) order by total_exec_time desc limit 8`

/** The beginning of a statement, without the names that the service gave its parameters. */
const shortened = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '').slice(0, 60).trim()

async function statementsOf({ admin }: Side, work: () => Promise<{ readonly requests: number }>) {
  await admin.query('select pg_stat_statements_reset()')
  const { requests } = await work()
  const { rows } = await admin.query<{ text: string; calls: number; ms: number }>(STATEMENTS)
  return rows.map(({ text, calls, ms }) => ({
    name: shortened(text),
    calls: calls / requests,
    micros: (ms * 1_000) / requests,
  }))
}

export interface ProfileSetting {
  readonly callers: number
  readonly seconds: number
  readonly only: readonly string[] | undefined
  readonly progress: (text: string) => void
}

async function profileOf(operation: PeerOperation, pair: Pair, setting: ProfileSetting): Promise<Profiled> {
  const { callers, seconds, progress } = setting
  const { id, title, aim } = operation
  const { svc, peer } = pair
  const loaded = async (side: Side, least = seconds) => {
    await prepareSide(operation, side)
    return operation.load(pair, side, least)
  }
  const cores: Cores[] = []
  for (const [name, side] of [
    [SVC, svc],
    [PEER, peer],
  ] as const) {
    progress(`${title}: ${name}`)
    await closedLoop(await loaded(side, WARM_SECONDS), callers, WARM_SECONDS)
    cores.push(await coresOf(side, await loaded(side), callers, seconds))
  }
  progress(`${title}: statements`)
  const load = await loaded(svc)
  const statements = await statementsOf(svc, () => closedLoop(load, callers, seconds))
  progress(`${title}: profile`)
  const profiled = await loaded(svc)
  const shares = await cpuProfile(svc.service.pid, pair.inspectorPort, () =>
    closedLoop(profiled, callers, seconds),
  )
  return { id, title, aim, svc: cores[0]!, peer: cores[1]!, shares, statements }
}

const WARM_SECONDS = 6

/**
 * What the ratio to the peer would be if no core were ever idle: the processor time of a request, the callers' included,
 * against the peer's.
 */
export function ceiling({ svc, peer }: Pick<Profiled, 'svc' | 'peer'>): number {
  const each = ({ perSecond, callers, service, postgres, others }: Cores) =>
    (callers + service + postgres + others) / perSecond
  return each(peer) / each(svc)
}

/** `npm run bench -- --profile`: where the time of each operation goes, at 64 callers. */
export async function measureProfiles(pair: Pair, setting: ProfileSetting): Promise<Profiled[]> {
  await pair.svc.admin.query('create extension if not exists pg_stat_statements')
  const profiles: Profiled[] = []
  for (const operation of PEER_OPERATIONS.filter(({ id }) => !setting.only || setting.only.includes(id))) {
    const profiled = await profileOf(operation, pair, setting)
    profiles.push(profiled)
    setting.progress('')
    showProfile(profiled)
  }
  return profiles
}

/** The parts of the machine's time, as they are shown. */
export const CORES = ['callers', 'service', 'postgres', 'others', 'disk', 'idle'] as const

function showProfile(profiled: Profiled): void {
  const { title, svc, peer, shares, statements } = profiled
  const ratio = svc.perSecond / peer.perSecond
  console.log(`\n${title}: ${ratio.toFixed(2)} ×, with no idle core ${ceiling(profiled).toFixed(2)} ×`)
  for (const [name, cores] of [
    [SVC, svc],
    [PEER, peer],
  ] as const)
    console.log(
      `  ${name}, ${Math.round(cores.perSecond)}/s: ${CORES.map((part) => `${part} ${cores[part].toFixed(2)}`).join(', ')}`,
    )
  for (const [part, share] of shares) console.log(`  ${(share * 100).toFixed(1).padStart(5)} % ${part}`)
  for (const { name, calls, micros } of statements)
    console.log(`  ${micros.toFixed(1).padStart(7)} µs, ${calls.toFixed(3)} calls a request: ${name}`)
}
