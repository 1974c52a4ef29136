import { readFile } from 'node:fs/promises'
import { cpuMicros } from './server-process.ts'

/** Processors that are busy with each part while `work` lasts; they add up to those there are. */
export interface Cores {
  /** This process, which sends the requests. */
  readonly callers: number
  readonly service: number
  readonly postgres: number
  /** Of the kernel, and of everything else that runs here. */
  readonly others: number
  /** Nothing to do before the disk has written. */
  readonly disk: number
  readonly idle: number
}

/** The parts of the machine's time, as they are shown. */
export const CORES = ['callers', 'service', 'postgres', 'others', 'disk', 'idle'] as const

/** Whose time is told apart. */
export interface Parts {
  readonly service: readonly number[]
  readonly postgres: readonly number[]
}

/** Seconds of all cores since the machine's start. Linux counts a hundred a second. */
async function machineSeconds() {
  const text = await readFile('/proc/stat', 'latin1').catch(() => undefined)
  if (text === undefined) return undefined
  const [, ...ticks] = text.split('\n')[0]!.split(/ +/).map(Number)
  const [user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, soft = 0, steal = 0] = ticks
  return { busy: (user + nice + system + irq + soft + steal) / 100, idle: idle / 100, disk: disk / 100 }
}

async function measure({ service, postgres }: Parts) {
  return {
    machine: await machineSeconds(),
    callers: process.cpuUsage(),
    service: (await cpuMicros(service)) / 1e6,
    postgres: (await cpuMicros(postgres)) / 1e6,
    atMs: performance.now(),
  }
}

/** Where the time of the machine goes while `work` lasts; undefined where there is no /proc. */
export async function whileCounting<T>(
  parts: Parts,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly cores: Cores | undefined }> {
  const before = await measure(parts)
  const result = await work()
  const after = await measure(parts)
  if (!before.machine || !after.machine) return { result, cores: undefined }
  const took = (after.atMs - before.atMs) / 1_000
  const { user, system } = process.cpuUsage(before.callers)
  const callers = (user + system) / 1e6 / took
  const service = (after.service - before.service) / took
  const postgres = (after.postgres - before.postgres) / took
  const busy = (after.machine.busy - before.machine.busy) / took
  const others = Math.max(0, busy - callers - service - postgres)
  const disk = (after.machine.disk - before.machine.disk) / took
  const idle = (after.machine.idle - before.machine.idle) / took
  return { result, cores: { callers, service, postgres, others, disk, idle } }
}

export const meanCores = (all: readonly Cores[]): Cores =>
  Object.fromEntries(
    CORES.map((part) => [part, all.reduce((sum, cores) => sum + cores[part], 0) / all.length]),
  ) as unknown as Cores

/** Of all cores, those that have work. */
export const busyCores = ({ callers, service, postgres, others }: Cores): number =>
  callers + service + postgres + others

/**
 * How many times as much a server would do if no core were idle nor, since all its requests pass one thread, that thread,
 * nor for a single caller the one process of PostgreSQL: no order of work, nor more of it at once, gets beyond that while
 * a request costs what it costs.
 */
export function headroom(cores: Cores, callers: number): number {
  const all = busyCores(cores) + cores.disk + cores.idle
  const oneProcess = callers === 1 ? 1 / cores.postgres : Number.POSITIVE_INFINITY
  return Math.max(1, Math.min(all / busyCores(cores), 1 / cores.service, oneProcess))
}
