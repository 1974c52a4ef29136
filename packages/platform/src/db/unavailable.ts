import pg from 'pg'
import { DatabaseUnavailable } from './connection-pool.ts'
import { NotDurable } from './durable.ts'

/** SQLSTATE of a write on a server that takes none, such as a standby. */
export const READ_ONLY = '25006'

/** SQLSTATE of an error that the server sent; `undefined` for lost connections and all else. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.code : undefined

/** The constraint, also one of a trigger, that refused a statement. */
export const sqlConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.constraint : undefined

const GONE = new Set([
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  '53100',
  '58030',
  READ_ONLY,
  '25P03',
  '08006',
  '08003',
  '08001',
  '08004',
])
const GONE_BY_CODE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Whether the database, rather than the statement, is the trouble: gone, starting, full, out of connections. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  const state = sqlState(error)
  if (state !== undefined) return GONE.has(state)
  if (error instanceof NotDurable) return true
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  const code = (error as NodeJS.ErrnoException).code
  return (
    (code !== undefined && GONE_BY_CODE.has(code)) ||
    /^(?:Connection terminated|Client has encountered a connection error|timeout expired|timeout exceeded|Client was closed|Query read timeout)/.test(
      error.message,
    )
  )
}
