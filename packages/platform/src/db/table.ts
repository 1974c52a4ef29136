import { type ByTenant, byTenant, lastOfEach } from '@svc/kernel/by-tenant'
import type { Paise } from '@svc/kernel/money'
import type { BatchTx } from './batch-tx.ts'
import type { Writes } from './database.ts'
import { type RowLock, rowLock } from './row-lock.ts'
import { type Statement, statement } from './statement.ts'

/** `generated`: its default fills it on insert. `secret`: never read with the row. */
type Access = 'full' | 'generated' | 'secret'

/** What a column holds: its SQL type, and how a value is sent or read where `pg` would not do it right by itself. */
export interface Column<T, A extends Access = 'full'> {
  readonly sql: string
  readonly access: A
  readonly send: ((value: T) => unknown) | undefined
  /** The SQL type that it is read as, where that is another one. */
  readonly readAs: string | undefined
  readonly isNullable?: boolean
  /** A list: `pg` has no arrays of lists, so each is sent as text. */
  readonly isList?: true
  /** Filled on insert with the time of the database. */
  readonly stamped?: true
}

const column = <T>(sql: string, send?: (value: T) => unknown, readAs?: string): Column<T> => ({
  sql,
  access: 'full',
  send,
  readAs,
})

export const text = column<string>('text')
export const flag = column<boolean>('boolean')
export const smallint = column<number>('smallint')
export const integer = column<number>('integer')
export const bigint = column<bigint>('bigint')
export const paise = column<Paise>('bigint')
export const bytes = column<Buffer>('bytea')
export const instant = column<Date>('timestamptz')
/** A calendar day as `YYYY-MM-DD`: `pg` would read it as an instant in the zone of the process. */
export const day = column<string>('date', undefined, 'text')
export const json = <T>(): Column<T> => column<T>('jsonb', (value) => JSON.stringify(value))
/** Text whose values have a type of their own. */
export const textOf = <T extends string>(): Column<T> => column<T>('text')

/** An array of texts. */
export const texts = <T extends string>(): Column<readonly T[]> => ({
  ...column<readonly T[]>('text[]', arrayLiteral),
  isList: true,
})
/** PostgreSQL's text form of an array. */
const arrayLiteral = (values: readonly string[]): string =>
  `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`

export const nullable = <T>({ send, ...of }: Column<T>): Column<T | null> => ({
  ...of,
  send: send && ((value) => (value === null ? null : send(value))),
  isNullable: true,
})
/** Filled by its default: read and updated, never inserted. */
export const generated = <T>(of: Column<T>): Column<T, 'generated'> => ({ ...of, access: 'generated' })
/** Filled with the time of the database: read and updated, never inserted. */
export const stamped = (of: Column<Date>): Column<Date, 'generated'> => ({ ...generated(of), stamped: true })
/** Written, and never read with the row. */
export const secret = <T>(of: Column<T>): Column<T, 'secret'> => ({ ...of, access: 'secret' })

// `never`: whatever a column sends, it is one of these.
type Columns = Readonly<Record<string, Column<never, Access>>>
type Names<C extends Columns, A extends Access> = {
  [N in keyof C & string]: C[N]['access'] extends A ? N : never
}[keyof C & string]
type Values<C extends Columns, N extends keyof C> = {
  readonly [K in N]: C[K] extends Column<infer T, Access> ? T : never
}

/** A row as it is read. */
export type RowOf<T extends { readonly of: Columns }> = Values<T['of'], Names<T['of'], 'full' | 'generated'>>
/** A row as it is inserted. */
export type NewRowOf<T extends { readonly of: Columns }> = Values<T['of'], Names<T['of'], 'full' | 'secret'>>

/** What a lock reads and locks besides the table's own columns and rows; by default the rows of the keys. */
export interface LockText {
  /** More columns, as `m.mcc, t.disabled_at as "disabledAt"`. */
  readonly select?: string
  readonly joins?: string
  readonly where?: string
}

/** What a definition says of the database. */
export interface TableDefinition {
  readonly name: string
  /** The columns that name a row. */
  readonly key: readonly string[]
  readonly columns: readonly {
    readonly name: string
    readonly sql: string
    readonly isNullable: boolean
    /** Whether an insert leaves the column to its default. */
    readonly hasDefault: boolean
  }[]
}

const defined: TableDefinition[] = []
/** Every table of the modules that are loaded. */
export const definedTables = (): readonly TableDefinition[] => defined

const definitionOf = (name: string, { sql, isNullable = false, access, stamped }: Column<never, Access>) => ({
  name,
  sql,
  isNullable,
  hasDefault: access === 'generated' && !stamped,
})

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type KeyOf = (row: object) => string
/** A part of a row's key. Keys are texts, or become ones; the type of a row cannot say so of a column whose name is not known. */
const partOf =
  (name: string): KeyOf =>
  (row) =>
    (row as Record<string, string>)[name]!

/**
 * A table, defined once: its select list, set-based insert, updates and locks derive from its columns. Rows are read
 * under the names of the code, so that nothing maps them. All SQL is built when the module is loaded.
 * `key`: the primary key, the tenant first. `insertOrder`: rows are inserted in order of what is unique across writers,
 * so that concurrent batches cannot deadlock; by default the key. Empty: they are inserted as they are given.
 */
export function table<const C extends Columns, const K extends Names<C, 'full'>>(
  name: string,
  alias: string,
  key: readonly [K, ...K[]],
  of: C,
  insertOrder: readonly Names<C, 'full'>[] = key,
) {
  type Row = Values<C, Names<C, 'full' | 'generated'>>
  type NewRow = Values<C, Names<C, 'full' | 'secret'>>
  const names = Object.keys(of)
  const inserted = names.filter((n) => of[n]!.access !== 'generated')
  const stamps = names.filter((n) => of[n]!.stamped)
  const list = (some: readonly string[]) => some.map(snake).join(', ')
  const arrays = (some: readonly string[], before = 0) =>
    some.map((n, i) => `$${before + i + 1}::${of[n]!.isList ? 'text' : of[n]!.sql}[]`).join(', ')
  const values = (some: readonly string[]) => (some.some((n) => of[n]!.isList) ? some.map(given) : ['*'])
  const given = (n: string) => `given.${snake(n)}${of[n]!.isList ? `::${of[n]!.sql}` : ''}`
  const send = (sent: readonly string[], rows: readonly object[]): unknown[][] =>
    sent.map((n) => {
      const as = of[n]!.send as ((value: unknown) => unknown) | undefined
      return rows.map((row) => {
        const value = (row as Record<string, unknown>)[n]
        return as ? as(value) : value
      })
    })
  const columns = names
    .filter((n) => of[n]!.access !== 'secret')
    .map((n) => `${alias}.${snake(n)}${of[n]!.readAs ? `::${of[n]!.readAs}` : ''} as "${n}"`)
    .join(', ')
  const byKey = `(${key.map((k) => `${alias}.${snake(k)}`).join(', ')}) in (select * from unnest(${arrays(key)}))`
  const [tenant, id] = [`${alias}.${snake(key[0])}`, `${alias}.${snake(key.at(-1)!)}`]
  const parts = key.map(partOf)
  const [tenantOf, idOf] = [parts[0]!, parts.at(-1)!]
  const keyOf: KeyOf = (row) => parts.map((part) => part(row)).join(' ')
  const order = insertOrder.length > 0 ? `order by ${list(insertOrder)}` : ''
  const insertText = (before = 0) =>
    `insert into ${name} (${list([...inserted, ...stamps])})
     select ${[...values(inserted), ...stamps.map(() => 'clock_timestamp()')].join(', ')}
     from unnest(${arrays(inserted, before)}) as given (${list(inserted)}) ${order}`
  const insert = statement(`${name}_insert`, insertText())
  defined.push({ name, key: key.map(snake), columns: names.map((n) => definitionOf(snake(n), of[n]!)) })
  return {
    of,
    /** The select list, under the table's alias. */
    columns,
    /** The rows of the keys that are given by `keys`. */
    find: statement<Row>(`${name}_find`, `select ${columns} from ${name} ${alias} where ${byKey}`),
    /** The parameters of statements that name rows by their keys. */
    keys: (rows: readonly Values<C, K>[]): unknown[][] => send(key, rows),
    /** Rows by tenant, then by id. */
    byTenant: <R extends Values<C, K>>(rows: readonly R[]): ByTenant<Map<string, R>> =>
      byTenant(rows, tenantOf, idOf, (row) => row),
    /** Locks the rows of these keys, each once. */
    async lockRows<R>(
      tx: BatchTx,
      lock: RowLock<R & Values<C, K>>,
      keys: readonly Values<C, K>[],
    ): Promise<ByTenant<Map<string, R & Values<C, K>>>> {
      const wanted = lastOfEach(keys, tenantOf, idOf)
      const rows = wanted.length === 0 ? [] : await tx.lock(lock, send(key, wanted), wanted.length)
      return byTenant(rows, tenantOf, idOf, (row) => row)
    },
    /** The insert as a part of a larger statement, behind so many other parameters. */
    insertText,
    /** Its parameters. */
    insertValues: (rows: readonly NewRow[]): unknown[][] => send(inserted, rows),
    insert(tx: Writes, rows: readonly NewRow[]): void {
      if (rows.length > 0) tx.write(insert, send(inserted, rows))
    },
    /** Updates these columns of the rows that the key names. Of a row that is in the list twice, the last one counts. */
    updates<const S extends Exclude<Names<C, Access>, K>>(
      set: readonly [S, ...S[]],
      as = 'update',
    ): (tx: Writes, rows: readonly Values<C, K | S>[]) => void {
      const sent = [...key, ...set]
      const update: Statement = statement(
        `${name}_${as}`,
        `update ${name} ${alias} set ${set.map((n) => `${snake(n)} = ${given(n)}`).join(', ')}
         from unnest(${arrays(sent)}) as given (${list(sent)})
         where ${key.map((k) => `${alias}.${snake(k)} = given.${snake(k)}`).join(' and ')}`,
      )
      return (tx, rows) => {
        if (rows.length > 0) tx.write(update, send(sent, lastOfEach(rows, tenantOf, keyOf)))
      }
    },
    /** Locks rows in order of their id; `More` is what `select` adds to a row. */
    lock<More = unknown>(
      as: string,
      { select, joins = '', where = byKey }: LockText = {},
    ): RowLock<Row & More> {
      return rowLock(`${name}_${as}`, {
        select: select ? `${columns}, ${select}` : columns,
        from: `from ${name} ${alias} ${joins} where ${where} order by ${id}`,
        tenant,
        id,
        of: alias,
      })
    },
  }
}
