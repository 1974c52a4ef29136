import { connectionOptions } from '@svc/platform/db/connection-options'
import pg from 'pg'
import type { Login } from './definer-callers.ts'
import type { TestDatabase } from './service.ts'

/** A connection of one of the service's logins, by somebody who has that login and no program of ours. */
export async function asLogin<T>(
  { host, port, database }: TestDatabase,
  login: Login,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const connection = new pg.Client(connectionOptions({ host, port, database }, login))
  await connection.connect()
  try {
    return await work(connection)
  } finally {
    await connection.end()
  }
}
