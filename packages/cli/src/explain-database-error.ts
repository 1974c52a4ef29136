import { isUnavailable, sqlState } from '@svc/platform/db/unavailable'

/** SQLSTATE of a server that lets the login not in: class 28, and a database that is not there. */
const REFUSED = /^(?:28|3D000)/

/** What went wrong, in words; of the way to the database, which system errors do not name, also what to look at. */
export function explainDatabaseError(error: Error): string {
  if (REFUSED.test(sqlState(error) ?? ''))
    return `The database refuses the connection: ${error.message}. Login, password and database stand in DATABASE_URL, or the setting of this login.`
  if (!isUnavailable(error) || sqlState(error) !== undefined || isOfFile(error)) return error.message
  // A name with several addresses fails once for each, and the error of all has no message.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error, error.cause]
  const causes = errors.flatMap((each) => (each instanceof Error ? each.message : []))
  return `The database cannot be reached: ${causes.join(', ')}. Is PostgreSQL running where DATABASE_URL says?`
}

/** A socket and a file that are missing have one code. */
const isOfFile = ({ syscall }: NodeJS.ErrnoException): boolean =>
  syscall !== undefined && syscall !== 'connect' && syscall !== 'getaddrinfo'
