import { Secret } from '@svc/kernel/secret'
import { address, bad, database, type Setting } from './setting.ts'

const ONE = database(['read-write', 'primary'], '')

/** Databases of cells by their letters. */
export type CellUrls = ReadonlyMap<string, Secret>

/** One URL for each cell, by its letter. */
function byCell<T>(text: string, example: string, read: (url: string) => T): ReadonlyMap<string, T> {
  const pairs = text.split(/\s+/).map((pair) => {
    const [, cell, url] = /^([a-z])=(.+)$/.exec(pair) ?? []
    if (!cell || !url) return bad(`must be pairs of a letter and a URL, such as ${example}`)
    return [cell, read(url)] as const
  })
  const urls = new Map<string, T>(pairs)
  return urls.size === pairs.length ? urls : bad('must name each cell once')
}

const cellDatabases: Setting<CellUrls, undefined> = {
  type: 'pairs of a letter and a URL, such as `a=postgresql://…`, separated by spaces or lines',
  default: undefined,
  secret: true,
  meaning:
    'The databases of all cells, each with a login that owns the schema and may replicate: for `svc admin cell`, `svc admin tenant move` and `svc admin directory` only.',
  read: (text) => byCell(text, 'a=postgresql://…', ONE.read),
}

const HTTP = address(['http:', 'https:'], '')
const cellUrls: Setting<ReadonlyMap<string, string>, undefined> = {
  type: 'pairs of a letter and a URL, such as `a=http://10.0.1.5:8080`, separated by spaces or lines',
  default: undefined,
  meaning:
    'Where processes reach those of all cells. A message of the bank or the card network that names nothing of a cell, or what has moved away from it, is sent to the others. Their rails have the same keys.',
  read: (text) => byCell(text, 'a=http://10.0.1.5:8080', HTTP.read),
}

/** Settings of installations of several databases (decision X40). */
export const CELL_SETTINGS = { CELL_DATABASE_URLS: cellDatabases, CELL_URLS: cellUrls }
