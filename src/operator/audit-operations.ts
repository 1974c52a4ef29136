import { Type } from 'typebox'
import { parseRfc3339, rfc3339 } from '../kernel/time.ts'
import { query } from '../platform/http/operation.ts'
import {
  CONSOLE_API,
  consoleOperation,
  exact,
  instant,
  listOf,
  listQuery,
  maybe,
  record,
  since,
  text,
} from './console-schema.ts'
import { Filters, readList } from './list.ts'

const AuditEntry = record('AuditEntry', {
  sequence: Type.Integer({ description: 'Counts from 1, without gaps' }),
  at: instant,
  actor: text('`operator <name>`, `cli <user@host>`, `tenant <id>` or `service`'),
  action: text('Such as `card.status_changed`'),
  target: text('Id of what it was done to'),
  tenantId: maybe(),
  requestId: maybe('Of the request that did it'),
  details: Type.Record(Type.String(), Type.Unknown()),
  hash: text('SHA-256 over the hash before and this entry, in hex'),
})

interface AuditRow {
  sequence: bigint
  content: string
  hash: Buffer
}

/** What was hashed, as it was written. */
interface Content {
  readonly sequence: number
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly tenantId?: string
  readonly requestId?: string
  readonly details?: Record<string, unknown>
}

export const listAudit = query({
  ...consoleOperation,
  id: 'listAudit',
  method: 'GET',
  path: `${CONSOLE_API}/audit`,
  tag: 'Audit',
  summary: 'Who did what',
  description: 'Append-only and chained by hashes; `svc audit verify` walks the chain.',
  role: 'viewer',
  query: listQuery(['-at'], {
    actor: exact('Of this actor, as it is shown', 160),
    action: exact('Of this kind', 64),
    target: exact('Done to this', 128),
    tenantId: exact('Concerning this merchant or partner'),
    from: since('At this instant or later'),
    to: since('Before this instant'),
  }),
  result: listOf(AuditEntry),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { action, actor, from, target, tenantId, to } = query
      const filters = new Filters()
        .add('a.actor = ?', actor)
        .add('a.action = ?', action)
        .add('a.target = ?', target)
        .add('a.tenant_id = ?', tenantId)
      if (from !== undefined) filters.add('a.at_ms >= ?', parseRfc3339(from)!.getTime())
      if (to !== undefined) filters.add('a.at_ms < ?', parseRfc3339(to)!.getTime())
      const plan = {
        columns: 'a.sequence, a.content, a.hash',
        table: 'audit_log a',
        alias: 'a',
        filters,
        keys: [{ sql: 'a.sequence', type: 'bigint' } as const],
        descending: true,
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, ({ content, hash }: AuditRow) => {
          const { at, details = {}, ...entry } = JSON.parse(content) as Content
          return { ...entry, at: rfc3339(new Date(at), timeZone), details, hash: hash.toString('hex') }
        }),
      )
      return { body: JSON.stringify(page) }
    }
  },
})
