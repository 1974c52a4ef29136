import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Loop, type LoopTools } from '@svc/platform/loop'
import { backlogGauges, type Metrics } from '@svc/platform/metrics'

const EVERY_MS = 30_000

interface Backlog {
  readonly unnumberedSeconds: number
  readonly due: number
  readonly dueSeconds: number
}

const BACKLOG = statement<Backlog>(
  'event_backlog',
  `select unnumbered_seconds as "unnumberedSeconds", due, due_seconds as "dueSeconds" from directory_event_backlog()`,
)

/** How far events and webhooks are behind now. */
export const readEventBacklog = async (database: Pick<Database, 'directory'>): Promise<Backlog> =>
  (await database.directory(BACKLOG))[0]!

interface Tools extends LoopTools {
  readonly database: Database
  readonly metrics: LoopTools['metrics'] & Pick<Metrics, 'registry'>
}

/** How far events and webhooks are behind, for `/metrics`. */
export function eventBacklogLoop(tools: Tools): Loop {
  const gauges = backlogGauges(tools.metrics.registry)
  const work = async () => {
    const { due, dueSeconds, unnumberedSeconds } = await readEventBacklog(tools.database)
    gauges.unnumbered.set(unnumberedSeconds)
    gauges.due.set(due)
    gauges.dueFor.set(dueSeconds)
  }
  return new Loop({ name: 'event_backlog', everyMs: EVERY_MS, work, atStart: true }, tools)
}
