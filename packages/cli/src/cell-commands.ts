import { addressOfCell, type CellDatabase, CellRefused, connectCell } from '@svc/app/cells/cell-connection'
import { createCell, listCells, nameFirstCell } from '@svc/app/cells/create-cell'
import { readConfig } from '@svc/contract/config'
import { type Command, InvalidArgumentError } from 'commander'
import { cliActor, type OpenedInstallation, withOpened } from './context.ts'
import { printRecord, printRows } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

interface Ranged extends Json {
  readonly cardRange: string
}

const readCell = (text: string): string => {
  if (/^[a-z]$/.test(text)) return text
  throw new InvalidArgumentError('must be a letter from a to z')
}

const readRange = (text: string): string => {
  if (/^\d{6,10}$/.test(text)) return text
  throw new InvalidArgumentError('must be 6 to 10 digits')
}

const RANGE = 'leading digits of the card numbers that it issues, of no other cell'

export function addCellCommands(program: Command): void {
  const cell = program.command('cell').description('databases that serve one installation together')
  cell
    .command('name <letter>')
    .description('make an installation of one database the first of several cells')
    .requiredOption('--card-range <digits>', RANGE, readRange)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nIds that were issued before stay as they are. Needs DATABASE_OWNER_URL.\n\nExample:\n  svc admin cell name a --card-range 99991201',
    )
    .action((letter: string, { cardRange, json = false }: Ranged) =>
      withCell(async ({ own }) => {
        await nameFirstCell(own, { cell: readCell(letter), cardRange, actor: cliActor() })
        printRecord({ cell: letter, cardRange }, json)
      }),
    )
  cell
    .command('create <letter>')
    .description('make the empty database of DATABASE_URL a cell that shares the keys of the first')
    .requiredOption('--from <letter>', 'the first cell, whose database CELL_DATABASE_URLS names')
    .requiredOption('--card-range <digits>', RANGE, readRange)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nBefore the first start of a service on it. Needs DATABASE_OWNER_URL, CELL_DATABASE_URLS and the SVC_MASTER_KEY of the\nfirst cell.\n\nExample:\n  svc admin cell create b --from a --card-range 99991202',
    )
    .action(create)
  cell
    .command('list')
    .description('list the cells, in the first one')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin cell list')
    .action(({ json = false }: Json) =>
      withCell(async ({ own }) => {
        const cells = await listCells(own.client)
        printRows(
          cells.map((each) => ({ ...each })),
          json,
        )
      }),
    )
}

interface Opened extends OpenedInstallation {
  readonly own: CellDatabase
}

/** The database of DATABASE_OWNER_URL; what is refused is a mistake of the person at the keyboard. */
export const withCell = <T>(work: (opened: Opened) => Promise<T>): Promise<T> =>
  withOpened('newest', async (opened) => {
    const own = await connectCell(opened.address)
    try {
      return await work({ ...opened, own })
    } catch (error) {
      throw error instanceof CellRefused ? new UsageError(error.message) : error
    } finally {
      await own.close()
    }
  })

async function create(letter: string, options: Ranged & { readonly from: string }): Promise<void> {
  const { cardRange, from, json = false } = options
  const cell = readCell(letter)
  await withCell(async ({ own, masterKeys }) => {
    const first = await connectCell(addressOfCell(readConfig(process.env).CELL_DATABASE_URLS, readCell(from)))
    try {
      await createCell(own, first, masterKeys, { cell, cardRange, actor: cliActor() })
    } finally {
      await first.close()
    }
  })
  printRecord({ cell, cardRange, from }, json)
}
