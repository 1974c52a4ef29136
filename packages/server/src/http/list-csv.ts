import { fail } from '@svc/contract/errors'
import { CSV_MEDIA_TYPE, type CsvValue, csvLine } from '@svc/kernel/csv'
import type { Database } from '@svc/platform/db/database'
import { preferredType } from './accept.ts'
import { columnsOf, valueOf } from './csv-columns.ts'
import { type Operation, type Services, streamingQuery } from './operation.ts'
import { LIMIT_MAX } from './page.ts'
import {
  filtersOf,
  type ListFace,
  listOf,
  type Resource,
  readRows,
  recordOf,
  type Scope,
  toRecord,
} from './resource.ts'
import { StreamSlots } from './stream-slots.ts'

/** CSV exports that one tenant may stream at a time. */
const STREAMS_MAX = 2

/** A column of a CSV, and its value of a row. */
export type RowColumn<R> = readonly [name: string, of: (row: R, timeZone: string) => CsvValue]

/** Every field of a tenant's record; amounts have two decimals. */
function fieldsAsColumns<R>(noun: Resource<R>): readonly RowColumn<R>[] {
  const wire = toRecord(noun, 'tenant')
  return columnsOf(recordOf(noun, 'tenant')).map((column) => [
    column.name,
    (row, timeZone) => valueOf(column, wire(row, timeZone)),
  ])
}

/**
 * A list of a tenant's records that is also there whole, as CSV: for who prefers that by `Accept`. Newest first; a bad
 * filter fails before the first byte is sent.
 */
export function listWithCsv<R extends object>(
  noun: Resource<R>,
  { description = '', errors = [], ...face }: ListFace,
  columns: readonly RowColumn<R>[] = fieldsAsColumns(noun),
): Operation<Services> {
  const list = listOf<R>(noun, {
    ...face,
    description: `${description} With \`Accept: text/csv\` all rows of the filter are returned as CSV (RFC 4180) in one response, which takes no \`limit\` and no \`after\`.`,
    errors: [...errors, 'too_many_streams'],
  })
  return streamingQuery({
    ...(list as Operation<Services> & { readonly auth: 'merchant' }),
    alsoProduces: CSV_MEDIA_TYPE,
    mount(services) {
      const { config, database } = services
      const streams = new StreamSlots(STREAMS_MAX)
      const listed = list.mount(services)
      return async (input) => {
        const { caller, headers } = input
        if (preferredType(headers, ['application/json', CSV_MEDIA_TYPE]) !== CSV_MEDIA_TYPE)
          return listed(input)
        const { limit, after, ...filters } = input.query as Readonly<Record<string, string>>
        if (limit !== undefined || after !== undefined)
          fail('validation_failed', { description: 'limit, after: must be absent for CSV' })
        const scope = { reader: 'tenant', tenantId: caller.tenantId } as const
        const params = input.params as Readonly<Record<string, string>>
        const wanted = { ...filters, ...params }
        filtersOf<R>(noun, scope, wanted)
        const { within } = face
        if (within) await database.read([caller.tenantId], (tx) => within(tx, scope, params))
        const lines = () =>
          csvOf(database, { noun, scope, wanted, columns, timeZone: config.BUSINESS_TIME_ZONE })
        const body = streams.stream(caller.tenantId, caller, lines)
        return { headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` }, body }
      }
    },
  })
}

interface Wanted<R> {
  readonly noun: Resource<R>
  readonly scope: Scope & { readonly tenantId: string }
  readonly wanted: Readonly<Record<string, string>>
  readonly columns: readonly RowColumn<R>[]
  readonly timeZone: string
}

/** Short statements by key: no transaction stays open for a slow reader, and memory stays flat. */
async function* csvOf<R extends object>(
  database: Database,
  { noun, scope, wanted, columns, timeZone }: Wanted<R>,
): AsyncGenerator<string> {
  const read = (after?: string) => {
    const page = { ...wanted, limit: String(LIMIT_MAX), ...(after !== undefined && { after }) }
    const reading = database.read([scope.tenantId], (tx) => readRows<R>(tx, noun, scope, page), 'silence')
    // Reported when it is awaited; a reader who hangs up meanwhile never awaits it.
    reading.catch(() => undefined)
    return reading
  }
  yield csvLine(columns.map(([name]) => name))
  // The next page is read while one is sent.
  for (let reading: ReturnType<typeof read> | undefined = read(); reading; ) {
    const { data, next }: Awaited<ReturnType<typeof read>> = await reading
    reading = next === undefined ? undefined : read(next)
    if (data.length > 0)
      yield data.map((row) => csvLine(columns.map(([, valueIn]) => valueIn(row, timeZone)))).join('')
  }
}
