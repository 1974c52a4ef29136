import type { Tx } from '@svc/platform/db/database'
import { type Caller, query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed, consoleOperation, maybe, record, text } from '../console-schema.ts'
import { maskPerson } from '../records/personal-data.ts'
import { KINDS, type Kind, SOURCES, type Source } from './search-sources.ts'

const RESULTS_MAX = 10
/** Of a person the search shows no more than the lists do. */
export function shown(kind: Kind, title: string, subtitle: string | null) {
  const show = (text: string) => (kind === 'user' && !text.startsWith('usr_') ? maskPerson(text) : text)
  return { title: show(title), subtitle: subtitle === null ? undefined : show(subtitle) }
}

interface Result {
  readonly kind: Kind
  readonly id: string
  readonly of: string | undefined
  readonly title: string
  readonly subtitle: string | undefined
}

interface Asked {
  readonly caller: Caller
  readonly sources: readonly Source[]
  /** In which hours of a day are meant. */
  readonly timeZone: string
}

/** What these sources have for what was typed, the most exact first. */
export async function find(tx: Tx, q: string, { caller, sources, timeZone }: Asked): Promise<Result[]> {
  const results = new Map<string, Result>()
  for (const { kind, statement, wanted } of sources) {
    const value = wanted(q, caller, timeZone)
    if (value === undefined) continue
    // Unnamed: planned for the value at hand, as a begin of a text must be.
    const rows = await tx.query({ ...statement, name: '' }, [value])
    for (const { id, of, subtitle, title } of rows)
      results.set(`${kind} ${id}`, { kind, id, of, ...shown(kind, title, subtitle) })
    if (results.size >= RESULTS_MAX) break
  }
  return [...results.values()].slice(0, RESULTS_MAX)
}

/** What both faces of the search share. */
export const SEARCH = {
  tag: 'Search',
  query: closed({ q: Type.String({ minLength: 2, maxLength: 254 }) }),
  result: closed({
    results: Type.Array(
      record('SearchResult', {
        kind: Type.Enum([...KINDS]),
        id: text(),
        of: maybe('Of a refund: its payment'),
        title: text(),
        subtitle: maybe(),
      }),
      { description: `At most ${RESULTS_MAX}` },
    ),
  }),
  errors: [],
}

export const searchEverything = query({
  ...consoleOperation,
  id: 'console.search',
  ...SEARCH,
  method: 'GET',
  path: `${CONSOLE_API}/search`,
  summary: 'Find anything by an id, a reference, a name',
  description:
    'Ids, `tr`, reference numbers of codes and refunds, and the last four digits of a card exactly; bank references (UTR) in any case, with or without separators; disputes by their case; amounts of the latest payments with or without commas, with the hour or minute after them, such as `499 5 pm`; the latest payments by the whole UPI ID of their payer; the latest codes by the begin of their name; mobile numbers with or without `+91`; e-mail addresses exactly, by their begin for roles that reveal personal data; VPAs by their begin; merchants, partners and companies by the begin of any words of their names.',
  permission: 'view',
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ caller, query: { q } }) => {
      const asked = { caller, sources: SOURCES, timeZone }
      return { body: JSON.stringify({ results: await database.report((tx) => find(tx, q.trim(), asked)) }) }
    }
  },
})
