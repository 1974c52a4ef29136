import { type Clock, ClockAhead, type Timeline } from '@svc/kernel/time'
import { type Database, isUnavailable } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Loop, type LoopTools } from '@svc/platform/loop'
import { PLATFORM_TENANT } from './tenant.ts'

const EVERY_MS = 1_000

const ALL = statement<{ tenant_id: string; ahead_ms: bigint }>(
  'directory_test_clocks',
  'select * from directory_test_clocks()',
)

/**
 * The sandbox's clock: tenants with a test clock are ahead of the others, and the platform's takes along all that are not
 * ahead of it. What another process moved is known here within a second.
 */
export class TestClocks implements Clock {
  readonly #base: Clock
  #byTenant: ReadonlyMap<string, ClockAhead> = new Map()
  #timelines: readonly Timeline[]
  /** Reads that have begun, and the latest of them that counts. */
  #begun = 0
  #latest = 0

  constructor(base: Clock) {
    this.#base = base
    this.#timelines = base.timelines()
  }

  now(): number {
    return this.#base.now()
  }

  offsetMs(): number {
    return this.#base.offsetMs()
  }

  of(tenantId: string): Clock {
    const common = this.#common()
    const own = this.#byTenant.get(tenantId)
    return own !== undefined && own.aheadMs > common.offsetMs() - this.#base.offsetMs() ? own : common
  }

  /** The clock of the installation, by which tenants live that are not ahead of it. */
  #common(): Clock {
    return this.#byTenant.get(PLATFORM_TENANT) ?? this.#base
  }

  /** What is ahead first: so nothing of a tenant that is ahead becomes due in the time of all. */
  timelines(): readonly Timeline[] {
    return this.#timelines
  }

  /** Reads where the clocks stand. A read that began before one that has ended counts no more. */
  async load(database: Pick<Database, 'directory'>): Promise<void> {
    const turn = ++this.#begun
    const rows = await database.directory(ALL)
    if (turn < this.#latest) return
    this.#latest = turn
    this.#byTenant = new Map(
      rows.map(({ tenant_id, ahead_ms }) => [tenant_id, new ClockAhead(this.#base, Number(ahead_ms))]),
    )
    const ahead = [...this.#byTenant].filter(([id, clock]) => id !== PLATFORM_TENANT && this.of(id) === clock)
    this.#timelines = [
      ...ahead.map(([tenantId, clock]) => ({ tenantIds: [tenantId], clock })),
      ...this.#common().timelines(),
    ]
  }

  /** As `load`; on a database that does not serve yet, such as a standby, the loop reads them later. */
  async loadIfServed(database: Database): Promise<void> {
    try {
      await this.load(database)
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
  }

  loop(tools: LoopTools & { readonly database: Database }): Loop {
    const work = () => this.load(tools.database)
    return new Loop({ name: 'test_clocks', everyMs: EVERY_MS, work }, tools)
  }
}
