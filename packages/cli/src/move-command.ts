import { addressOfCell, type CellDatabase, connectCell } from '@svc/app/cells/cell-connection'
import { obstacles } from '@svc/app/cells/check-move'
import { cellOf, listCells } from '@svc/app/cells/create-cell'
import { mapsOf, tenantMapOf, writeMaps } from '@svc/app/cells/directory'
import { abortMove, companions, moveTenant } from '@svc/app/cells/move-tenant'
import { sumTables } from '@svc/app/cells/moved-tables'
import type { Travel } from '@svc/app/cells/replication'
import { setRoutes } from '@svc/app/cells/router'
import type { CellUrls } from '@svc/contract/cell-settings'
import { readConfig } from '@svc/contract/config'
import { Keyring } from '@svc/platform/crypto/keyring'
import { openLog } from '@svc/platform/log'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { withCell } from './cell-commands.ts'
import { cliActor, type OpenedInstallation, openDatabase } from './context.ts'
import { printRecord } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Options {
  readonly to: string
  readonly dryRun?: true
  readonly abort?: true
  readonly hold: number
  readonly router: readonly string[]
  readonly routerMaps: string
  readonly export?: string
  readonly json?: boolean
}

const readHold = (text: string): number => {
  if (/^\d{1,6}$/.test(text) && Number(text) >= 100) return Number(text)
  throw new InvalidArgumentError('must be a whole number of milliseconds from 100 on')
}

const progress = (line: string): void => void process.stderr.write(`${line}\n`)

export const routerOption = () =>
  new Option(
    '--router <socket>',
    'admin socket of HAProxy, whose maps are changed at once; several: repeat it',
  )
    .argParser((socket: string, sockets: readonly string[] | undefined) => [...(sockets ?? []), socket])
    .default([] as readonly string[])
export const routerMapsOption = () =>
  new Option('--router-maps <folder>', 'where its configuration says that the maps are').default(
    '/etc/haproxy/maps',
  )

export function addMoveCommand(tenant: Command): void {
  tenant
    .command('move <tenantId>')
    .description(
      'move a tenant to another cell while it is served; a partner with the merchants linked to it',
    )
    .requiredOption('--to <letter>', 'the cell in which it is to live')
    .option('--dry-run', 'say what would move and what stands in the way, and change nothing')
    .option('--abort', 'end a move that has not come to its last step: the tenant stays')
    .option(
      '--hold <ms>',
      'how long callers may be held at most before they are served again; the first time half as long',
      readHold,
      2_000,
    )
    .addOption(routerOption())
    .addOption(routerMapsOption())
    .option(
      '--export <folder>',
      'where to write the maps too, as svc admin directory export does: a router that is started again has them',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Run it in the cell in which the tenant lives. If it is broken off, run it again: each step goes on where it was. Needs
CELL_DATABASE_URLS with a login that may replicate, and wal_level = logical.

Examples:
  svc admin tenant move mer_… --to b --dry-run
  svc admin tenant move mer_… --to b --router /run/haproxy/admin.sock --export /etc/haproxy/maps
  svc admin tenant move mer_… --to b --abort`,
    )
    .action((tenantId: string, options: Options) => move(tenantId, options))
}

async function move(tenantId: string, options: Options): Promise<void> {
  const urls = readConfig(process.env).CELL_DATABASE_URLS
  const connected: CellDatabase[] = []
  const connect = async (cell: string) => {
    const database = await connectCell(addressOfCell(urls, cell))
    connected.push(database)
    return database
  }
  await withCell(async ({ own, ...opened }) => {
    try {
      const from = await cellOf(own.client)
      if (from === undefined) throw new UsageError('This database is no cell. Name it: svc admin cell name')
      if (from === options.to) throw new UsageError(`This database is the cell ${from} itself`)
      const [source, target] = [await connect(from), await connect(options.to)]
      await requireAlone(source, tenantId)
      const tenants = await companions(source.client, tenantId)
      const travel = { source, target, from, to: options.to, tenants }
      const keyring = () => keyringOf(opened)
      const requestMs = opened.config.COMMAND_TIMEOUT_MS
      const directory = () => directoryOf(urls, connect)
      await carryOut(travel, options, { directory, connect, keyring, requestMs })
    } finally {
      await Promise.all(connected.map((database) => database.close()))
    }
  })
}

/** Two movers of one tenant would undo each other's steps; the lock ends with its session. */
async function requireAlone({ client }: CellDatabase, tenantId: string): Promise<void> {
  const { rows } = await client.query<{ alone: boolean }>(
    `select pg_try_advisory_lock(hashtextextended('svc move ' || $1, 0)) as alone`,
    [tenantId],
  )
  if (!rows[0]!.alone) throw new UsageError(`Another command moves ${tenantId} just now`)
}

/** The database of the first cell, which has the directory. */
export async function directoryOf(
  urls: CellUrls | undefined,
  connect: (cell: string) => Promise<CellDatabase>,
): Promise<CellDatabase> {
  for (const cell of urls?.keys() ?? []) {
    const database = await connect(cell)
    if ((await listCells(database.client)).length > 0) return database
  }
  throw new UsageError('CELL_DATABASE_URLS does not name the first cell, which has the directory')
}

/** The keys that the cells share. */
async function keyringOf({ config, address, masterKeys }: OpenedInstallation): Promise<Keyring> {
  const database = openDatabase(config, address, openLog('warn', process.stderr))
  try {
    return await Keyring.open(database, masterKeys)
  } finally {
    await database.close()
  }
}

interface Directory {
  readonly directory: () => Promise<CellDatabase>
  readonly connect: (cell: string) => Promise<CellDatabase>
  readonly keyring: () => Promise<Keyring>
  readonly requestMs: number
}

async function carryOut(
  travel: Travel,
  { abort, dryRun, hold: holdMs, router: sockets, routerMaps, export: folder, json = false }: Options,
  { connect, directory: find, keyring: open, requestMs }: Directory,
): Promise<void> {
  const { tenants, from, to } = travel
  const facts = { tenants: tenants.join(' '), from, to }
  if (dryRun) {
    const problems = await obstacles(travel)
    const beganMs = performance.now()
    const sums = await sumTables(travel.source.client, tenants)
    // So long the comparison takes under the hold.
    const compareMs = Math.round(performance.now() - beganMs)
    const rows = sums.reduce((sum, table) => sum + Number(table.rows), 0)
    printRecord({ ...facts, rows, compareMs, obstacles: problems.join('; ') || 'none' }, json)
    if (problems.length > 0) process.exitCode = 1
    return
  }
  if (abort) {
    await abortMove(travel, progress)
    return printRecord({ ...facts, aborted: true }, json)
  }
  const directory = await find()
  const routers = { sockets, maps: routerMaps }
  const routed = async () => {
    await setRoutes(routers, await tenantMapOf(directory, tenants))
    if (folder) await writeMaps(folder, await mapsOf(directory, connect))
    // Again what a router may have lost that was started before the files were whole.
    await setRoutes(routers, await mapsOf(directory, connect, tenants))
  }
  const keyring = await open()
  await moveTenant(travel, {
    actor: cliActor(),
    keyring,
    holdMs,
    requestMs,
    directory,
    report: progress,
    routed,
  })
  printRecord({ ...facts, moved: true }, json)
}
