import { PEER, SVC } from './against-peer.ts'
import type { Side } from './bed.ts'
import { busyCores, CORES, type Cores, whileCounting } from './cores.ts'
import { cpuProfile, type Shares } from './cpu-profile.ts'
import { closedLoop, type Load } from './load.ts'
import type { Pair } from './pair.ts'
import { operationsOf, type PeerOperation, prepareSide } from './peer-operations.ts'
import { descendantsOf } from './server-process.ts'

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
  readonly svc: Work
  readonly peer: Work
  /** Of the service's busy time. */
  readonly shares: Shares
  readonly statements: readonly Statement[]
}

/** What a server gets done, and what that takes of the machine. */
export interface Work extends Cores {
  readonly perSecond: number
}

async function workOf({ service, postmasterPid }: Side, load: Load, callers: number, seconds: number) {
  const parts = { service: [service.pid], postgres: await descendantsOf(postmasterPid) }
  const { result, cores } = await whileCounting(parts, () => closedLoop(load, callers, seconds))
  if (!cores) throw new Error('There is no /proc: profiles need Linux.')
  return { perSecond: result.perSecond, ...cores } satisfies Work
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
  const work: Work[] = []
  for (const [name, side] of [
    [SVC, svc],
    [PEER, peer],
  ] as const) {
    progress(`${title}: ${name}`)
    await closedLoop(await loaded(side, WARM_SECONDS), callers, WARM_SECONDS)
    work.push(await workOf(side, await loaded(side), callers, seconds))
  }
  progress(`${title}: statements`)
  const load = await loaded(svc)
  const statements = await statementsOf(svc, () => closedLoop(load, callers, seconds))
  progress(`${title}: profile`)
  const profiled = await loaded(svc)
  const shares = await cpuProfile(svc.service.pid, pair.inspectorPort, () =>
    closedLoop(profiled, callers, seconds),
  )
  return { id, title, aim, svc: work[0]!, peer: work[1]!, shares, statements }
}

const WARM_SECONDS = 6

/**
 * What the ratio to the peer would be if no core were ever idle: the processor time of a request, the callers' included,
 * against the peer's.
 */
export function ceiling({ svc, peer }: Pick<Profiled, 'svc' | 'peer'>): number {
  const each = (work: Work) => busyCores(work) / work.perSecond
  return each(peer) / each(svc)
}

/** `npm run bench -- --profile`: where the time of each operation goes, at 64 callers. */
export async function measureProfiles(pair: Pair, setting: ProfileSetting): Promise<Profiled[]> {
  await pair.svc.admin.query('create extension if not exists pg_stat_statements')
  const profiles: Profiled[] = []
  for (const operation of operationsOf(setting.only)) {
    const profiled = await profileOf(operation, pair, setting)
    profiles.push(profiled)
    setting.progress('')
    showProfile(profiled)
  }
  return profiles
}

function showProfile(profiled: Profiled): void {
  const { title, svc, peer, shares, statements } = profiled
  const ratio = svc.perSecond / peer.perSecond
  console.log(`\n${title}: ${ratio.toFixed(2)} ×, with no idle core ${ceiling(profiled).toFixed(2)} ×`)
  for (const [name, work] of [
    [SVC, svc],
    [PEER, peer],
  ] as const)
    console.log(
      `  ${name}, ${Math.round(work.perSecond)}/s: ${CORES.map((part) => `${part} ${work[part].toFixed(2)}`).join(', ')}`,
    )
  for (const [part, share] of shares) console.log(`  ${(share * 100).toFixed(1).padStart(5)} % ${part}`)
  for (const { name, calls, micros } of statements)
    console.log(`  ${micros.toFixed(1).padStart(7)} µs, ${calls.toFixed(3)} calls a request: ${name}`)
}
