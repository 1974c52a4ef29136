import { useEffect, useMemo, useRef, useState } from 'react'

/** Rows of a list that something is to be done with, by their keys. */
export interface Selection<Row> {
  readonly rows: ReadonlyMap<string, Row>
  /** Of the rows that are shown. */
  readonly all: 'all' | 'some' | 'none'
  /** With `range`, also all rows between this one and the one that was chosen before. */
  readonly toggle: (key: string, range: boolean) => void
  readonly toggleAll: () => void
  /** Does nothing once the list or its filters are others than when this was got. */
  readonly set: (rows: readonly Row[]) => void
  readonly clear: () => void
}

/** `of` names the list and its filters: another list starts with nothing selected. */
export function useSelection<Row>(
  shown: readonly Row[],
  rowKey: (row: Row) => string,
  of: string,
): Selection<Row> {
  const [rows, setRows] = useState<ReadonlyMap<string, Row>>(new Map())
  const last = useRef<string>(undefined)
  const latest = useRef(of)
  useEffect(() => {
    latest.current = of
    // What was selected elsewhere is forgotten.
    setRows(new Map())
  }, [of])
  // Of all rows that are loaded, which may be many, only when some are selected.
  const chosen = useMemo(
    () => (rows.size === 0 ? 0 : shown.filter((row) => rows.has(rowKey(row))).length),
    [rows, shown, rowKey],
  )
  return {
    rows,
    all: chosen === 0 ? 'none' : chosen === shown.length ? 'all' : 'some',
    toggle(key, range) {
      const keys = shown.map(rowKey)
      const [from, to] = [keys.indexOf(last.current ?? key), keys.indexOf(key)]
      const isRange = range && from >= 0
      const touched = isRange ? shown.slice(Math.min(from, to), Math.max(from, to) + 1) : [shown[to]!]
      const next = new Map(rows)
      const selects = isRange || !rows.has(key)
      for (const row of touched)
        if (selects) next.set(rowKey(row), row)
        else next.delete(rowKey(row))
      last.current = key
      setRows(next)
    },
    toggleAll() {
      const next = new Map(rows)
      for (const row of shown)
        if (chosen === shown.length) next.delete(rowKey(row))
        else next.set(rowKey(row), row)
      setRows(next)
    },
    set(all) {
      if (latest.current === of) setRows(new Map(all.map((row) => [rowKey(row), row])))
    },
    clear: () => setRows(new Map()),
  }
}
