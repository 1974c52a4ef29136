import { Secret } from '@svc/kernel/secret'
import { bad, database, type Setting } from './setting.ts'

const ONE = database(['read-write', 'primary'], '')

/** Databases of cells by their letters. */
export type CellUrls = ReadonlyMap<string, Secret>

const cellUrls: Setting<CellUrls, undefined> = {
  type: 'pairs of a letter and a URL, such as `a=postgresql://…`, separated by spaces or lines',
  default: undefined,
  secret: true,
  meaning:
    'The databases of all cells, each with a login that owns the schema and may replicate: for `svc admin cell` and `svc admin tenant move` only.',
  read(text) {
    const pairs = text.split(/\s+/).map((pair) => {
      const [, cell, url] = /^([a-z])=(.+)$/.exec(pair) ?? []
      if (!cell || !url) return bad('must be pairs of a letter and a URL, such as a=postgresql://…')
      return [cell, ONE.read(url)] as const
    })
    const urls = new Map<string, Secret>(pairs)
    return urls.size === pairs.length ? urls : bad('must name each cell once')
  },
}

/** Settings of installations of several databases (decision X40). */
export const CELL_SETTINGS = { CELL_DATABASE_URLS: cellUrls }
