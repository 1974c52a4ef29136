import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { TestDatabase } from './service.ts'
import { ROOT } from './sources.ts'
import { asSuperuser } from './superuser.ts'

/** The statements of `logins.sql` in deploy/README.md, with a word in place of each password. */
export async function deployStatements(): Promise<string[]> {
  const text = await readFile(join(ROOT, 'deploy/README.md'), 'utf8')
  const [, sql = ''] = /^cat > logins\.sql <<SQL\n(.*?)^SQL$/ms.exec(text) ?? []
  return sql
    .replaceAll(/'\$\w+'/g, `'lab'`)
    .split(';\n')
    .filter(Boolean)
}

/** The logins that the documents create, by what each is for. */
export const DOCUMENTED_LOGINS = {
  service: { user: 'svc_app', roles: ['svc_service'] },
  rail: { user: 'svc_notices', roles: ['svc_service'] },
  operators: { user: 'svc_console', roles: ['svc_service', 'svc_operator'] },
} as const
export type DocumentedLogin = keyof typeof DOCUMENTED_LOGINS

const DUPLICATE = '42710'

/** Creates the documented logins on the tests' server, which has them from the first call on. */
export const createLogins = async (): Promise<void> =>
  asSuperuser('postgres', async (client) => {
    for (const statement of await deployStatements())
      if (!statement.startsWith('create database'))
        await client.query(statement).catch((error: { code?: string }) => {
          if (error.code !== DUPLICATE) throw error
        })
  })

/** A session as somebody has it who got this login, with one of its roles taken. */
export async function withLogin<T>(
  { host, port, database }: TestDatabase,
  login: DocumentedLogin,
  role: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const { user } = DOCUMENTED_LOGINS[login]
  const options = `-c search_path=svc -c role=${role}`
  const client = new pg.Client({ host, port, database, user, options })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Each login but that of rails, with each of its roles. */
export const LOGINS_BUT_RAIL = Object.entries(DOCUMENTED_LOGINS)
  .filter(([login]) => login !== 'rail')
  .flatMap(([login, { roles }]) => roles.map((role) => [login as DocumentedLogin, role] as const))
