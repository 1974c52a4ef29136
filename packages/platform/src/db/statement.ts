/** A statement that connections prepare once under its name. `$1`, `$2` … are its parameters. */
export interface Statement<Row = unknown> {
  readonly name: string
  readonly text: string
  /** Never present: carries the row's type to the caller. */
  readonly row?: Row
}

const taken = new Set<string>()

/** Names a statement; the name is unique in the program and shows up in `pg_prepared_statements`. */
export function statement<Row = unknown>(name: string, text: string): Statement<Row> {
  if (taken.has(name) || name.length > 63) throw new Error(`statement name ${name} is taken or too long`)
  taken.add(name)
  return { name, text }
}

/** Rows to one array for each column, the parameters of `insert … select from unnest($1::…, $2::…)`. */
export function columns<T>(rows: readonly T[], ...pick: ((row: T) => unknown)[]): unknown[][] {
  return pick.map((value) => rows.map(value))
}
