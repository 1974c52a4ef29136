import { expect } from 'vitest'
import { runHere } from './cli.ts'
import { freePort } from './free-port.ts'
import { MASTER_KEY, newDatabase, openService, type TestDatabase, type TestService } from './service.ts'

/** Two cells on the project's server, each with its service; callers reach both under one address. */
export interface TestCells {
  readonly a: TestService
  readonly b: TestService
  /** Settings of the command line in a cell. */
  settings(cell: 'a' | 'b'): Record<string, string>
  close(): Promise<void>
}

export async function openCells(): Promise<TestCells> {
  const databases: Record<'a' | 'b', TestDatabase> = {
    a: await newDatabase(),
    b: await newDatabase({ keys: false }),
  }
  const settings = (cell: 'a' | 'b') => ({
    DATABASE_URL: databases[cell].url,
    SVC_MASTER_KEY: MASTER_KEY,
    CELL_DATABASE_URLS: `a=${databases.a.url} b=${databases.b.url}`,
  })
  const create = ['admin', 'cell', 'create', 'b', '--from', 'a', '--card-range', '88880102']
  const steps = [
    await runHere(['admin', 'cell', 'name', 'a', '--card-range', '88880101'], settings('a')),
    await runHere(create, settings('b')),
  ]
  expect(steps).toMatchObject([{ code: 0 }, { code: 0 }])
  const ports = { a: String(await freePort()), b: String(await freePort()) }
  const env = {
    PUBLIC_URL: 'http://svc.example.com',
    CELL_URLS: `a=http://127.0.0.1:${ports.a} b=http://127.0.0.1:${ports.b}`,
  }
  const a = await openService({ db: databases.a, env: { ...env, PORT: ports.a } })
  const b = await openService({ db: databases.b, env: { ...env, PORT: ports.b } })
  return {
    a,
    b,
    settings,
    close: async () => void (await Promise.all([a.close(), b.close()])),
  }
}
