import pg from 'pg'
import { inject } from 'vitest'

interface Session {
  readonly database: string
  readonly client: pg.Client
}

/** Nobody's now. To open one takes forty times as long as most statements; one of another database is closed. */
let unused: Session | undefined

/**
 * Statements as the database's superuser: to look behind the service, or to be in its way. What `work` leaves in the
 * session (a transaction, settings, temporary tables) is gone afterwards.
 */
export async function asSuperuser<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const session = takeUnused(database) ?? (await newSession(database))
  try {
    return await work(session.client)
  } finally {
    await leave(session)
  }
}

function takeUnused(database: string): Session | undefined {
  const found = unused
  unused = undefined
  if (found?.database === database) return found
  void found?.client.end().catch(() => undefined)
  return undefined
}

async function newSession(database: string): Promise<Session> {
  const { host, port } = inject('postgres')
  const client = new pg.Client({ host, port, user: 'postgres', database, options: '-c search_path=svc' })
  client.on('error', () => undefined)
  client.once('end', () => {
    if (unused?.client === client) unused = undefined
  })
  await client.connect()
  return { database, client }
}

async function leave(session: Session): Promise<void> {
  const { client } = session
  try {
    await client.query('rollback')
    await client.query('discard all')
  } catch {
    // Its server is gone, or it was ended by the test.
    return client.end().catch(() => undefined)
  }
  if (unused) await client.end()
  else unused = session
}
