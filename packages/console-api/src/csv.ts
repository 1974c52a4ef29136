import type { Readable } from 'node:stream'
import { CSV_MEDIA_TYPE, csvLine } from '@svc/kernel/csv'
import { invariant, required } from '@svc/kernel/invariant'
import { recordAudit } from '@svc/platform/audit'
import { type Column, columnsOf, type Schema, valueOf } from '@svc/server/http/csv-columns'
import { type Caller, type Operation, type Services, streamingQuery } from '@svc/server/http/operation'
import { LIMIT_MAX } from '@svc/server/http/page'
import { StreamSlots } from '@svc/server/http/stream-slots'
import { type TProperties, Type } from 'typebox'
import { asOperator } from './as-operator.ts'
import { closed } from './console-schema.ts'

/** Exports that one operator may stream at a time. */
const STREAMS_MAX = 2

interface Page {
  readonly data: readonly unknown[]
  readonly next?: string
}

/** The lines of a list, page by page: no transaction stays open for a slow reader, and memory stays flat. */
async function* csvOf(
  columns: readonly Column[],
  first: Page,
  read: (after: string) => Promise<Page>,
): AsyncGenerator<string> {
  yield csvLine(columns.map(({ name }) => name))
  for (let page = first; ; page = await read(page.next)) {
    yield page.data.map((item) => csvLine(columns.map((each) => valueOf(each, item)))).join('')
    if (page.next === undefined) return
  }
}

function textOf(body: string | Readable): string {
  invariant(typeof body === 'string', 'a list is no stream')
  return body
}

interface Exported {
  readonly action: string
  readonly target: string
  readonly details: Readonly<Record<string, string>>
}

/** Who may export, and how the audit records it. */
export interface ExportFace<S> {
  readonly access: { readonly envelope: 'problem' } & (
    | { readonly auth: 'operator' }
    | { readonly auth: 'member'; readonly role: string }
  )
  readonly record: (
    services: S,
    input: { readonly caller: Caller; readonly requestId: string },
    entry: Exported,
  ) => Promise<void>
}

const BY_OPERATORS: ExportFace<Services> = {
  access: { auth: 'operator', envelope: 'problem' },
  record: (services, input, entry) => asOperator(services, input, async (tx) => recordAudit(tx, [entry])),
}

/** The export of a list as CSV: the same filters and order, all rows. Who exported what is audited. */
export function exportOf<S extends Services>(
  list: Operation<S>,
  { access, record }: ExportFace<S> = BY_OPERATORS,
): Operation<S> {
  const given = (list.query as { properties?: TProperties } | undefined)?.properties ?? {}
  const { limit: _, after: __, ...filters } = given
  const { data } = (list.result as unknown as { properties: { data: Schema } }).properties
  const columns = columnsOf(required(data.items, 'a list has items'))
  const { id, path, summary, tag, params, permission } = list
  return streamingQuery({
    ...access,
    id: id.replace('.list', '.export'),
    method: 'GET',
    path: `${path}.csv`,
    tag,
    summary: `${summary} as CSV`,
    description:
      'All rows of the filter in one response (RFC 4180), at most two at a time. Columns are named as in the list; amounts are rupees with two decimals; texts that a spreadsheet would run as a formula begin with an apostrophe, and line breaks become spaces. The export is recorded in the audit.',
    ...(permission !== undefined && { permission }),
    ...(params && { params }),
    query: closed(filters),
    result: Type.String({ description: `Columns: ${columns.map(({ name }) => `\`${name}\``).join(', ')}` }),
    produces: CSV_MEDIA_TYPE,
    errors: [...list.errors, 'too_many_streams'],
    mount(services: S) {
      const handle = list.mount(services)
      const slots = new StreamSlots(STREAMS_MAX)
      return async (input) => {
        const exportQuery = {
          ...(input.query as Record<string, unknown>),
          limit: String(LIMIT_MAX),
          uncounted: true,
        }
        const read = async (after?: string): Promise<Page> => {
          const { body } = await handle({ ...input, query: { ...exportQuery, after } })
          return JSON.parse(textOf(body)) as Page
        }
        // Filters that are wrong fail before the first byte is sent.
        const first = await read()
        const { actorId } = required(input.caller.actor, 'operators call')
        const body = slots.stream(actorId, input.caller, () => csvOf(columns, first, read))
        const details = { filters: Object.keys((input.query as object | undefined) ?? {}).join(' ') }
        try {
          await record(services, input, { action: 'list.exported', target: id, details })
        } catch (error) {
          body.destroy()
          throw error
        }
        return { headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` }, body }
      }
    },
  })
}
