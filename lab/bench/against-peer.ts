import type { Side } from './bed.ts'
import { contest, httpContender, medianLatency } from './contest.ts'
import { type Cores, meanCores, whileCounting } from './cores.ts'
import { closedLoop, type Latency, openLoop } from './load.ts'
import type { Pair } from './pair.ts'
import { operationsOf, prepareSide } from './peer-operations.ts'
import { type Measured, showMeasure } from './report.ts'
import { descendantsOf, residentMb } from './server-process.ts'
import { WAITS, type Waits, waitsOf } from './waits.ts'

export const SVC = 'svc'
export const PEER = 'hand-written peer'

export interface PeerSetting {
  readonly callers: number
  readonly rounds: number
  readonly seconds: number
  /** Ids of operations; all by default. */
  readonly only: readonly string[] | undefined
  readonly progress: (text: string) => void
}

/** `npm run bench -- --peer`: rate, CPU, memory, and latency of both at half the slower one's rate. */
export async function measurePeer(pair: Pair, setting: PeerSetting): Promise<Measured[]> {
  const sides = new Map([
    [SVC, pair.svc],
    [PEER, pair.peer],
  ])
  const measured: Measured[] = []
  for (const operation of operationsOf(setting.only)) {
    const { id, title, aim } = operation
    const contenders = [...sides].map(([name, side]) =>
      httpContender(name, [side.service.pid, side.postmasterPid], () =>
        operation.load(pair, side, Math.max(setting.seconds, WARM_SECONDS)),
      ),
    )
    const figures = await contest({
      contenders,
      callers: [setting.callers],
      rounds: setting.rounds,
      seconds: setting.seconds,
      sameRate: true,
      prepare: ({ name }) => prepareSide(operation, sides.get(name) ?? pair.svc),
      progress: (text) => setting.progress(`${title}: ${text}`),
    })
    const notes = []
    for (const [name, side] of sides) {
      const value = await residentMb(side.service.pid)
      if (value !== undefined) notes.push({ name: `${name}: memory afterwards`, value, unit: 'MB' })
    }
    measured.push({ id, title, figures, comparisons: [{ of: SVC, to: PEER, aim }], notes })
    setting.progress('')
    showMeasure(measured[measured.length - 1] as Measured)
  }
  return measured
}

/** Contenders warm up for this long, at full speed. */
const WARM_SECONDS = 6
/** Of the peer's maximum. */
const SHARES = [0.25, 0.5, 0.75] as const

export interface TailPoint {
  readonly share: number
  readonly perSecond: number
  readonly svc: Latency
  readonly peer: Latency
  /** Of the machine while each is sent that rate. */
  readonly cores?: { readonly svc: Cores; readonly peer: Cores }
}

export interface Tail {
  readonly id: string
  readonly title: string
  /** Requests a second of the peer, as fast as it could. */
  readonly peerMax: number
  readonly points: readonly TailPoint[]
  /** At the highest of the rates. */
  readonly waits?: { readonly svc: Waits; readonly peer: Waits }
}

/**
 * `npm run bench -- --tail`: arrivals at fixed times, latency from the intended arrival, at shares of the rate that the
 * peer reaches at most. Both get the same rates, in turn.
 */
export async function measureTail(pair: Pair, setting: PeerSetting): Promise<Tail[]> {
  const tails: Tail[] = []
  for (const operation of operationsOf(setting.only)) {
    const { id, title } = operation
    const full = async (side: Side) => {
      await prepareSide(operation, side)
      setting.progress(`${title}: warming up`)
      const load = await operation.load(pair, side, WARM_SECONDS)
      return (await closedLoop(load, setting.callers, WARM_SECONDS)).perSecond
    }
    await full(pair.svc)
    await full(pair.peer)
    const peerMax = await full(pair.peer)
    const points: TailPoint[] = []
    for (const share of SHARES) {
      const perSecond = share * peerMax
      const latencies = { svc: [] as Latency[], peer: [] as Latency[] }
      const cores = { svc: [] as Cores[], peer: [] as Cores[] }
      for (let round = 1; round <= setting.rounds; round++)
        for (const name of ['svc', 'peer'] as const) {
          const side = pair[name]
          await prepareSide(operation, side)
          setting.progress(`${title}: ${share * 100} %, round ${round} of ${setting.rounds}: ${name}`)
          const load = await operation.load(pair, side, setting.seconds)
          const counted = await whileCounting(
            { service: [side.service.pid], postgres: await descendantsOf(side.postmasterPid) },
            () => openLoop(load, setting.callers, perSecond, setting.seconds),
          )
          latencies[name].push(counted.result)
          if (counted.cores) cores[name].push(counted.cores)
        }
      points.push({
        share,
        perSecond,
        svc: medianLatency(latencies.svc),
        peer: medianLatency(latencies.peer),
        ...(cores.svc.length > 0 && { cores: { svc: meanCores(cores.svc), peer: meanCores(cores.peer) } }),
      })
    }
    const waits = async (name: 'svc' | 'peer') => {
      const side = pair[name]
      await prepareSide(operation, side)
      setting.progress(`${title}: what ${name} waits for`)
      const seconds = setting.rounds * setting.seconds
      const load = await operation.load(pair, side, seconds)
      const perSecond = peerMax * SHARES[SHARES.length - 1]!
      return waitsOf(side, load, { callers: setting.callers, perSecond, seconds })
    }
    tails.push({ id, title, peerMax, points, waits: { svc: await waits('svc'), peer: await waits('peer') } })
    setting.progress('')
    showTail(tails[tails.length - 1] as Tail)
  }
  return tails
}

const ms = (value: number): string => (value >= 10 ? value.toFixed(0) : value.toFixed(1))
export const percentiles = ({ p50, p99, p999 }: Latency): string => [p50, p99, p999].map(ms).join(' / ')

export const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

function showTail({ title, peerMax, points, waits }: Tail): void {
  console.log(`\n${title}: the peer's maximum is ${Math.round(peerMax)} requests/s`)
  for (const { share, perSecond, svc, peer } of points)
    console.log(
      `  ${share * 100} %, ${Math.round(perSecond)}/s   ${SVC}: ${percentiles(svc)} ms   ${PEER}: ${percentiles(peer)} ms`,
    )
  if (!waits) return
  console.log(`  the slowest hundredth at ${SHARES.at(-1)! * 100} % waited for (${SVC}, ${PEER}):`)
  for (const wait of WAITS)
    console.log(`  ${percent(waits.svc[wait]).padStart(6)} ${percent(waits.peer[wait]).padStart(6)}  ${wait}`)
}
