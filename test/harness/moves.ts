import { type CellDatabase, connectCell } from '@svc/app/cells/cell-connection'
import { companions, type MoveOptions, moveTenant } from '@svc/app/cells/move-tenant'
import type { Travel } from '@svc/app/cells/replication'
import { expect } from 'vitest'
import type { TestCells } from './cells.ts'
import { runHere } from './cli.ts'
import type { Client } from './client.ts'
import { asSuperuser, type TestMerchant, type TestService } from './service.ts'

/** A move copies each table by a worker of its own: on a busy machine that takes a while. */
export const MOVES_MS = 240_000

/** `svc admin tenant move`, from the cell in which the tenant lives. */
export const moveBy = (cells: TestCells, tenantId: string, from: 'a' | 'b', ...options: string[]) =>
  runHere(
    [
      'admin',
      'tenant',
      'move',
      tenantId,
      '--to',
      from === 'a' ? 'b' : 'a',
      '--json',
      '--hold',
      '8000',
      ...options,
    ],
    // Its rows stay no longer than the shortest request: a test waits for them.
    { ...cells.settings(from), COMMAND_TIMEOUT_MS: '1000' },
  )

/** The same, of a move that has to work: its message is what fails the test. */
export async function moved(
  ...[cells, tenantId, from, ...options]: Parameters<typeof moveBy>
): Promise<void> {
  const { code, stderr } = await moveBy(cells, tenantId, from, ...options)
  expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
}

/** The client of a service, with the token of another that sends to it. */
export const at = (service: TestService, { authorization }: { authorization: string }): Client =>
  service.client.with({ authorization })

export async function tokenOf(
  service: TestService,
  merchant: TestMerchant,
): Promise<{ authorization: string }> {
  const { json } = await service.client.post('/api/v0/merchant/token', undefined, {
    'api-key': merchant.apiKey,
  })
  return { authorization: `Bearer ${json.token}` }
}

export const onCell = ({ db }: TestService, text: string, values: unknown[] = []) =>
  asSuperuser(db.database, (client) => client.query(text, values))

/** A move of the program that breaks off where `stops` says so, with its connections. */
export async function brokenOff(
  { a, b }: TestCells,
  tenantId: string,
  stops: (line: string) => boolean,
): Promise<void> {
  const opened: CellDatabase[] = []
  const open = async ({ db }: TestService) => {
    const database = await connectCell({ host: db.host, port: db.port, database: db.database })
    opened.push(database)
    return database
  }
  const [source, target, directory] = [await open(a), await open(b), await open(a)]
  const tenants = await companions(source.client, tenantId)
  const travel: Travel = { source, target, from: 'a', to: 'b', tenants }
  const stop = (line: string): void => {
    if (stops(line)) throw new Error(`broken off at: ${line}`)
  }
  const options: MoveOptions = {
    actor: 'test',
    keyring: a.app.services.keyring,
    holdMs: 5_000,
    requestMs: 0,
    directory,
    report: stop,
    routed: async () => stop('routed'),
  }
  try {
    await expect(moveTenant(travel, options)).rejects.toThrow('broken off')
  } finally {
    await Promise.all(opened.map((database) => database.close()))
  }
}
