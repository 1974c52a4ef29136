import { rfc3339 } from '@svc/kernel/time'
import { exactFilter, instantFilter, listOf, type Resource } from '@svc/server/http/resource'
import { instant, maybe, record, text } from '../console-schema.ts'
import { withoutReason } from '../records/audit-details.ts'
import { memberOperation, PORTAL_API } from './portal-services.ts'

interface ActivityRow {
  readonly sequence: bigint
  readonly content: string
  readonly address: string | null
}

interface Content {
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly requestId?: string
  readonly details?: Record<string, unknown>
}

/** Members by their names, and programs; of the operator's people and machines it is not said which one. */
function byOf(actor: string): { readonly by: 'member' | 'programs' | 'operator'; readonly name?: string } {
  if (actor.startsWith('member ')) return { by: 'member', name: actor.slice('member '.length) }
  return actor.startsWith('tenant ') ? { by: 'programs' } : { by: 'operator' }
}

function toWire({ address, content }: ActivityRow, timeZone: string) {
  const { action, actor, at, details, requestId, target } = JSON.parse(content) as Content
  const { address: signedInFrom, ...others } = withoutReason(action, details)
  const { by, name } = byOf(actor)
  return {
    at: rfc3339(new Date(at), timeZone),
    by,
    name,
    action,
    target,
    address: by === 'operator' ? undefined : (address ?? (signedInFrom as string | undefined)),
    requestId,
    details: by === 'operator' || Object.keys(others).length === 0 ? undefined : JSON.stringify(others),
  }
}

const ActivityEntry = record('Activity', {
  at: instant,
  by: text('`member`, `programs`, or `operator`, of whom no name is shown'),
  name: maybe('Of the member'),
  action: text('Such as `card.status_changed`'),
  target: text('Id of what it was done to'),
  address: maybe('From which it was done, as far back as the request log goes'),
  requestId: maybe('Of the request that did it'),
  details: maybe('What else is known, as JSON'),
})

/** What was done in the tenant's name and to it: the part of the audit that is the tenant's. */
const activity = {
  titles: { operator: 'Activity', tenant: 'Activity' },
  record: { schema: ActivityEntry, toWire },
  from: {
    columns: 'a.sequence, a.content, r.address',
    table: 'audit_log a',
    alias: 'a',
    joins: `left join request_log r on r.tenant_id = a.tenant_id and r.request_id = a.content::jsonb ->> 'requestId'`,
  },
  tenant: 'a.tenant_id',
  keys: [{ sql: 'a.sequence', type: 'bigint' }],
  fields: {},
  filters: {
    name: { schema: exactFilter('By this member', 160), sql: `a.actor = 'member ' || ?` },
    action: { schema: exactFilter('Of this kind'), sql: 'a.action = ?' },
    target: { schema: exactFilter('Done to this', 128), sql: 'a.target = ?' },
    from: instantFilter('from', 'At this instant or later', (filters, at) =>
      filters.add('a.at_ms >= ?', at.getTime()),
    ),
    to: instantFilter('to', 'Before this instant', (filters, at) => filters.add('a.at_ms < ?', at.getTime())),
  },
} satisfies Resource<ActivityRow>

export const listOwnActivity = listOf<ActivityRow>(activity, {
  ...memberOperation,
  id: 'portal.listActivity',
  path: `${PORTAL_API}/activity`,
  tag: 'Activity',
  summary: 'List what was done, by whom and from where',
  description: 'Newest first. It is the audit of the tenant: entries are only added.',
  role: 'admin',
})
