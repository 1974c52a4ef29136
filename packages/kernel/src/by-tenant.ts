/**
 * State of many tenants, a slice each. A slice is read by its tenant and by nothing else: neither a lookup across
 * tenants nor a key made of a tenant and an id can be written.
 */
export class ByTenant<S> {
  readonly #slices = new Map<string, S>()
  readonly #empty: (tenantId: string) => S

  /** `empty` creates the slice of a tenant that has none yet. */
  constructor(empty: (tenantId: string) => S) {
    this.#empty = empty
  }

  of(tenantId: string): S {
    let slice = this.#slices.get(tenantId)
    if (slice === undefined) {
      slice = this.#empty(tenantId)
      this.#slices.set(tenantId, slice)
    }
    return slice
  }
}

/** Rows by tenant, then by id. */
export function byTenant<Row, V>(
  rows: readonly Row[],
  tenantOf: (row: Row) => string,
  idOf: (row: Row) => string,
  valueOf: (row: Row) => V,
): ByTenant<Map<string, V>> {
  const state = new ByTenant(() => new Map<string, V>())
  for (const row of rows) state.of(tenantOf(row)).set(idOf(row), valueOf(row))
  return state
}

/** Ids by tenant. */
export function idsByTenant<Row>(
  rows: readonly Row[],
  tenantOf: (row: Row) => string,
  idOf: (row: Row) => string,
): ByTenant<Set<string>> {
  const state = new ByTenant(() => new Set<string>())
  for (const row of rows) state.of(tenantOf(row)).add(idOf(row))
  return state
}

/** The last item of each tenant and id, in order of their first. */
export function lastOfEach<T>(
  items: Iterable<T>,
  tenantOf: (item: T) => string,
  idOf: (item: T) => string,
): T[] {
  const places = new ByTenant(() => new Map<string, number>())
  const last: T[] = []
  for (const item of items) {
    const known = places.of(tenantOf(item))
    const id = idOf(item)
    const place = known.get(id)
    if (place === undefined) known.set(id, last.push(item) - 1)
    else last[place] = item
  }
  return last
}
