import { type Cores, meanCores, whileCounting } from './cores.ts'
import { closedLoop, type Latency, type Load, openLoop } from './load.ts'
import { cpuMicros, descendantsOf } from './server-process.ts'

/** One of those that are measured beside each other. */
export interface Contender {
  readonly name: string
  /** What is counted: a request, a transaction, a row. */
  readonly unit?: string
  /** Processes whose CPU time is counted for it; their children too. */
  readonly pids?: readonly number[]
  /** The first of them is a server, all of whose requests pass one thread. */
  readonly isServer?: boolean
  /** One phase; answers how many were done, and in what time; and how many more, where not all of it counts. */
  run(phase: Phase): Promise<{ readonly done: number; readonly seconds: number; readonly inAll?: number }>
  /** Given for servers: latency at 70 % of the rate that was measured. */
  readonly load?: () => Promise<Load> | Load
}

export interface Phase {
  readonly callers: number
  readonly seconds: number
}

export interface Figure {
  readonly contender: string
  readonly callers: number
  readonly unit: string
  /** Of the rounds, in order. */
  readonly perSecond: readonly number[]
  readonly cpuMicros: readonly number[]
  /** Of the machine, on average; of servers. */
  readonly cores?: Cores
  readonly latencyMs?: Latency
}

/** In which a server's code is compiled for what it does most, its caches fill, and its statements are planned. */
const WARM_SECONDS = 6
/** For the others; pgbench counts none of its first seconds in any phase. */
const WARM_SECONDS_OTHERS = 1

export const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!

/** A contender that answers HTTP requests, made anew for each phase. */
export const httpContender = (
  name: string,
  pids: readonly number[],
  load: () => Promise<Load> | Load,
): Contender => ({
  name,
  unit: 'requests',
  pids,
  isServer: true,
  load,
  async run({ callers, seconds }) {
    const made = await load()
    const startMs = performance.now()
    const { requests } = await closedLoop(made, callers, seconds)
    return { done: requests, seconds: (performance.now() - startMs) / 1_000 }
  },
})

export interface Contest {
  readonly contenders: readonly Contender[]
  readonly callers: readonly number[]
  readonly rounds: number
  readonly seconds: number
  /** Before each phase, so that none pays for the one before. */
  readonly prepare?: (contender: Contender) => Promise<void>
  /** Latency of all at half the slowest one's rate, in each round, rather than at 70 % of each one's own, once. */
  readonly sameRate?: boolean
  readonly progress: (text: string) => void
}

/** What the rounds found of one contender. */
interface Found {
  readonly perSecond: number[]
  readonly cpuMicros: number[]
  readonly cores: Cores[]
  readonly latencies: Latency[]
}

/** A B A B …: every round runs every contender, so that a noisy machine is noisy for all. Medians count. */
export async function contest(setting: Contest): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const callers of setting.callers) {
    const found = new Map<Contender, Found>(
      setting.contenders.map((contender) => [
        contender,
        { perSecond: [], cpuMicros: [], cores: [], latencies: [] },
      ]),
    )
    await measureRates(setting, callers, found)
    await measureLatencies(setting, callers, found)
    for (const [contender, of] of found) figures.push(figureOf(contender, callers, of))
  }
  return figures
}

async function measureRates(
  { rounds, seconds, prepare, progress }: Contest,
  callers: number,
  found: ReadonlyMap<Contender, Found>,
): Promise<void> {
  for (const contender of found.keys()) {
    await prepare?.(contender)
    await contender.run({ callers, seconds: contender.load ? WARM_SECONDS : WARM_SECONDS_OTHERS })
  }
  for (let round = 1; round <= rounds; round++) {
    for (const [contender, { perSecond, cpuMicros, cores }] of found) {
      await prepare?.(contender)
      progress(`${callers} callers, round ${round} of ${rounds}: ${contender.name}`)
      const measured = await timed(contender, { callers, seconds })
      perSecond.push(measured.perSecond)
      cpuMicros.push(measured.cpuMicros)
      if (measured.cores) cores.push(measured.cores)
    }
  }
}

async function measureLatencies(
  { rounds, seconds, prepare, sameRate, progress }: Contest,
  callers: number,
  found: ReadonlyMap<Contender, Found>,
): Promise<void> {
  const slowest = Math.min(...[...found.values()].map(({ perSecond }) => median(perSecond)))
  // Where contenders are compared by it they take turns for this too.
  for (let round = 1; round <= (sameRate ? rounds : 1); round++) {
    for (const [contender, { perSecond, latencies }] of found) {
      if (!contender.load) continue
      progress(`${callers} callers, latency: ${contender.name}`)
      await prepare?.(contender)
      const rate = sameRate ? 0.5 * slowest : 0.7 * median(perSecond)
      latencies.push(await openLoop(await contender.load(), callers, rate, Math.min(3, seconds)))
    }
  }
}

export const medianLatency = (latencies: readonly Latency[]): Latency => ({
  p50: median(latencies.map(({ p50 }) => p50)),
  p99: median(latencies.map(({ p99 }) => p99)),
  p999: median(latencies.map(({ p999 }) => p999)),
})

const figureOf = (
  { name, unit = 'requests' }: Contender,
  callers: number,
  { perSecond, cpuMicros, cores, latencies }: Found,
): Figure => ({
  contender: name,
  callers,
  unit,
  perSecond,
  cpuMicros,
  ...(cores.length > 0 && { cores: meanCores(cores) }),
  ...(latencies.length > 0 && { latencyMs: medianLatency(latencies) }),
})

async function timed({ pids = [], isServer, run }: Contender, phase: Phase) {
  const trees = await Promise.all(pids.map(descendantsOf))
  const [server = [], ...others] = isServer ? trees : [[], ...trees]
  const before = await cpuMicros(trees.flat())
  const parts = { service: server, postgres: others.flat() }
  const { result, cores } = await whileCounting(parts, () => run(phase))
  const { done, seconds, inAll = done } = result
  const micros = ((await cpuMicros(trees.flat())) - before) / Math.max(1, inAll)
  return { perSecond: done / seconds, cpuMicros: micros, cores: isServer ? cores : undefined }
}
