import { timingSafeEqual } from 'node:crypto'
import { type FailureDetails, fail, SHUTTING_DOWN } from '@svc/contract/errors'
import { PROCESS_ROLES } from '@svc/contract/process-settings'
import { ReadOnlyDatabase } from '@svc/platform/db/connection-pool'
import { VERSION } from '@svc/platform/package'
import { Type } from 'typebox'
import { type Operation, query } from './operation.ts'

/** The tag of the operations that monitors call: never limited, never logged. */
export const HEALTH = 'Health and metrics'
/** Probes are served however much load there is; every other operation may be refused as `overloaded`. */
export const isProbe = ({ tag }: Pick<Operation, 'tag'>): boolean => tag === HEALTH

/** A batch of commands that has had no outcome for so long shows a database that does not respond. */
const BATCH_AGE_MS_MAX = 5_000

const SETTING_UP: FailureDetails = {
  description: 'The demo tenants and sandbox.json are being made',
  retryAfterSeconds: 1,
  isOrderly: true,
}

const Roles = Type.Array(Type.Enum([...PROCESS_ROLES]), { description: 'What the process does (`ROLES`)' })

const Alive = Type.Object({
  status: Type.String(),
  version: Type.String({ description: 'Version of the program' }),
  roles: Roles,
})
const Ready = Type.Object({
  status: Type.String(),
  roles: Roles,
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'What an operator should fix although requests are served' }),
  ),
})

/** Whether the process runs at all; says nothing about the database. */
export const livez = query({
  id: 'livez',
  method: 'GET',
  path: '/livez',
  tag: HEALTH,
  summary: 'Liveness',
  auth: 'none',
  envelope: 'bare',
  // Balancers and scrapers may be set to send one.
  ignores: ['query'],
  result: Alive,
  errors: [],
  mount: ({ config: { ROLES: roles } }) => {
    const body = JSON.stringify({ status: 'ok', version: VERSION, roles })
    return () => ({ body })
  },
})

/**
 * Whether requests should be sent here: the database commits and has room, and the process is not about to end. It is
 * judged by commits that the process saw confirmed in the last 1.5 s, those of batches or else an empty one, so that a
 * database that stands still or waits for its standbys is noticed within two seconds (promise N11). Probes share what is
 * known: an idle process makes at most one empty commit in 300 ms, however many probe, and none while nothing probes.
 */
export const readyz = query({
  id: 'readyz',
  method: 'GET',
  path: '/readyz',
  tag: HEALTH,
  summary: 'Readiness',
  auth: 'none',
  envelope: 'bare',
  ignores: ['query'],
  result: Ready,
  errors: ['temporarily_unavailable'],
  mount({ config: { ROLES: roles }, database, warnings, isLeaving, isSettingUp, queues }) {
    return async () => {
      if (isLeaving()) fail('temporarily_unavailable', SHUTTING_DOWN)
      if (isSettingUp()) fail('temporarily_unavailable', SETTING_UP)
      try {
        await database.commits.check()
      } catch (cause) {
        if (cause instanceof ReadOnlyDatabase) notReady('The database is read-only, such as a standby', cause)
        notReady('The database does not respond, commits nothing, or has no room', cause)
      }
      for (const { name, batchAgeMs } of queues.open)
        if (batchAgeMs > BATCH_AGE_MS_MAX)
          notReady('The database does not respond: a batch of commands has had no outcome for long', {
            queue: name,
            batchAgeMs,
          })
      const found = warnings()
      const shown = { status: 'ready', roles, ...(found.length > 0 && { warnings: found }) }
      return { body: JSON.stringify(shown) }
    }
  },
})

const notReady = (description: string, cause?: unknown): never =>
  fail('temporarily_unavailable', { description, retryAfterSeconds: 1, cause })

/** Figures for Prometheus. Open in sandbox mode; in live mode only with METRICS_TOKEN. Absent to all others. */
export const metrics = query({
  id: 'metrics',
  method: 'GET',
  path: '/metrics',
  tag: HEALTH,
  summary: 'Metrics in the Prometheus text format',
  auth: 'none',
  envelope: 'bare',
  ignores: ['query'],
  result: Type.String(),
  errors: ['route_not_found'],
  mount({ config, metrics: { registry, text } }) {
    const token = config.METRICS_TOKEN?.reveal()
    const isOpen = token === undefined && config.SVC_MODE === 'sandbox'
    return async ({ headers }) => {
      if (!isOpen && !sameText(headers['authorization'], token && `Bearer ${token}`)) fail('route_not_found')
      return { headers: { 'content-type': registry.contentType }, body: await text() }
    }
  },
})

function sameText(given: string | string[] | undefined, expected: string | undefined): boolean {
  if (expected === undefined) return false
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
