import { addressOfCell, type CellDatabase, connectCell } from '@svc/app/cells/cell-connection'
import { mapsOf, writeMaps } from '@svc/app/cells/directory'
import { readConfig } from '@svc/contract/config'
import type { Command } from 'commander'
import { withCell } from './cell-commands.ts'
import { directoryOf } from './move-command.ts'
import { printRecord } from './print.ts'

export function addDirectoryCommands(program: Command): void {
  program
    .command('directory')
    .description('in which cell each tenant lives')
    .command('export <folder>')
    .description('write the maps by which HAProxy routes requests to cells')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nNeeds CELL_DATABASE_URLS. Reload HAProxy afterwards; deploy/haproxy/cells.cfg reads the maps.\n\nExample:\n  svc admin directory export /etc/haproxy/maps',
    )
    .action(exportMaps)
}

async function exportMaps(folder: string, { json = false }: { readonly json?: boolean }): Promise<void> {
  const urls = readConfig(process.env).CELL_DATABASE_URLS
  const opened: CellDatabase[] = []
  const connect = async (cell: string) => {
    const database = await connectCell(addressOfCell(urls, cell))
    opened.push(database)
    return database
  }
  const counts = await withCell(async () => {
    try {
      const maps = await mapsOf(await directoryOf(urls, connect), connect)
      await writeMaps(folder, maps)
      return Object.fromEntries(Object.entries(maps).map(([name, entries]) => [name, entries.length]))
    } finally {
      await Promise.all(opened.map((database) => database.close()))
    }
  })
  printRecord({ folder, ...counts }, json)
}
