import { failField } from '@svc/contract/fail-fields'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed, consoleOperation } from '../console-schema.ts'
import { SEARCH, shown } from './search.ts'
import { SOURCES, type Source } from './search-sources.ts'

const IDS_MAX = 50

/** What both faces share. */
export const NAMES = {
  tag: 'Search',
  query: closed({
    ids: Type.String({
      minLength: 1,
      maxLength: 5_000,
      description: `Up to ${IDS_MAX} ids, with commas between`,
    }),
  }),
  result: SEARCH.result,
  errors: [],
}

/** The names of what these ids stand for; those that name nothing are left out. */
export async function namesOf(tx: Tx, ids: string, sources: readonly Source[]) {
  const wanted = [...new Set(ids.split(','))]
  if (wanted.length > IDS_MAX) failField('ids', 'max_items', `must be at most ${IDS_MAX} ids`, 'query')
  const found = await Promise.all(
    wanted.map(async (id) => {
      const source = sources.find(({ prefix }) => prefix !== undefined && id.startsWith(`${prefix}_`))
      const [row] = source ? await tx.query(source.statement, [id]) : []
      return row && source ? [{ kind: source.kind, id, ...shown(source.kind, row.title, row.subtitle) }] : []
    }),
  )
  return { results: found.flat() }
}

export const showNames = query({
  ...consoleOperation,
  ...NAMES,
  id: 'console.showNames',
  method: 'GET',
  path: `${CONSOLE_API}/names`,
  summary: 'Show what ids name',
  permission: 'view',
  mount({ database }) {
    return async ({ query: { ids } }) => ({
      body: JSON.stringify(await database.report((tx) => namesOf(tx, ids, SOURCES))),
    })
  },
})
