import { addressOfCell, type CellDatabase, connectCell } from '../cells/cell-connection.ts'
import { closedThrough, keysOf, schemaOf, walLevelOf } from '../cells/cell-facts.ts'
import { cellOf } from '../cells/create-cell.ts'
import { type Check, fail, pass, rowsOf, warn } from './finding.ts'

type Findings = Awaited<ReturnType<Check['examine']>>

/** What of a cell has to be alike in all of them, or agree with the directory. */
interface CellFacts {
  readonly cell: string
  readonly database: CellDatabase
  readonly named: string | undefined
  readonly schema: string
  readonly keys: string | null
  readonly walLevel: string
  readonly closed: string
  /** Tenants that have been on their way for an hour. */
  readonly stuck: readonly string[]
  /** Where tenants live that have moved, by the directory; empty but in the first cell. */
  readonly homes: readonly { readonly id: string; readonly cell: string }[]
}

/** With CELL_DATABASE_URLS every cell is looked into, and compared with the first. */
export const cells: Check = {
  name: 'cells',
  stages: ['running'],
  async examine({ config, connect }) {
    const urls = config.CELL_DATABASE_URLS
    if (!urls) {
      const [own] = await rowsOf<{ cell: string | null }>(
        await connect('svc_service'),
        'select cell from svc.installation',
      )
      return own!.cell === null
        ? [pass('one database serves the installation')]
        : [warn(`this is the cell ${own!.cell}; set CELL_DATABASE_URLS to have all of them compared`)]
    }
    const findings: Findings[number][] = []
    const opened: CellDatabase[] = []
    const facts: CellFacts[] = []
    try {
      for (const cell of urls.keys())
        try {
          const database = await connectCell(addressOfCell(urls, cell))
          opened.push(database)
          facts.push(await factsOf(cell, database))
        } catch (error) {
          findings.push(fail(`the cell ${cell} cannot be read: ${(error as Error).message}`))
        }
      for (const each of facts)
        findings.push(...problemsOf(each, facts[0]!), ...(await lostTenants(each, facts)))
    } finally {
      await Promise.all(opened.map((database) => database.close()))
    }
    return findings.length > 0
      ? findings
      : [
          pass(
            `${[...urls.keys()].join(', ')}: one schema, one keyring, months closed alike, every tenant at home`,
          ),
        ]
  },
}

async function factsOf(cell: string, database: CellDatabase): Promise<CellFacts> {
  const { client } = database
  const stuck = await rowsOf<{ move: string }>(
    client,
    `select tenant_id || ' ' || state || ' ' || cell as move from tenant_moves
     where state <> 'moved' and since < clock_timestamp() - interval '1 hour' order by 1`,
  )
  return {
    cell,
    database,
    named: await cellOf(client),
    schema: await schemaOf(database),
    keys: await keysOf(database),
    walLevel: await walLevelOf(database),
    closed: (await closedThrough(database))?.through ?? 'no day',
    stuck: stuck.map(({ move }) => move),
    homes: await rowsOf(client, 'select tenant_id as id, cell from tenant_homes order by 1'),
  }
}

function problemsOf(
  { cell, named, schema, keys, walLevel, closed, stuck }: CellFacts,
  first: CellFacts,
): Findings {
  return [
    ...(named === cell ? [] : [fail(`the database of the cell ${cell} is ${named ?? 'no cell'}`)]),
    ...(schema === first.schema
      ? []
      : [fail(`the cells ${first.cell} and ${cell} have other schemas; run svc admin migrate on both`)]),
    ...(keys === first.keys ? [] : [fail(`the cells ${first.cell} and ${cell} do not share a keyring`)]),
    ...(walLevel === 'logical'
      ? []
      : [warn(`wal_level of the cell ${cell} is ${walLevel}; no tenant leaves it before it is logical`)]),
    ...(closed === first.closed
      ? []
      : [
          warn(
            `the books of the cell ${first.cell} are closed through ${first.closed}, those of ${cell} through ${closed}; close both alike before tenants move`,
          ),
        ]),
    ...stuck.map((move) =>
      warn(
        `in the cell ${cell}: ${move} for more than an hour; run svc admin tenant move again, or with --abort`,
      ),
    ),
  ]
}

/** Tenants that the directory has in this cell, and that it does not serve. */
async function lostTenants(
  { cell, database, named }: CellFacts,
  facts: readonly CellFacts[],
): Promise<Findings> {
  if (named !== cell) return []
  const here = facts.flatMap(({ homes }) => homes.filter((home) => home.cell === cell).map(({ id }) => id))
  const lost = await rowsOf<{ id: string }>(
    database.client,
    `select id from unnest($1::text[]) as h (id)
     where not exists (select from tenants t where t.tenant_id = h.id)
       or exists (select from tenant_moves m where m.tenant_id = h.id and m.state = 'moved')`,
    [here],
  )
  return lost.map(({ id }) =>
    fail(
      `the directory has ${id} in the cell ${cell}, which does not serve it; run svc admin tenant move again`,
    ),
  )
}
