import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { exactFilter, instantFilter, listOf, type Resource } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { actorOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  consoleOperation,
  instant,
  maybe,
  maybeInstant,
  record,
  text,
} from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { latestVerification } from './audit-checks.ts'
import { withoutReason } from './audit-details.ts'

const AuditEntry = record('AuditEntry', {
  sequence: Type.Integer({
    description: 'The order of entering; numbers of what was rolled back are missing',
  }),
  number: Type.Integer({
    description: 'In the tenant’s chain, or in that of the installation: counts from 1, without gaps',
  }),
  at: instant,
  actor: text(
    '`operator <name>`, `cli <user@host>`, `tenant <id>`, `service`, or `anonymous` for a failed sign-in',
  ),
  login: maybe(
    'The login to the database that entered it, beside the actor that it names; absent in entries before version 0.1.0',
  ),
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
  readonly number: number
  readonly at: number
  readonly actor: string
  readonly login?: string
  readonly action: string
  readonly target: string
  readonly tenantId?: string
  readonly requestId?: string
  readonly details?: Record<string, unknown>
}

function toWire({ content, hash }: AuditRow, timeZone: string) {
  const { at, details, ...entry } = JSON.parse(content) as Content
  const shown = withoutReason(entry.action, details)
  return { ...entry, at: rfc3339(new Date(at), timeZone), details: shown, hash: hash.toString('hex') }
}

/** Who did what; of all tenants' chains, and that of the installation. */
const auditEntry = {
  titles: { operator: 'AuditEntry' },
  record: { schema: AuditEntry, toWire },
  from: { columns: 'a.sequence, a.content, a.hash', table: 'audit_log a', alias: 'a' },
  tenant: 'a.tenant_id',
  keys: [{ sql: 'a.sequence', type: 'bigint' }],
  fields: {},
  filters: {
    actor: { schema: exactFilter('Of this actor, as it is shown', 160), sql: 'a.actor = ?' },
    action: { schema: exactFilter('Of this kind'), sql: 'a.action = ?' },
    target: { schema: exactFilter('Done to this', 128), sql: 'a.target = ?' },
    tenantId: { schema: exactFilter('Concerning this merchant or partner'), sql: 'a.tenant_id = ?' },
    from: instantFilter('from', 'At this instant or later', (filters, at) =>
      filters.add('a.at_ms >= ?', at.getTime()),
    ),
    to: instantFilter('to', 'Before this instant', (filters, at) => filters.add('a.at_ms < ?', at.getTime())),
  },
} satisfies Resource<AuditRow>

export const listAudit = listOf<AuditRow>(auditEntry, {
  ...consoleOperation,
  id: 'console.listAudit',
  path: `${CONSOLE_API}/audit`,
  tag: 'Audit',
  summary: 'List audit entries',
  description: 'Append-only; chained by hashes, for each tenant; `svc admin audit verify` walks the chains.',
  permission: 'view',
})

const VerificationRecord = record('AuditVerification', {
  state: Type.Enum(['intact', 'broken', 'failed', 'unknown'], {
    description: '`unknown`: never run; `failed`: the last run broke off',
  }),
  running: Type.Boolean(),
  checkedOn: maybeInstant,
  entries: Type.Integer({ description: 'Entries that follow from each other' }),
  brokenAt: Type.Optional(
    Type.Integer({ description: 'Number in its chain of the first entry that does not fit' }),
  ),
  tenantId: maybe('Whose chain that is; absent: the installation’s'),
  problem: maybe('What is wrong with it'),
})

export const showAuditVerification = query({
  ...consoleOperation,
  id: 'console.showAuditVerification',
  method: 'GET',
  path: `${CONSOLE_API}/audit/verification`,
  tag: 'Audit',
  summary: 'Show the latest audit verification',
  permission: 'view',
  result: VerificationRecord,
  errors: [],
  mount: (services: ConsoleServices) => async () => ({
    body: JSON.stringify(await latestVerification(services)),
  }),
})

export const runAuditVerification = query({
  ...consoleOperation,
  id: 'console.runAuditVerification',
  method: 'POST',
  path: `${CONSOLE_API}/audit/verification`,
  tag: 'Audit',
  summary: 'Verify the audit now',
  description: 'Begins in the background; ask for the result while `running`.',
  permission: 'verify',
  result: VerificationRecord,
  errors: [],
  mount:
    (services: ConsoleServices) =>
    async ({ caller }) => {
      await services.auditChecks.start(actorOf(caller))
      return { body: JSON.stringify(await latestVerification(services)) }
    },
})
