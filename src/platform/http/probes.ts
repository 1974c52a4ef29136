import { timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { fail } from '../../errors.ts'
import { statement } from '../db/statement.ts'
import { query } from './operation.ts'

const ALIVE = statement('readiness', 'select 1')
const READY_WITHIN_MS = 2_000

const Status = Type.Object({ status: Type.String() })

/** Whether the process runs at all; says nothing about the database. */
export const livez = query({
  id: 'livez',
  method: 'GET',
  path: '/livez',
  tag: 'Running it',
  summary: 'Is the process alive',
  auth: 'none',
  family: 'bare',
  result: Status,
  errors: [],
  mount: () => () => ({ body: '{"status":"ok"}' }),
})

/** Whether requests should be sent here: the database answers and has room, and the process is not about to end. */
export const readyz = query({
  id: 'readyz',
  method: 'GET',
  path: '/readyz',
  tag: 'Running it',
  summary: 'Can the process take requests',
  auth: 'none',
  family: 'bare',
  result: Status,
  errors: ['temporarily_unavailable'],
  mount({ database, isLeaving }) {
    return async () => {
      if (isLeaving())
        fail('temporarily_unavailable', {
          description: 'The service is shutting down',
          retryAfterSeconds: 1,
        })
      let timer: NodeJS.Timeout | undefined
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error('the database did not answer in time')), READY_WITHIN_MS)
      })
      try {
        await Promise.race([database.directory(ALIVE).then(() => database.expectRoom()), late])
      } catch (cause) {
        fail('temporarily_unavailable', {
          description: 'The database does not answer, or has no room',
          retryAfterSeconds: 1,
          cause,
        })
      } finally {
        clearTimeout(timer)
      }
      return { body: '{"status":"ready"}' }
    }
  },
})

/** Figures for Prometheus. Open in sandbox mode; in live mode only with METRICS_TOKEN, and absent without it. */
export const metrics = query({
  id: 'metrics',
  method: 'GET',
  path: '/metrics',
  tag: 'Running it',
  summary: 'Metrics in the Prometheus text format',
  auth: 'none',
  family: 'bare',
  result: Type.String(),
  errors: ['invalid_token'],
  mount({ config, metrics: { registry } }) {
    const token = config.METRICS_TOKEN?.reveal()
    return async ({ headers }) => {
      if (token === undefined && config.SVC_MODE === 'live') fail('route_not_found')
      if (token !== undefined && !sameText(headers['authorization'], `Bearer ${token}`)) fail('invalid_token')
      return { headers: { 'content-type': registry.contentType }, body: await registry.metrics() }
    }
  },
})

function sameText(given: string | string[] | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
