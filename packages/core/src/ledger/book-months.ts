import { dayAfter, monthEnd } from '@svc/kernel/bank-days'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Closing, listClosings } from './closing.ts'

/** `REQUESTED`: one operator has closed it despite what is open, and a second one is to repeat that. */
export const BOOK_MONTH_STATES = ['RUNNING', 'OPEN', 'REQUESTED', 'CLOSED'] as const

/** A month of the books, or another period that was closed. */
export interface BookMonth {
  /** Last day, `YYYY-MM-DD`. */
  readonly through: string
  readonly state: (typeof BOOK_MONTH_STATES)[number]
  readonly closing?: Closing
  /** Who closes it despite what is open, and why. */
  readonly requestedBy?: string
  readonly despite?: string
}

const MONTHS_MAX = 36

const REQUESTS = statement<{ through: string; requestedBy: string; despite: string }>(
  'closing_requests_list',
  `select through::text as through, requested_by as "requestedBy", despite from closing_requests`,
)
const FIRST = statement<{ day: string | null }>(
  'book_months_first',
  `select (least((select min(created_at) from merchants), (select min(created_at) from partners)) at time zone $1)::date::text as day`,
)

/** Last days of the months from that of a day until that of another, newest first. */
function monthsFrom(day: string, today: string): string[] {
  const months: string[] = []
  for (
    let through = monthEnd(today);
    through >= day && months.length < MONTHS_MAX;
    through = dayAfter(`${through.slice(0, 8)}01`, -1)
  )
    months.push(through)
  return months
}

/**
 * The months of the books, newest first: those that are open, from the one of the first tenant or of `since` on, and every
 * period that was closed.
 */
export async function bookMonths(
  tx: Tx,
  {
    today,
    zone,
    since = today,
  }: { readonly today: string; readonly zone: string; readonly since: string | undefined },
): Promise<BookMonth[]> {
  const closings = await listClosings(tx)
  const requests = new Map((await tx.query(REQUESTS)).map((request) => [request.through, request]))
  const closed = closings[0]?.through
  const [tenants] = await tx.query(FIRST, [zone])
  const [first = today] = [tenants?.day ?? today, since].sort()
  const open = monthsFrom(closed ?? first, today).filter(
    (through) => closed === undefined || through > closed,
  )
  return [
    ...open.map((through): BookMonth => {
      if (through >= today) return { through, state: 'RUNNING' }
      const request = requests.get(through)
      return request ? { ...request, state: 'REQUESTED' } : { through, state: 'OPEN' }
    }),
    ...closings.map((closing) => ({ through: closing.through, state: 'CLOSED' as const, closing })),
  ]
}
