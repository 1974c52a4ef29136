import { createHash, type Hash } from 'node:crypto'
import { App } from '@svc/app/app'
import { readConfig } from '@svc/contract/config'
import { clockOf } from '@svc/kernel/time'
import { openLog } from '@svc/platform/log'
import { Chance } from './chance.ts'
import type { Fault } from './faults.ts'
import { DatabaseNetwork } from './network.ts'
import { realTimeMs, type SimulatedProcess } from './process.ts'
import { MASTER_KEY, masterKeys, type SimulationServer } from './server.ts'

export const CARD_RAIL_KEY = 'card-rail-key-of-the-simulation-0123456789'
export const RAIL_KEY = 'rail-key-of-the-simulation-0123456789'
const LINES_KEPT = 400
/** Longest time, by its own clock, in which the service must have answered everything. */
const PATIENCE_MS = 600_000
/** Longest real time that the service may take to start. */
const START_PATIENCE_MS = 60_000

/** Something that must never be: ends the run. */
export class Violation extends Error {
  override name = 'Violation'
}

export function ensure(holds: unknown, say: () => string): asserts holds {
  if (!holds) throw new Violation(say())
}

export interface HttpResponse {
  readonly status: number
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- read by those who know the operation
  readonly json: any
  readonly headers: Readonly<Record<string, unknown>>
}

/** A fault that waits for its statement. */
interface Armed {
  readonly fault: Fault
  /** Statements to let pass before it. */
  skip: number
  readonly atCommit: boolean
}

/** The service under simulation, with everything around it, for one seed. */
export class World {
  readonly process: SimulatedProcess
  readonly network: DatabaseNetwork
  readonly chance: Chance
  readonly seed: number
  readonly database: string
  readonly #server: SimulationServer
  readonly #hash: Hash = createHash('sha256')
  readonly lines: string[] = []
  /** Told of every line of the trace. */
  report: (line: string) => void = () => undefined
  armed: Armed[] = []
  app!: App
  /** Milliseconds by which the database's clock is ahead of the service's. */
  skewMs = 0
  /** What the clocks have shown at most when one was set back: what had expired until then stays expired. */
  latestMs = 0
  crashes = 0

  constructor(server: SimulationServer, process: SimulatedProcess, seed: number, database: string) {
    this.#server = server
    this.process = process
    this.seed = seed
    this.database = database
    this.chance = new Chance(seed, 'world')
    process.restart(
      new Chance(seed, 'process'),
      Date.UTC(2026, 3, 1, 6) + this.chance.whole(0, 86_400_000 * 300),
    )
    this.network = new DatabaseNetwork(server, new Chance(seed, 'network'))
    this.network.nowMs = () => process.wallMs() + this.skewMs
    this.network.trace = (line) => this.trace(`    ${line}`)
    this.network.choose = (text, inBatch) => this.#choose(text, inBatch)
    this.network.slow = (ms) => {
      const until = process.monotonicMs + ms
      while (process.ringNext(until));
      process.monotonicMs = until
    }
  }

  trace(line: string): void {
    this.#hash.update(line)
    this.report(line)
    if (this.lines.push(line) > 2 * LINES_KEPT) this.lines.splice(0, LINES_KEPT)
  }

  traceHash(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Starts the service anew on what the database holds, in the place of one that crashed or of none. */
  async open(): Promise<void> {
    this.process.forgetTimers()
    const options = {
      config: readConfig({
        PORT: '0',
        DATA_DIR: '/nonexistent',
        DATABASE_POOL_SIZE: '4',
        DATABASE_URL: 'postgresql://simulated/svc',
        UPI_RAIL_KEYS: RAIL_KEY,
        CARD_RAIL_KEYS: CARD_RAIL_KEY,
        SVC_MASTER_KEY: MASTER_KEY,
        PUBLIC_URL: 'https://svc.example',
        FAILED_ATTEMPTS_PER_MINUTE: '100000',
        // Neither takes part in what callers are promised: the log is written beside the traffic, and may lose entries.
        CONSOLE: 'off',
        REQUEST_LOG_PER_SECOND: '0',
      }),
      address: { host: this.#server.host, port: this.#server.port, database: this.database },
      masterKeys: masterKeys(),
      log: openLog(globalThis.process.env['SIMULATION_LOG'] ?? 'silent', globalThis.process.stderr),
      clock: clockOf(() => this.process.wallMs()),
      random: (size: number) => this.process.chance.bytes(size),
      Client: this.network.clientClass(),
    }
    this.app = await this.#untimed(() => App.open(options))
  }

  /** Work that loads modules and reads files, at real speed: simulated time stands still until it is done. */
  async #untimed<T>(start: () => Promise<T>): Promise<T> {
    const started = start()
    let isDone = false
    const end = () => (isDone = true)
    started.then(end, end)
    for (const giveUpAtMs = realTimeMs() + START_PATIENCE_MS; !isDone; ) {
      ensure(realTimeMs() < giveUpAtMs, () => 'the service did not start')
      await this.process.settle()
      if (this.network.hasPending) await this.network.turn()
    }
    return started
  }

  /** The process ends here and now; a new one starts. */
  async crash(): Promise<void> {
    this.trace('crash')
    this.crashes++
    this.armed = []
    await this.network.crash()
    this.network.crashed = false
    await this.open()
  }

  /**
   * Carries work out until all of it is done and nothing is under way. `undefined` for what a crash took with it; the
   * service is then a new one.
   */
  async carryOut<T>(
    work: readonly (() => Promise<T>)[],
    names: readonly string[] = [],
  ): Promise<(T | undefined)[]> {
    const results: (T | undefined)[] = work.map(() => undefined)
    const left = new Set(work.keys())
    let failed: unknown
    const giveUpAtMs = this.process.monotonicMs + PATIENCE_MS
    work.forEach((start, i) => {
      start()
        .then((result) => (results[i] = result))
        .catch((error: unknown) => (failed ??= error))
        .finally(() => left.delete(i))
    })
    for (;;) {
      await this.process.settle()
      await this.network.calm()
      if (failed) throw failed
      if (this.network.crashed) {
        await this.crash()
        return results
      }
      if (this.network.hasPending) await this.network.turn()
      else if (left.size === 0) return results
      else
        ensure(
          this.process.ringNext(giveUpAtMs),
          () => `never answered: ${[...left].map((i) => names[i] ?? i).join(', ')}`,
        )
    }
  }

  /** Lets time pass, with what the service does of itself meanwhile. */
  async pass(ms: number): Promise<void> {
    const until = this.process.monotonicMs + ms
    while (this.process.ringNext(until)) await this.carryOut([])
    this.process.monotonicMs = Math.max(this.process.monotonicMs, until)
  }

  #choose(text: string, inBatch: boolean): Fault | undefined {
    for (const [i, armed] of this.armed.entries()) {
      if (!fits(armed, text, inBatch)) continue
      if (armed.skip-- > 0) continue
      this.armed.splice(i, 1)
      return armed.fault
    }
    return undefined
  }

  async close(): Promise<void> {
    await this.network.leave()
    this.process.forgetTimers()
  }
}

const IN_BATCH = /^(?:40001|40P01|55P03)$/

function fits({ fault, atCommit }: Armed, text: string, inBatch: boolean): boolean {
  if (text === 'rollback') return false
  if (text === 'connect' || fault.kind === 'refused') return text === 'connect' && fault.kind === 'refused'
  if (atCommit) return text === 'commit' && inBatch
  if (text === 'commit' || text.startsWith('begin'))
    return fault.kind === 'cut before' || fault.kind === 'slow'
  return fault.kind !== 'error' || inBatch || !IN_BATCH.test(fault.code)
}
