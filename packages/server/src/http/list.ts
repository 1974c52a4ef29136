import { createHash } from 'node:crypto'
import { ID_SLACK_MS, type IdPrefix, idFloor } from '@svc/contract/id-kinds'
import type { Tx } from '@svc/platform/db/database'
import { encodeKeys, type Key, keyText, readKeys } from './list-cursor.ts'
import { readLimit } from './page.ts'

/** Conditions of one list and their values; `?` stands for the value. */
export class Filters {
  readonly conditions: string[] = []
  readonly values: unknown[] = []
  /** Rows that the list is made of part by part, each in order already: `from … where …`, and how they belong. */
  parts?: { readonly from: string; readonly link: string }
  /** Conditions that exclude each other, each with an index of its own. */
  branches?: readonly string[]
  /** An order of few rows that no index has, instead of that of the list: they are found first, then sorted. */
  keys?: readonly Key[]

  /** Adds a condition if there is a value to hold against it. */
  add(condition: string, value: unknown): this {
    if (value !== undefined) this.conditions.push(condition.replaceAll('?', () => this.param(value)))
    return this
  }

  param(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** Ids sort by time, so that a range of time is a range of ids, which every index that ends with the id serves. */
  created(column: string, prefix: IdPrefix, from: Date | undefined, to: Date | undefined): this {
    return this.add(`${column} >= ?`, from && idFloor(prefix, from)).add(
      `${column} < ?`,
      to && idFloor(prefix, to),
    )
  }

  /** The same to the millisecond of the row's own instant, which lies a moment beside that of its id. */
  createdExactly(idColumn: string, prefix: IdPrefix, atColumn: string, from?: Date, to?: Date): this {
    const shifted = (at: Date | undefined, ms: number) => at && new Date(at.getTime() + ms)
    return this.created(idColumn, prefix, shifted(from, -ID_SLACK_MS), shifted(to, ID_SLACK_MS))
      .add(`${atColumn} >= ?`, from)
      .add(`${atColumn} < ?`, to)
  }
}

/** A pattern of `like` that matches this text only. */
export const escapeLikePattern = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
/** A pattern of `like` that matches texts that begin with this one. */
export const begins = (text: string): string => `${escapeLikePattern(text)}%`

export interface ListPlan {
  /** What is shown of a row. */
  readonly columns: string
  /** The table with its alias; its rows are cut to a page before anything is joined. */
  readonly table: string
  readonly alias: string
  readonly joins?: string
  readonly filters: Filters
  /** Unique in the end; an index serves them in this order, or backwards. */
  readonly keys: readonly Key[]
  readonly descending: boolean
}

export interface PageRequest {
  readonly limit?: string | number | undefined
  readonly after?: string | undefined
  /** Leaves out how long the list is, for those who read all of it. */
  readonly uncounted?: boolean
}

/** Up to here rows are counted; beyond it the planner's estimate is shown. */
const COUNTED_MAX = 10_000

/** One page of a list, and about how long the whole list is. Prepared once for each set of filters and order. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each caller knows the row of its plan
export async function readList<Row extends object, Item>(
  tx: Tx,
  plan: ListPlan,
  pageRequest: PageRequest,
  toItem: (row: Row) => Item,
) {
  const limit = readLimit(pageRequest.limit)
  const { alias, columns, descending, filters, joins = '', table } = plan
  const { branches, keys = plan.keys, parts } = filters
  const total = pageRequest.uncounted ? { count: 0, exact: false } : await countRows(tx, plan)
  const keyed = keys.map(({ sql }, i) => `${sql} as key_${i}`).join(', ')
  const after = readKeys(pageRequest.after, keys)
  const conditions = [...filters.conditions]
  if (after) {
    const left = keys.map(({ sql }) => sql).join(', ')
    const right = keys.map(({ type }, i) => `${filters.param(after[i])}::${type}`).join(', ')
    conditions.push(`(${left}) ${descending ? '<' : '>'} (${right})`)
  }
  const direction = descending ? 'desc' : 'asc'
  const order = keys.map((_, i) => `key_${i} ${direction}`).join(', ')
  const cut = (from: string, where: readonly string[]) =>
    `select ${alias}.*, ${keyed} from ${from} ${whereOf(where)}
     order by ${keys.map(({ sql }) => `${sql} ${direction}`).join(', ')} limit ${limit + 1}`
  const united = branches?.map((branch) => `(${cut(table, [branch, ...conditions])})`).join(' union all ')
  const rows = united
    ? `select * from (${united}) ${alias} order by ${order} limit ${limit + 1}`
    : parts
      ? `select ${alias}.* ${parts.from} cross join lateral (${cut(table, [parts.link, ...conditions])}) ${alias}
       order by ${order} limit ${limit + 1}`
      : cut(table, conditions)
  const text = `select ${columns}, ${keys.map(({ type }, i) => `${keyText(type, `${alias}.key_${i}`)} as key_${i}`).join(', ')}
    from (${rows}) ${alias} ${joins} order by ${keys.map((_, i) => `${alias}.key_${i} ${direction}`).join(', ')}`
  const found = await tx.query<Row>(prepared(text), filters.values)
  const shown = found.slice(0, limit)
  const last = shown.at(-1) as Record<string, string> | undefined
  return {
    data: shown.map(toItem),
    ...(found.length > limit && { next: encodeKeys(keys.map((_, i) => last![`key_${i}`]!)) }),
    total,
  }
}

/** The name of a statement by its text: connections prepare it once, however many lists have it. */
const prepared = (text: string) => ({
  name: `list_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
  text,
})

const whereOf = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''

/** Exact for short lists, else what the planner thinks: counting a million rows takes longer than showing fifty. */
export async function countRows(
  tx: Tx,
  { filters, table }: Pick<ListPlan, 'filters' | 'table'>,
): Promise<{ count: number; exact: boolean }> {
  const { branches, conditions, parts, values } = filters
  const rows = branches
    ? branches.map((branch) => `select from ${table} ${whereOf([branch, ...conditions])}`).join(' union all ')
    : parts
      ? `select ${parts.from} cross join lateral (select from ${table} ${whereOf([parts.link, ...conditions])}) one`
      : `select from ${table} ${whereOf(conditions)}`
  const text = `select count(*) as count from (select from (${rows}) found limit ${COUNTED_MAX + 1}) counted`
  const [row] = await tx.query<{ count: bigint }>(prepared(text), values)
  const count = Number(row!.count)
  if (count <= COUNTED_MAX) return { count, exact: true }
  const [plan] = await tx.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
    { name: '', text: `explain (format json) ${rows}` },
    values,
  )
  return { count: Math.max(count, plan!['QUERY PLAN'][0].Plan['Plan Rows']), exact: false }
}
