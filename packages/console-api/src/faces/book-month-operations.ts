import { fail } from '@svc/contract/errors'
import { BOOK_MONTH_STATES, type BookMonth } from '@svc/core/ledger/book-months'
import { trialBalance } from '@svc/core/ledger/books'
import { type Closing, knownAtClosing, listClosings, statedBy } from '@svc/core/ledger/closing'
import type { ClosingFinding } from '@svc/core/ledger/closing-check'
import {
  PRIOR_PERIOD_ITEMS,
  type PriorPeriodItem,
  priorPeriodItems,
  priorPeriodItemToWire,
} from '@svc/core/ledger/prior-period'
import { verifyClosings } from '@svc/core/ledger/verify-closings'
import { accrueThrough } from '@svc/core/payments/fees/accrue-fees'
import { listTaxDocuments } from '@svc/core/payments/fees/issue-invoices'
import { taxDocumentToRecord } from '@svc/core/payments/fees/tax-document'
import { type CsvValue, csvLine } from '@svc/kernel/csv'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import type { ZipFile } from '@svc/platform/zip'
import { readDay } from '@svc/server/http/fields'
import { Filters, readList } from '@svc/server/http/list'
import { query, type Services, streamingQuery } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import { CLOSING_ITEMS, checkClosing, closeBooks } from '../closing-checks.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  listOf,
  listQuery,
  maybe,
  maybeInstant,
  reasonText,
  record,
  text,
} from '../console-schema.ts'
import { monthsOfBooks } from '../months-of-books.ts'
import { archiveOf } from './funds-proof-operations.ts'
import { balanceCsv } from './trial-balance.ts'

const TAG = 'Books'
const PATH = `${CONSOLE_API}/book-months`
const params = Type.Object({
  through: Type.String({ maxLength: 10, description: 'Last day of the period, `YYYY-MM-DD`' }),
})
const ofMonth = { ...consoleOperation, tag: TAG, params } as const

const BookMonthRecord = record('BookMonth', {
  through: text('Last day, `YYYY-MM-DD`'),
  state: Type.Enum([...BOOK_MONTH_STATES], {
    description:
      '`RUNNING`: it is not over; `REQUESTED`: an operator closes it despite what is open, and a second one is to repeat that',
  }),
  closedOn: maybeInstant,
  closedBy: maybe(),
  requestedBy: maybe('Who closed it first, despite what is open'),
  despite: maybe('Why, although something was not in order'),
})

const toWire = ({ through, state, closing, requestedBy, despite }: BookMonth, timeZone: string) => ({
  through,
  state,
  closedOn: closing && rfc3339(closing.closedAt, timeZone),
  closedBy: closing?.closedBy,
  requestedBy: closing?.requestedBy ?? requestedBy,
  despite: closing?.despite ?? despite,
})

const asClosed = (closing: Closing): BookMonth => ({ through: closing.through, state: 'CLOSED', closing })

export const showBookMonths = query({
  ...consoleOperation,
  id: 'console.showBookMonths',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'Show the months of the books',
  description: 'Newest first: those that are open, and every period that was closed.',
  permission: 'view',
  result: closed({ data: Type.Array(BookMonthRecord) }),
  errors: [],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async () => {
      const months = await database.report(async (tx) => monthsOfBooks(tx, clock.now(), timeZone))
      return { body: JSON.stringify({ data: months.map((month) => toWire(month, timeZone)) }) }
    }
  },
})

export const checkBookMonth = query({
  ...ofMonth,
  id: 'console.checkBookMonth',
  method: 'GET',
  path: `${PATH}/:through/check`,
  summary: 'Check what of a period is in order',
  description: 'What a closing checks, on one snapshot.',
  permission: 'view',
  takesLong: true,
  result: closed({
    data: Type.Array(
      record('BookMonthCheck', {
        item: Type.Enum([...CLOSING_ITEMS]),
        ok: Type.Boolean(),
        count: Type.Integer({ description: 'How many are not in order' }),
        detail: text('In words'),
      }),
    ),
  }),
  errors: [],
  mount({ config, database }) {
    return async ({ params: { through } }) => {
      const found = await checkClosing({ config, database }, readDay('through', through, 'query'))
      return { body: JSON.stringify({ data: found }) }
    }
  },
})

export const closeBookMonth = query({
  ...ofMonth,
  id: 'console.closeBookMonth',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:through/close`,
  summary: 'Close the books until a day',
  description:
    'With signed totals: nothing is entered in the period any more. What is not in order needs `despite`; where postings need two people, it waits until another operator gives the same reason: the state is then `REQUESTED`. A repeat returns the closing.',
  permission: 'finance',
  takesLong: true,
  body: closed({ despite: Type.Optional(reasonText('Why it is closed although something is not in order')) }),
  result: BookMonthRecord,
  errors: ['period_closed', 'period_not_over', 'period_not_ready', 'approval_same_person'],
  mount(services) {
    const timeZone = services.config.BUSINESS_TIME_ZONE
    return async ({ body: { despite }, caller, params, requestId }) => {
      const through = readDay('through', params.through, 'query')
      const closing = await closeBooks(services, { through, by: actorOf(caller), requestId, despite })
      const month: BookMonth =
        'isRequested' in closing
          ? { through, state: 'REQUESTED', requestedBy: closing.requestedBy, ...(despite && { despite }) }
          : asClosed(closing)
      return { body: JSON.stringify(toWire(month, timeZone)) }
    }
  },
})

export const accrueBookMonth = query({
  ...ofMonth,
  id: 'console.accrueBookMonth',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:through/accrue`,
  summary: 'Enter the fees of all payments until the end of a day',
  description: 'The service does so by itself when a day is over. A repeat enters only what was found since.',
  permission: 'finance',
  takesLong: true,
  result: record('AccruedFees', {
    payments: Type.Integer({ description: 'How many payments had no fee entered yet' }),
  }),
  errors: ['business_day_not_over'],
  mount(services) {
    return async ({ params: { through } }) => {
      const payments = await accrueThrough(services, readDay('through', through, 'query'))
      return { body: JSON.stringify({ payments: payments ?? fail('business_day_not_over') }) }
    }
  },
})

export const verifyBookMonths = query({
  ...consoleOperation,
  id: 'console.verifyBookMonths',
  method: 'POST',
  path: `${PATH}/verify`,
  tag: TAG,
  summary: 'Compare what was signed of closed periods with the ledger',
  permission: 'verify',
  safe: true,
  takesLong: true,
  result: closed({
    data: Type.Array(
      record('VerifiedBookMonth', {
        through: text('Last day of the period, `YYYY-MM-DD`'),
        problem: maybe('What is not as it was signed; absent where all is'),
      }),
    ),
  }),
  errors: [],
  mount({ database, keyring }) {
    return async () => {
      const found = await database.report((tx) => verifyClosings(tx, keyring), 'repeatable read', 'long')
      const data = found.map(({ through, problem }) => ({ through, problem: problem ?? undefined }))
      return { body: JSON.stringify({ data }) }
    }
  },
})

export const showSignedBookMonth = query({
  ...ofMonth,
  id: 'console.showSignedBookMonth',
  method: 'GET',
  path: `${PATH}/:through/closing.json`,
  summary: 'Get what was signed when a period was closed',
  description:
    'Totals by both dates, open items, the reason and the hash of the closing before, with the signature.',
  permission: 'view',
  result: Type.Object(
    { signed: text('A compact JWS of all the rest') },
    {
      title: 'SignedClosing',
      additionalProperties: true,
    },
  ),
  errors: ['book_closing_not_found'],
  mount(services: Services) {
    const { keyring } = services
    return async (input) => {
      const { through } = input.params
      const closing = await asOperator(services, input, async (tx) => {
        recordAudit(tx, [{ action: 'closing.exported', target: through }])
        return (await listClosings(tx)).find((each) => each.through === through)
      })
      const { signed } = closing ?? fail('book_closing_not_found')
      return { body: JSON.stringify({ ...statedBy(keyring, { signed }), signed }, null, 2) }
    }
  },
})

/** What a closing is made of, besides the proof of funds of its day. */
async function* monthFiles(
  tx: Tx,
  through: string,
  { checks, keyring }: Pick<Services, 'keyring'> & { readonly checks: readonly ClosingFinding[] },
): AsyncGenerator<ZipFile> {
  const of = (name: string, text: string): ZipFile => ({ name, content: Buffer.from(text) })
  const table = (name: string, columns: readonly string[], rows: readonly object[]) =>
    of(
      name,
      [columns, ...rows.map((row) => columns.map((each) => (row as Record<string, CsvValue>)[each]))]
        .map(csvLine)
        .join(''),
    )
  yield table('checklist.csv', ['item', 'ok', 'count', 'detail'], checks)
  yield of('trial-balance-effective.csv', balanceCsv(await trialBalance(tx, { effectiveThrough: through })))
  const closing = (await listClosings(tx)).find((each) => each.through === through)
  if (closing) {
    const { signed } = closing
    yield of('closing.json', `${JSON.stringify({ ...statedBy(keyring, { signed }), signed }, null, 2)}\n`)
    const known = await knownAtClosing(tx, keyring, through)
    const items = known === undefined ? [] : await priorPeriodItems(tx, through, known)
    const columns = ['journalId', 'tenantId', 'kind', 'effectiveDate', 'at', 'unit', 'amount', 'reference']
    yield table(
      'entered-later.csv',
      columns,
      items.map((item) => wireOf(item)),
    )
  }
  const documents = await listTaxDocuments(tx, { datedIn: through.slice(0, 7) })
  const columns = ['number', 'kind', 'issueDate', 'taxableValue', 'cgst', 'sgst', 'igst', 'total']
  yield table('tax-documents.csv', columns, documents.map(taxDocumentToRecord))
}

export const exportBookMonth = streamingQuery({
  ...ofMonth,
  id: 'console.exportBookMonth',
  method: 'GET',
  path: `${PATH}/:through/month.zip`,
  summary: 'Get everything that a period is closed with',
  description:
    'A ZIP archive: the checklist, the trial balance, tax documents, what was signed and what was entered later, and the proof of funds with all that it is made of.',
  permission: 'view',
  takesLong: true,
  result: Type.String({ format: 'binary', description: 'ZIP' }),
  produces: 'application/zip',
  errors: [],
  mount(services: Services) {
    const { config, database } = services
    return async (input) => {
      const through = readDay('through', input.params.through, 'query')
      const checks = await checkClosing({ config, database }, through)
      const body = await archiveOf(services, through, (tx) =>
        monthFiles(tx, through, { ...services, checks }),
      )
      try {
        await asOperator(services, input, async (tx) =>
          recordAudit(tx, [{ action: 'book_month.exported', target: through }]),
        )
      } catch (error) {
        body.destroy()
        throw error
      }
      return { headers: { 'content-type': 'application/zip' }, body }
    }
  },
})

export const listPriorPeriodItems = query({
  ...ofMonth,
  id: 'console.listPriorPeriodItems',
  method: 'GET',
  path: `${PATH}/:through/prior-period`,
  summary: 'List what was entered in a period after its closing',
  description:
    'What was signed by effective date, with these entries, is what the books say of the period today.',
  permission: 'view',
  query: listQuery(['-created', 'created'], {}),
  result: listOf(
    record('PriorPeriodItem', {
      journalId: text(),
      tenantId: text(),
      kind: text(),
      effectiveDate: text('`YYYY-MM-DD`'),
      at: text('RFC 3339, UTC'),
      unit: Type.Enum(['INR', 'COIN']),
      amount: text('Rupees with two decimals, or coins'),
      reference: text(),
    }),
  ),
  errors: ['book_closing_not_found'],
  mount({ database, keyring }) {
    return async ({ params, query }) => {
      const through = readDay('through', params.through, 'query')
      const page = await database.report(async (tx) => {
        const known = (await knownAtClosing(tx, keyring, through)) ?? fail('book_closing_not_found')
        const filters = new Filters()
        filters.param(through)
        filters.param(known)
        const plan = {
          columns: 'p.*',
          table: `(${PRIOR_PERIOD_ITEMS}) p`,
          alias: 'p',
          filters,
          keys: [
            { sql: 'p.at', type: 'timestamptz' as const },
            { sql: 'p."journalId"', type: 'text' as const },
          ],
          descending: query.sort !== 'created',
        }
        return readList(tx, plan, query, (row: PriorPeriodItem) => wireOf(row))
      })
      return { body: JSON.stringify(page) }
    }
  },
})

/** Without the keys of the list's order, which its rows have too. */
function wireOf({ journalId, tenantId, kind, effectiveDate, at, unit, amount, reference }: PriorPeriodItem) {
  const item = { journalId, tenantId, kind, effectiveDate, at, unit, amount, reference }
  return { ...priorPeriodItemToWire(item), unit }
}
