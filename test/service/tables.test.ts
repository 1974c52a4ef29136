import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { statement } from '@svc/platform/db/statement'
import { definedTables, type TableDefinition } from '@svc/platform/db/table'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'
import { PROGRAM_PACKAGES, ROOT, sourcesOf } from '../harness/sources.ts'

interface DatabaseColumn {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly hasDefault: boolean
}

let service: TestService
let columns: DatabaseColumn[]
/** PostgreSQL's own name of each type in the definitions. */
let typeNames: ReadonlyMap<string, string>

const COLUMNS = `
  select table_name::text as "table", column_name::text as name, to_regtype(quote_ident(udt_name))::text as type,
    is_nullable = 'YES' as "isNullable",
    column_default is not null or is_identity = 'YES' or is_generated = 'ALWAYS' as "hasDefault"
  from information_schema.columns where table_schema = 'svc'`

beforeAll(async () => {
  service = await openService()
  const tables = sourcesOf(PROGRAM_PACKAGES).filter(({ text }) => /\/table(?:\.ts)?'/.test(text))
  for (const { file } of tables) await import(pathToFileURL(join(ROOT, file)).href)
  const types = [...new Set(definedTables().flatMap((table) => table.columns.map(({ sql }) => sql)))]
  await asSuperuser(service.db.database, async (db) => {
    columns = (await db.query<DatabaseColumn>(COLUMNS)).rows
    const { rows } = await db.query<{ sql: string; type: string }>(
      'select sql, to_regtype(sql)::text as type from unnest($1::text[]) sql',
      [types],
    )
    typeNames = new Map(rows.map(({ sql, type }) => [sql, type]))
  })
})
afterAll(() => service.close())

/** Where a definition and the database disagree. */
function differences(definition: TableDefinition, inDatabase: readonly DatabaseColumn[]): string[] {
  const actual = new Map(inDatabase.map((column) => [column.name, column]))
  const ofDefinition = definition.columns.flatMap(({ name, sql, isNullable, hasDefault }) => {
    const column = actual.get(name)
    actual.delete(name)
    if (!column) return [`${name}: is not in the database`]
    const type = typeNames.get(sql)
    return [
      ...(column.type === type ? [] : [`${name}: is ${column.type}, not ${type}`]),
      ...(column.isNullable === isNullable ? [] : [`${name}: is ${isNullable ? 'not null' : 'nullable'}`]),
      ...(hasDefault && !column.hasDefault && !column.isNullable ? [`${name}: has no default`] : []),
    ]
  })
  const required = [...actual.values()].filter(({ isNullable, hasDefault }) => !isNullable && !hasDefault)
  return [...ofDefinition, ...required.map(({ name }) => `${name}: is not in the definition`)]
}

const columnsOf = (name: string) => columns.filter(({ table }) => table === name)
const definitionOf = (name: string) => definedTables().find((table) => table.name === name)!

test('the columns of every table in the code are those of the database: name, type and nullability', () => {
  const names = definedTables().map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['qr_codes', 'outbox', 'ledger_transfers', 'webhook_endpoints']),
  )
  expect(
    Object.fromEntries(
      definedTables().map((table) => [table.name, differences(table, columnsOf(table.name))]),
    ),
  ).toEqual(Object.fromEntries(names.map((name) => [name, []])))
})

test('a missing, a wrongly typed and a wrongly nullable column of a table are detected', () => {
  const payments = definitionOf('payments')
  const changed = (name: string, change: Partial<TableDefinition['columns'][number]>): TableDefinition => ({
    ...payments,
    columns: payments.columns.map((column) => (column.name === name ? { ...column, ...change } : column)),
  })
  const without = (name: string) => columnsOf('payments').filter((column) => column.name !== name)
  const found = (table: TableDefinition, inDatabase = columnsOf('payments')) => differences(table, inDatabase)

  expect(found(changed('utr', { name: 'rrn' }))).toEqual([
    'rrn: is not in the database',
    'utr: is not in the definition',
  ])
  expect(found(payments, without('reason'))).toEqual(['reason: is not in the database'])
  expect(found(changed('amount_paise', { sql: 'text' }))).toEqual(['amount_paise: is bigint, not text'])
  expect(found(changed('reason', { isNullable: false }))).toEqual(['reason: is nullable'])
  expect(found(changed('utr', { isNullable: true }))).toEqual(['utr: is not null'])
  expect(found(changed('utr', { hasDefault: true }))).toEqual(['utr: has no default'])
})

test('lists reach the database as they are: marks, nothing, bytes, instants, objects and lists', async () => {
  const lists = {
    text: ['', 'a "b" \\ {c},d', "e'f", ' ', 'null', null, '₹\n\t'],
    bigint: [0n, -9007199254740993n, null],
    int: [1, -2],
    bool: [true, false, null],
    bytea: [Buffer.from([0, 92, 255]), Buffer.alloc(0), null],
    timestamptz: [new Date('2026-11-26T00:00:00.001+05:30'), new Date(0), null],
    jsonb: [{ a: 'b "c" \\ d' }, { list: [1, null] }],
  }
  for (const [type, list] of Object.entries(lists)) {
    const echo = statement<{ at: bigint; value: unknown }>(
      `lists_echo_${type}`,
      `select ordinality as at, value from unnest($1::${type}[]) with ordinality as given (value) order by at`,
    )
    const rows = await service.app.services.database.directory(echo, [list])
    expect(
      rows.map(({ value }) => value),
      type,
    ).toEqual(list)
  }
  const nested = statement<{ value: unknown }>('lists_echo_nested', 'select $1::text[][] as value')
  const given = [
    ['a', 'b"'],
    [null, '\\'],
  ]
  expect(await service.app.services.database.directory(nested, [given])).toEqual([{ value: given }])
})
