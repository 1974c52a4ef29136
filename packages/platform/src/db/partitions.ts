import { Gauge, type Registry } from 'prom-client'
import { Loop, type LoopTools } from '../loop.ts'
import type { Metrics } from '../metrics.ts'
import type { Database } from './database.ts'
import { statement } from './statement.ts'

const MAINTAIN = statement<{ done: string | null }>(
  'partitions_maintain',
  'select maintain_partitions() as done',
)
/** What `maintain_partitions` returns where others held a lock: the next run tries again. */
const LOCKED = 'locked'

export interface PartitionState {
  readonly name: string
  /** Partitions of today and of the days ahead that do not exist. */
  readonly missing: number
  /** Rows in the default partition, counted up to 10,000. */
  readonly inDefault: number
}
export const PARTITION_STATE = statement<PartitionState>(
  'partitions_state',
  'select name, missing, in_default as "inDefault" from svc.partition_state()',
)

const EVERY_MS = 30_000

interface PartitionTools extends LoopTools {
  readonly database: Database
  readonly metrics: LoopTools['metrics'] & Pick<Metrics, 'registry'>
}

export const partitionGauges = (registry: Registry) => {
  const registers = [registry]
  return {
    missing: new Gauge({
      name: 'svc_partitions_missing',
      help: 'Partitions of today and of the days ahead that do not exist; their rows go into the default partition',
      labelNames: ['table'] as const,
      registers,
    }),
    inDefault: new Gauge({
      name: 'svc_default_partition_rows',
      help: 'Rows in the default partition, counted up to 10,000',
      labelNames: ['table'] as const,
      registers,
    }),
  }
}

/** The partitions of the database, which a loop in every process with jobs maintains (decision X26). */
export class Partitions {
  readonly #database: Database
  readonly #metrics: ReturnType<typeof partitionGauges>
  readonly loop: Loop
  #incomplete: readonly string[] = []

  constructor(tools: PartitionTools) {
    this.#database = tools.database
    this.#metrics = partitionGauges(tools.metrics.registry)
    this.loop = new Loop(
      { name: 'partitions', everyMs: EVERY_MS, work: () => this.#maintain(), atStart: true },
      tools,
    )
  }

  /** Tables that lack partitions of today or of the days ahead. */
  get warnings(): readonly string[] {
    return this.#incomplete.map((table) => `The table ${table} lacks partitions for the days ahead`)
  }

  /** One step, each in a transaction of its own. Returns whether there may be more. */
  async #maintain(): Promise<boolean> {
    const { done } = (await this.#database.directory(MAINTAIN, [], 'silence'))[0]!
    await this.#observe()
    return done !== null && done !== LOCKED
  }

  async #observe(): Promise<void> {
    const states = await this.#database.directory(PARTITION_STATE)
    for (const { name, missing, inDefault } of states) {
      this.#metrics.missing.set({ table: name }, missing)
      this.#metrics.inDefault.set({ table: name }, inDefault)
    }
    this.#incomplete = states.filter(({ missing }) => missing > 0).map(({ name }) => name)
  }
}
