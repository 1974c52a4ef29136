import { Type } from 'typebox'
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
import { later } from './later.ts'

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
  mount: later,
})
