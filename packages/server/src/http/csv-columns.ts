import type { CsvValue } from '@svc/kernel/csv'
import { required } from '@svc/kernel/invariant'

export interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

export interface Column {
  readonly name: string
  /** Names of the fields that lead to the value. */
  readonly path: readonly string[]
  readonly schema: Schema
}

/** Images have no place in a table. */
const LEFT_OUT = new Set(['qrCodeBase64'])

/** The fields of an item, those of its objects included; a name that occurs twice has its object's name before it. */
export function columnsOf(item: Schema): readonly Column[] {
  const found = leaves(item, [])
  const uses = (name: string) => found.filter(({ path }) => path.at(-1) === name).length
  return found.map(({ path, schema }) => {
    const name = required(path.at(-1), 'a field has a name')
    return { name: uses(name) > 1 ? path.join('.') : name, path, schema }
  })
}

const leaves = (schema: Schema, path: readonly string[]): Pick<Column, 'path' | 'schema'>[] =>
  Object.entries(schema.properties ?? {})
    .filter(([name]) => !LEFT_OUT.has(name))
    .flatMap(([name, field]) =>
      field.properties ? leaves(field, [...path, name]) : [{ path: [...path, name], schema: field }],
    )

/** The value of a column. */
export function valueOf({ path, schema }: Column, item: unknown): CsvValue {
  let value = item
  for (const name of path) value = (value as Record<string, unknown> | undefined)?.[name]
  // Numbers with decimals are rupees, in every record of the console; counts are integers.
  if (typeof value === 'number') return schema.type === 'number' ? value.toFixed(2) : value
  return value !== null && typeof value === 'object' ? JSON.stringify(value) : (value as CsvValue)
}
