import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { type Caller, query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed, consoleOperation } from '../console-schema.ts'
import { permits, type Role } from '../identity/permissions.ts'
import {
  FIGURES_QUERY,
  FiguresRecord,
  isOfBooks,
  type Metric,
  readFigures,
  readFiguresQuery,
} from './figures.ts'

/** What the service earns and what its bank has is for those who keep or check the books. */
function maySee({ actor }: Caller, metric: Metric): boolean {
  const role = actor!.role as Role
  return !isOfBooks(metric) || permits(role, 'finance') || permits(role, 'verify')
}

export const showFigures = query({
  ...consoleOperation,
  id: 'console.showFigures',
  method: 'GET',
  path: `${CONSOLE_API}/figures`,
  tag: 'Overview',
  summary: 'Show figures of a range of time, compared with an earlier one',
  description:
    'Sums by hour, business day or month, and balances as they are now, of all tenants or of one. Figures that the role may not see are absent, as are those that the tenant cannot have.',
  permission: 'view',
  query: closed({
    ...FIGURES_QUERY,
    tenantId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Of this merchant or partner; all by default',
      }),
    ),
  }),
  result: FiguresRecord,
  errors: [],
  mount: ({ clock, config, database }) => {
    return async ({ caller, query: { tenantId, ...wanted } }) => {
      const may = (metric: Metric) => maySee(caller, metric)
      const time = tenantId === undefined ? clock : clock.of(tenantId)
      const asked = readFiguresQuery(wanted, { config, may, now: new Date(time.now()) })
      const figures = await database.report(async (tx) =>
        readFigures(
          tx,
          { ...asked, ...(tenantId !== undefined && { tenantId }) },
          { config, clock, aheadMs: await furthestAhead(tx) },
        ),
      )
      return { body: JSON.stringify(figures) }
    }
  },
})
