import { addressOfCell, type CellDatabase, connectCell } from '@svc/app/cells/cell-connection'
import { mapsOf, writeMaps } from '@svc/app/cells/directory'
import { setRoutes } from '@svc/app/cells/router'
import { readConfig } from '@svc/contract/config'
import type { Command } from 'commander'
import { withCell } from './cell-commands.ts'
import { directoryOf, routerMapsOption, routerOption } from './move-command.ts'
import { printRecord } from './print.ts'

export function addDirectoryCommands(program: Command): void {
  program
    .command('directory')
    .description('in which cell each tenant lives')
    .command('export <folder>')
    .description('write the maps by which HAProxy routes requests to cells')
    .addOption(routerOption())
    .addOption(routerMapsOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Needs CELL_DATABASE_URLS. HAProxy with deploy/haproxy/cells.cfg reads the maps when it starts or is reloaded; those that
--router names have them at once.

Example:
  svc admin directory export /etc/haproxy/maps --router /run/haproxy/admin.sock`,
    )
    .action(exportMaps)
}

interface Options {
  readonly router: readonly string[]
  readonly routerMaps: string
  readonly json?: boolean
}

async function exportMaps(folder: string, options: Options): Promise<void> {
  const { json = false, router: sockets, routerMaps: maps } = options
  const urls = readConfig(process.env).CELL_DATABASE_URLS
  const opened: CellDatabase[] = []
  const connect = async (cell: string) => {
    const database = await connectCell(addressOfCell(urls, cell))
    opened.push(database)
    return database
  }
  const counts = await withCell(async () => {
    try {
      const written = await mapsOf(await directoryOf(urls, connect), connect)
      await writeMaps(folder, written)
      await setRoutes({ sockets, maps }, written)
      return Object.fromEntries(Object.entries(written).map(([name, entries]) => [name, entries.length]))
    } finally {
      await Promise.all(opened.map((database) => database.close()))
    }
  })
  printRecord({ folder, ...counts }, json)
}
