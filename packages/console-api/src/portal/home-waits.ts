import { listCredentials } from '@svc/core/tenants/credentials'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { maybe, maybeInstant, record, rupeesText, text } from '../console-schema.ts'

export const WAITING_KINDS = ['dispute', 'webhook', 'disabled_webhook', 'credential'] as const

export const WaitingRecord = record('Waiting', {
  kind: Type.Enum([...WAITING_KINDS]),
  id: text('Of the dispute, the endpoint or the key'),
  name: text('Of the key, the address of the endpoint, the reason of the dispute'),
  count: Type.Optional(Type.Integer({ description: 'Events that the endpoint did not accept' })),
  amount: Type.Optional(rupeesText),
  failure: maybe('Why the last attempt failed'),
  since: maybeInstant,
  due: maybeInstant,
})

/** Something that waits for a person of the tenant. */
export interface Waiting {
  readonly kind: (typeof WAITING_KINDS)[number]
  readonly id: string
  readonly name: string
  readonly count?: number
  readonly amount?: string
  readonly failure?: string | undefined
  readonly since?: string
  readonly due?: string | undefined
}

interface FailingRow {
  readonly endpointId: string
  readonly url: string
  readonly enabled: boolean
  readonly waiting: number
  readonly since: Date | null
  readonly status: number | null
  readonly failure: string | null
}

const COUNTED_MAX = 10_000
/** Of so many events that wait longest it is known since when they fail. */
const OLDEST = 20

// An endpoint fails while its last attempt did, and something waits for the next one.
const FAILING = statement<FailingRow>(
  'portal_failing_webhooks',
  `select e.endpoint_id as "endpointId", e.url, e.enabled, w.waiting, f.since, l.status, l.failure
   from webhook_endpoints e
     cross join lateral (
       select count(*)::integer as waiting from (
         select from webhook_deliveries d
         where d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id and d.attempts > 0
         limit ${COUNTED_MAX}) d) w
     left join lateral (
       select a.status, a.failure, a.started_at from webhook_attempts a
       where a.tenant_id = e.tenant_id and a.endpoint_id = e.endpoint_id
       order by a.started_at desc, a.attempt_id desc limit 1) l on true
     left join lateral (
       select min(a.started_at) as since from (
         select d.event_id from webhook_deliveries d
         where d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id and d.attempts > 0
         order by d.sequence limit ${OLDEST}) d
         join webhook_attempts a
           on a.tenant_id = e.tenant_id and a.event_id = d.event_id and a.endpoint_id = e.endpoint_id) f on true
   where e.tenant_id = $1
     and (e.enabled and w.waiting > 0 and (l.status is null or l.status not between 200 and 299)
       or e.disabled_reason is not null and not e.enabled)
   order by f.since, e.endpoint_id`,
)

/** What waits in what merchants and partners both have: endpoints that fail, and keys that end by themselves. */
export async function waitingOfPrograms(tx: Tx, tenantId: string, timeZone: string): Promise<Waiting[]> {
  const failing = await tx.query(FAILING, [tenantId])
  const credentials = await listCredentials(tx, tenantId)
  const now = new Date()
  return [
    ...failing.map(
      ({ endpointId, url, enabled, waiting, since, status, failure }): Waiting => ({
        kind: enabled ? 'webhook' : 'disabled_webhook',
        id: endpointId,
        name: url,
        count: waiting,
        failure: failure ?? (status === null ? undefined : String(status)),
        ...(since && { since: rfc3339(since, timeZone) }),
      }),
    ),
    ...credentials.flatMap(({ credentialId, expiresAt, name, revokedAt }): Waiting[] =>
      expiresAt && !revokedAt && expiresAt > now
        ? [{ kind: 'credential', id: credentialId, name, due: rfc3339(expiresAt, timeZone) }]
        : [],
    ),
  ]
}

export const SETUP_STEPS = [
  'credential',
  'qr_code',
  'webhook',
  'bank_account',
  'payment',
  'encryption_key',
  'company',
  'card_account',
  'card',
] as const
export type SetUpStep = (typeof SETUP_STEPS)[number]

export const StepRecord = record('SetUpStep', {
  step: Type.Enum([...SETUP_STEPS]),
  isDone: Type.Boolean(),
})

/** The first steps of a tenant, in the order in which they are taken. */
export const stepsOf = (done: Readonly<Partial<Record<SetUpStep, boolean>>>) =>
  SETUP_STEPS.flatMap((step) => (step in done ? [{ step, isDone: done[step] === true }] : []))
