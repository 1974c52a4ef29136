import { csvLine } from '@svc/kernel/csv'
import { columnsOf, type Schema, valueOf } from '@svc/server/http/csv-columns'
import {
  fieldsOf,
  findRow,
  type Resource,
  readRows,
  recordOf,
  sortsOf,
  toRecord,
} from '@svc/server/http/resource'
import { type Command, Option } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { type FieldSchema, optionOf } from './option-of-field.ts'
import { type Printed, printJson, printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { flat } from './remote.ts'
import { UsageError } from './usage-error.ts'

const ALL = { reader: 'operator' } as const
const PAGE_MAX = 500

/** How a noun is listed beside its resource: by which filter without a name, and an example. */
interface ListFace {
  readonly description: string
  readonly example: string
  /** Name of the command, where it is not `list`. */
  readonly name?: string
  /** How many it prints by default. */
  readonly limit?: number
  /** The filter that is the argument of the command. */
  readonly by?: string
  /** Reads that argument. */
  readonly read?: (text: string) => string
  /** Filters that hold unless `--all`, and what that option lists besides; without it they always hold. */
  readonly only?: Readonly<Record<string, string>>
  readonly all?: string
}

/** `list` of a noun: its filters are options, and its records are what the API returns to operators. */
export function addNounList<R extends object>(
  group: Command,
  noun: Resource<R>,
  { by, name = 'list', limit: most = 50, read = String, only = {}, all, description, example }: ListFace,
): void {
  const command = group.command(by === undefined ? name : `${name} [${by}]`).description(description)
  for (const [filter, { schema }] of Object.entries(noun.filters))
    if (filter !== by && (all !== undefined || !(filter in only)))
      command.addOption(optionOf(filter, schema as FieldSchema))
  if (all !== undefined) command.option('--all', all)
  command
    .addOption(new Option('--sort <order>', 'newest first by default').choices(sortsOf(noun)))
    .option('--limit <count>', 'how many', readCount, most)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  ${example}`)
    .action(async (...args: readonly unknown[]) => {
      const { all: lifted = false, limit, csv, json, ...filters } = args.at(-2) as ListOptions
      const given = {
        ...(!lifted && only),
        ...filters,
        ...(by !== undefined && args[0] !== undefined && { [by]: read(args[0] as string) }),
      }
      await printRecords(noun, given, limit, { ...(csv && { csv }), ...(json && { json }) })
    })
}

type ListOptions = Printed & { readonly all?: boolean; readonly limit: number } & Readonly<
    Record<string, unknown>
  >

async function printRecords<R extends object>(
  noun: Resource<R>,
  given: Readonly<Record<string, unknown>>,
  limit: number,
  printed: Printed,
): Promise<void> {
  const records = await withInstallation((context) => readRecords(context, noun, given, limit))
  printNouns(noun, records, printed)
}

/** So many records of a noun that fit, as the API returns them to operators. */
export async function readRecords<R extends object>(
  { clock, config, database }: CommandContext,
  noun: Resource<R>,
  given: Readonly<Record<string, unknown>>,
  limit: number,
): Promise<object[]> {
  const scope = { ...ALL, shownBy: { clock, config } }
  const wire = toRecord(noun, 'operator')
  const found: R[] = []
  for (let after: string | undefined; found.length < limit; ) {
    const size = String(Math.min(PAGE_MAX, limit - found.length))
    const wanted = { ...given, limit: size, uncounted: true, ...(after !== undefined && { after }) }
    const { data, next } = await database.report((tx) => readRows(tx, noun, scope, wanted))
    found.push(...data)
    if (next === undefined) break
    after = next
  }
  return found.map((row) => wire(row, config.BUSINESS_TIME_ZONE))
}

/** Records for people, or the same JSON and CSV as the API and the export of the console. */
export function printNouns<R>(noun: Resource<R>, records: readonly object[], { csv, json }: Printed): void {
  if (json) return printJson(records)
  if (csv) {
    const columns = columnsOf(recordOf(noun, 'operator') as Schema)
    const lines = records.map((record) => csvLine(columns.map((column) => valueOf(column, record))))
    process.stdout.write([csvLine(columns.map(({ name }) => name)), ...lines].join(''))
    return
  }
  // Every record has every column: the first one decides what a table shows.
  const names = Object.keys(fieldsOf(noun, 'operator'))
  const none = Object.fromEntries(names.map((name) => [name, undefined]))
  printRows(
    records.map((record) => flat({ ...none, ...record })),
    false,
  )
}

/** How one record of a noun is shown. */
interface ShowFace {
  readonly description: string
  readonly example: string
  /** The argument's name, such as `refundId`. */
  readonly id: string
  /** The filter by which a text that is no id finds it. */
  readonly or?: string
}

/** `cardAccountId` names a card account. */
const nounOf = (id: string): string =>
  id
    .replace(/^svc(?=[A-Z])|Id$/g, '')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim()
    .replace(/^qr /, 'QR ')

/** `show` of a noun: the record as the API returns it to operators. */
export function addNounShow<R extends object>(
  group: Command,
  noun: Resource<R>,
  { description, example, id, or }: ShowFace,
): void {
  group
    .command(`show <${id}>`)
    .description(description)
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  ${example}`)
    .action(async (wanted: string, { json = false }: Printed) => {
      const record = await withInstallation((context) => readRecord(context, noun, wanted, or))
      if (!record)
        throw new UsageError(`There is no ${nounOf(id)} ${wanted}. List: svc admin ${group.name()} list`)
      printNoun(record, json)
    })
}

async function readRecord<R extends object>(
  { clock, config, database }: CommandContext,
  noun: Resource<R>,
  id: string,
  or?: string,
): Promise<object | undefined> {
  const scope = { ...ALL, shownBy: { clock, config } }
  const row = await database.operate(async (tx) => {
    if (or === undefined || noun.looksLikeId?.(id)) return findRow(tx, noun, scope, id)
    return (await readRows(tx, noun, scope, { [or]: id, limit: '1', uncounted: true })).data[0]
  })
  return row && toRecord(noun, 'operator')(row, config.BUSINESS_TIME_ZONE)
}

/** A record for people, or the same JSON as the API returns. */
export const printNoun = (record: object, json: boolean): void =>
  printRecord(json ? (record as never) : flat(record), json)
