import type { IdPrefix } from '@svc/contract/id-kinds'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type TObject, type TSchema, Type } from 'typebox'
import { AsOfQuery, readAsOf } from './as-of.ts'
import { Instant, readInstant } from './fields.ts'
import { Filters, type ListPlan, readList } from './list.ts'
import type { Key } from './list-cursor.ts'
import { type Access, type Caller, type Operation, query, type Services, successOf } from './operation.ts'
import { PAGE_IN_BODY, PAGE_IN_QUERY, PageOf } from './page.ts'

/** Who reads: a tenant its own records, or an operator those of all tenants. */
export type Reader = 'tenant' | 'operator'

/** A field of a record: its schema, and its value of a row. */
export interface Field<R> {
  readonly schema: TSchema
  readonly of: (row: R, timeZone: string) => unknown
  readonly operatorOnly?: true
}

type Given = Readonly<Record<string, unknown>>

/** A filter of a list: its schema in the query, with a default or none, and its condition, where `?` stands for the value. */
export interface Filter {
  readonly schema: TSchema
  readonly sql: string | ((filters: Filters, value: string, given: Given, scope: Scope) => void)
  readonly operatorOnly?: true
}

/** The schema of a filter by an id. */
export const idFilter = (description: string) => exactFilter(description, 100)
/** The schema of a filter by a text. */
export const exactFilter = (description: string, maxLength = 64) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))
/** The schema of a filter by one of some values, and which one lists have by default. */
export const choiceFilter = (values: readonly string[], description = 'Only these', value?: string) =>
  Type.Optional(Type.Enum([...values], { description, ...(value !== undefined && { default: value }) }))

/** A filter by an instant: what it adds to the conditions. */
export const instantFilter = (
  name: string,
  description: string,
  add: (filters: Filters, at: Date) => void,
): Filter => ({
  schema: Type.Optional(Instant(description)),
  sql: (filters, text) => add(filters, readInstant(name, text)),
})

/** Where rows lie in time: their instant, and their id, in order of which rows of all tenants are. */
interface InTime {
  readonly prefix: IdPrefix
  readonly id: string
  readonly at: string
  /** The filter that names the tenant, where an index leads from it to its rows by their instant. */
  readonly owner?: string
}

/** A filter by the instant of rows, to the millisecond. */
export const sinceFilter = (
  { prefix, id, at: column, owner }: InTime,
  name: string,
  description: string,
): Filter => ({
  schema: Type.Optional(Instant(description)),
  sql(filters, text, given, { tenantId }) {
    const at = readInstant(name, text)
    const [from, to] = /from$/i.test(name) ? [at, undefined] : [undefined, at]
    if (owner === undefined || (tenantId ?? given[owner]) === undefined)
      filters.createdExactly(id, prefix, column, from, to)
    else filters.add(`${column} >= ?`, from).add(`${column} < ?`, to)
  },
})

/** Filters by the instant of creation. */
export const createdFilters = (prefix: IdPrefix, id: string, at: string, owner?: string) => {
  const inTime = { prefix, id, at, ...(owner !== undefined && { owner }) }
  return {
    createdFrom: sinceFilter(inTime, 'createdFrom', 'Created at this instant or later'),
    createdTo: sinceFilter(inTime, 'createdTo', 'Created before this instant'),
  }
}

/** A noun of the product, described once: what each reader sees of it, and finds it by. */
export interface Resource<R> {
  /** The names of its records; without one for tenants, only operators and members read it. */
  readonly titles: { readonly operator: string; readonly tenant?: string }
  readonly description?: string
  /** The record that its events carry as well, where core has one: the first fields of every reader. */
  readonly record?: {
    readonly schema: TObject
    readonly toWire: (row: R, timeZone: string) => object
  }
  /** Whether an id can exist; any other is not found (decision A12). */
  readonly looksLikeId?: (id: string) => boolean
  readonly from: Pick<ListPlan, 'alias' | 'columns' | 'joins' | 'table'>
  /** What fields of operators alone need besides, such as the tenant's name. */
  readonly operatorFrom?: { readonly columns: string; readonly joins: string }
  /** The column that names the tenant: in every condition of a tenant. */
  readonly tenant: string
  /** What besides bounds the rows that a tenant reads. */
  readonly ofTenant?: string
  /** The columns of order, unique in the end. */
  readonly keys: readonly Key[]
  /** The order of lists by default, instead of `-created`, newest first. */
  readonly usualSort?: string
  /** The order within one tenant, where an index has another; ends with the same column. */
  readonly tenantKeys?: readonly Key[]
  /** Other orders that operators may ask for, ascending, by name. */
  readonly sorts?: Readonly<Record<string, readonly Key[]>>
  readonly fields: Readonly<Record<string, Field<R>>>
  readonly filters: Readonly<Record<string, Filter>>
  /** The row as it stands at the instant of its tenant, where that changes without a write. */
  readonly shown?: (row: R, shownBy: ShownBy) => object
}

/** By what rows are shown: the clocks of tenants, and the settings. */
export type ShownBy = Pick<Services, 'clock' | 'config'>

/** Whose rows: of one tenant, or of all for operators. */
export interface Scope {
  readonly reader: Reader
  readonly tenantId?: string | undefined
  /** Of operators: whether they may find people by a part of what is masked. */
  readonly reveals?: boolean
  /** Of nouns whose rows change without a write. */
  readonly shownBy?: ShownBy
}

const seenBy = <T extends { readonly operatorOnly?: true }>(
  all: Readonly<Record<string, T>>,
  reader: Reader,
) => Object.entries(all).filter(([, one]) => reader === 'operator' || !one.operatorOnly)

const schemasOf = (of: readonly (readonly [string, { readonly schema: TSchema }])[]) =>
  Object.fromEntries(of.map(([name, { schema }]) => [name, schema]))

/** The schemas of a list's filters, for a reader. */
export const filterSchemas = <R>(noun: Resource<R>, reader: Reader) => schemasOf(seenBy(noun.filters, reader))

/** The schemas of a record's fields, for a reader. */
export const fieldsOf = <R>(noun: Resource<R>, reader: Reader) => ({
  ...noun.record?.schema.properties,
  ...schemasOf(seenBy(noun.fields, reader)),
})

/** The schema of a record, for a reader. */
export const recordOf = <R>(noun: Resource<R>, reader: Reader) =>
  Type.Object(fieldsOf(noun, reader), {
    title: noun.titles[reader] ?? noun.titles.operator,
    ...(noun.description !== undefined && { description: noun.description }),
    additionalProperties: false,
  })

/** A row as a reader sees it: what is not known is absent. */
export const toRecord = <R>(noun: Resource<R>, reader: Reader) => {
  const seen = seenBy(noun.fields, reader)
  return (row: R, timeZone: string): Record<string, unknown> => ({
    ...noun.record?.toWire(row, timeZone),
    ...Object.fromEntries(seen.map(([name, { of }]) => [name, of(row, timeZone) ?? undefined])),
  })
}

/** Where the rows of a reader come from. */
const fromOf = <R>({ from, operatorFrom: more }: Resource<R>, reader: Reader): Resource<R>['from'] =>
  reader === 'operator' && more
    ? { ...from, columns: `${from.columns}, ${more.columns}`, joins: `${from.joins ?? ''} ${more.joins}` }
    : from

/** The name of a merchant beside its records. */
export const merchantNameOf = (alias: string) => ({
  columns: 'm.name as "merchantName"',
  joins: `left join merchants m on m.merchant_id = ${alias}.merchant_id`,
})

/** The same of a merchant or a partner. */
export const tenantNameOf = (tenant: string) => ({
  columns: 'coalesce(m.name, n.name) as "tenantName"',
  joins: `left join merchants m on m.merchant_id = ${tenant} left join partners n on n.partner_id = ${tenant}`,
})

/** The conditions of a list, for what else is read of its rows, such as sums. */
export const filtersOf = <R>(noun: Resource<R>, scope: Scope, given: Given) => {
  const filters = new Filters().add(`${noun.tenant} = ?`, scope.tenantId)
  if (scope.reader === 'tenant' && noun.ofTenant) filters.conditions.push(noun.ofTenant)
  for (const [name, { sql }] of seenBy(noun.filters, scope.reader))
    if (typeof sql === 'string') filters.add(sql, given[name])
    else if (given[name] !== undefined) sql(filters, given[name] as string, given, scope)
  return filters
}

/** Whether the rows are those of one tenant, by who reads or by a filter. */
const isOfOneTenant = <R>({ filters, tenant }: Resource<R>, { tenantId }: Scope, given: Given): boolean =>
  tenantId !== undefined ||
  Object.entries(filters).some(([name, { sql }]) => sql === `${tenant} = ?` && given[name] !== undefined)

function keysOf<R>(noun: Resource<R>, scope: Scope, given: Given): readonly Key[] {
  const sorted = noun.sorts?.[(given['sort'] ?? noun.usualSort) as string]
  return sorted ?? (isOfOneTenant(noun, scope, given) && noun.tenantKeys ? noun.tenantKeys : noun.keys)
}

/** The orders of a noun’s lists, the usual one first. */
export function sortsOf<R>({ sorts = {}, usualSort = '-created' }: Resource<R>): string[] {
  const names = usualSort in sorts ? [] : ['-created', 'created']
  return [...new Set([usualSort, ...names, ...Object.keys(sorts)])]
}

type Wanted = Given & {
  readonly limit?: string | number | undefined
  readonly after?: string
  readonly uncounted?: boolean
}

/** A page of rows, in their order. */
export const readRows = <R extends object>(tx: Tx, noun: Resource<R>, scope: Scope, wanted: Wanted) =>
  readList(
    tx,
    {
      ...fromOf(noun, scope.reader),
      filters: filtersOf(noun, scope, wanted),
      keys: keysOf(noun, scope, wanted),
      descending: (wanted['sort'] ?? sortsOf(noun)[0]) === '-created',
    },
    { ...wanted, uncounted: wanted.uncounted ?? scope.reader === 'tenant' },
    shownIn(noun, scope),
  )

/** A page of records, as who reads sees them. */
export async function readRecords<R extends object>(
  tx: Tx,
  noun: Resource<R>,
  scope: Scope,
  wanted: Wanted,
  timeZone: string,
) {
  const { data, ...more } = await readRows(tx, noun, scope, wanted)
  const wire = toRecord(noun, scope.reader)
  return { data: data.map((row) => wire(row, timeZone)), ...more }
}

/** How a row is shown to who reads; as it is stored where the scope does not say when. */
const shownIn =
  <R>({ shown }: Resource<R>, { shownBy }: Scope) =>
  (row: R): R =>
    (shown && shownBy ? shown(row, shownBy) : row) as R

/** One row by its id; `undefined` where the scope has none that fits. */
export async function findRow<R extends object>(
  tx: Tx,
  noun: Resource<R>,
  scope: Scope,
  id: string,
  given: Given = {},
): Promise<R | undefined> {
  if (noun.looksLikeId?.(id) === false) return undefined
  const filters = filtersOf(noun, scope, given).add(`${noun.keys.at(-1)!.sql} = ?`, id)
  const plan = { ...fromOf(noun, scope.reader), filters, keys: noun.keys, descending: true }
  const { data } = await readList(tx, plan, { limit: '1', uncounted: true }, shownIn(noun, scope))
  return data[0]
}

/** The statement of rows by tenants and ids, as a batched lookup of tenants reads them. */
export const rowsById = <R>({ from, tenant, keys }: Resource<R>, name: string) =>
  statement<R>(
    name,
    `select ${from.columns} from ${from.table} ${from.joins ?? ''}
     where (${tenant}, ${keys.at(-1)!.sql}) in (select * from unnest($1::text[], $2::text[]))`,
  )

/** How a list or a record is offered: by whom, and where. */
type Face = Access &
  Pick<Operation, 'id' | 'path' | 'tag' | 'summary' | 'envelope'> &
  Partial<Pick<Operation, 'description' | 'headers' | 'params' | 'permission' | 'role'>>

const readerOf = ({ auth }: Access): Reader => (auth === 'operator' ? 'operator' : 'tenant')

/** Whose rows the caller of an operation reads. */
const scopeOf = (reader: Reader, tenantId: string, shownBy: ShownBy): Scope =>
  reader === 'operator' ? { reader, shownBy } : { reader, tenantId, shownBy }

const sortOf = <R>(noun: Resource<R>) => ({
  sort: Type.Optional(Type.Enum(sortsOf(noun), { description: `\`${sortsOf(noun)[0]}\` by default` })),
  // A name of 100 characters may be part of it.
  after: Type.Optional(Type.String({ maxLength: 800, description: 'The `next` of the previous page' })),
})

/** What a list returns besides its page, where it is counted. */
const Total = Type.Object(
  {
    count: Type.Integer({ description: 'Rows that the filters find' }),
    exact: Type.Boolean({ description: 'False: about so many; say “about”' }),
  },
  { title: 'Total', additionalProperties: false },
)

type Params = Readonly<Record<string, string>>
type Mask = (record: never) => object
interface Asked {
  readonly caller: Caller
  readonly params: unknown
}

/** A list within another record: its failure where the record is missing. */
interface Within {
  readonly errors?: Operation['errors']
  readonly within?: (tx: Tx, scope: Scope, params: Params) => Promise<void>
  /** Of operators: whether the caller may find people by a part of what is masked. */
  readonly reveals?: (caller: Caller) => boolean
  /** How records look to the caller, where they name people outside of fields that are marked. */
  readonly maskFor?: (services: Services, input: Asked) => Mask | Promise<Mask>
}

export type ListFace = Face &
  Within & {
    /** Of a search, whose filters come in its body: those of them that are no text there. */
    readonly inBody?: Readonly<Record<string, TSchema>>
  }

/** As a query string has them. */
const asTexts = (given: unknown): Wanted =>
  Object.fromEntries(Object.entries(given as Given).map(([name, value]) => [name, String(value)]))

/** The list of a noun: of the caller's own records, or of all tenants' for operators; parts of its path are filters. */
export function listOf<R extends object>(
  noun: Resource<R>,
  { within, reveals, maskFor, inBody, errors = [], ...face }: ListFace,
): Operation<Services> {
  const reader = readerOf(face)
  const item = recordOf(noun, reader)
  const success = successOf(face.envelope)
  const counted = Type.Object(
    { data: Type.Array(item), next: Type.Optional(Type.String()), total: Total },
    { additionalProperties: false },
  )
  const filters = seenBy(noun.filters, reader)
  const defaults = Object.fromEntries(
    filters.flatMap(([name, { schema }]) => ('default' in schema ? [[name, schema.default]] : [])),
  )
  const inPath = new Set(Object.keys((face.params as TObject | undefined)?.properties ?? {}))
  const schemas = schemasOf(filters.filter(([name]) => !inPath.has(name)))
  const closed = { additionalProperties: false }
  return query({
    ...face,
    ...(inBody
      ? { method: 'POST', safe: true, body: Type.Object({ ...schemas, ...inBody, ...PAGE_IN_BODY }, closed) }
      : {
          method: 'GET',
          query: Type.Object(
            { ...PAGE_IN_QUERY, ...(reader === 'operator' && sortOf(noun)), ...schemas },
            closed,
          ),
        }),
    result: reader === 'operator' ? counted : PageOf(item),
    errors,
    mount(services) {
      const { config, database } = services
      return async (input) => {
        const { caller, params, query, body } = input
        const { tenantId } = caller
        const scope = { ...scopeOf(reader, tenantId, services), ...(reveals && { reveals: reveals(caller) }) }
        const wanted = { ...defaults, ...(inBody ? asTexts(body) : (query as Wanted)), ...(params as Params) }
        const read = async (tx: Tx) => {
          await within?.(tx, scope, params as Params)
          return readRecords(tx, noun, scope, wanted, config.BUSINESS_TIME_ZONE)
        }
        const { data, next, total } =
          reader === 'operator' ? await database.report(read) : await database.read([tenantId], read)
        const mask = await maskFor?.(services, input)
        const records = mask ? data.map((record) => mask(record as never)) : data
        const page = { data: records, ...(next !== undefined && { next }) }
        return {
          body: success(reader === 'operator' ? { ...page, total } : { recordsCount: data.length, ...page }),
        }
      }
    },
  } as Parameters<typeof query>[0]) as Operation<Services>
}

/** How one record is offered. */
type Show<R> = Face &
  Pick<Operation, 'errors'> & {
    readonly notFound: () => never
    /** The record as it was at the end of an instant, where the past can be requested; `undefined` before it existed. */
    readonly asOf?: (row: R, at: Date) => R | undefined
  }

/** One record of a noun by the last id in its path, the others being filters: the caller's own, or any for operators. */
export function showOf<R extends object>(
  noun: Resource<R>,
  { notFound, asOf, ...face }: Show<R>,
): Operation<Services> {
  const reader = readerOf(face)
  const wire = toRecord(noun, reader)
  const success = successOf(face.envelope)
  return query({
    ...face,
    method: 'GET',
    ...(asOf && { query: AsOfQuery }),
    result: recordOf(noun, reader),
    mount(services) {
      const { clock, config, database } = services
      return async ({ caller: { tenantId }, params, query: wanted }) => {
        const at = asOf && readAsOf(wanted as { asOf?: string }, clock, tenantId)
        const id = Object.values(params as Params).at(-1) ?? ''
        const scope = scopeOf(reader, tenantId, services)
        const find = (tx: Tx) => findRow(tx, noun, scope, id, params as Params)
        const found =
          reader === 'operator' ? await database.operate(find) : await database.read([tenantId], find)
        const row = found && at ? asOf(found, at) : found
        return { body: success(wire(row ?? notFound(), config.BUSINESS_TIME_ZONE)) }
      }
    },
  } as Parameters<typeof query>[0]) as Operation<Services>
}
