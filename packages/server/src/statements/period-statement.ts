import { failField } from '@svc/contract/fail-fields'
import { CSV_MEDIA_TYPE, csvLine } from '@svc/kernel/csv'
import { paiseToWire } from '@svc/kernel/money'
import { calendarDay, instantOfDay, isDay } from '@svc/kernel/time'
import { type TSchema, Type } from 'typebox'
import { preferredType } from '../http/accept.ts'
import { type Operation, query, type Services, succeedWithCode } from '../http/operation.ts'
import { type DocumentFace, type FindDocument, pdfOperation } from './pdf-operation.ts'
import type { Days, Movement, Period, PeriodStatement } from './period-pdf.ts'

export const STATEMENT_LINES_MAX = 10_000
const DAY_MINUTES = 1_440

const day = (description: string) =>
  Type.Optional(
    Type.String({ maxLength: 10, description: `${description}, \`YYYY-MM-DD\` in the business time zone` }),
  )

export const PeriodQuery = Type.Object(
  { from: day('First day'), to: day('Last day') },
  { additionalProperties: false },
)

/** The days of a tenant's statement; by default the month until today. */
export function readPeriod(
  { from, to }: Partial<Days>,
  { clock, config: { BUSINESS_TIME_ZONE: timeZone } }: Pick<Services, 'clock' | 'config'>,
  tenantId: string,
): Period {
  const now = new Date(clock.of(tenantId).now())
  const today = calendarDay(now, timeZone)
  const days = { from: from ?? `${(to ?? today).slice(0, 8)}01`, to: to ?? today }
  for (const name of ['from', 'to'] as const)
    if (!isDay(days[name])) failField(name, 'format', 'must be a day, such as 2026-04-01')
  if (days.from > days.to) failField('to', 'minimum', 'must not be before from')
  return {
    days,
    from: instantOfDay(days.from, 0, timeZone),
    to: instantOfDay(days.to, DAY_MINUTES, timeZone),
    now,
    timeZone,
  }
}

/** Fails where a period has more lines than a statement. */
export function requireAllLines({ hasMore }: { readonly hasMore: boolean }): void {
  if (hasMore) failField('from', 'minimum', `must leave at most ${STATEMENT_LINES_MAX} lines until to`)
}

/** The record of a statement: `idName` names whose it is. */
export const statementRecord = (idName: string, title: string, lines: TSchema) =>
  Type.Object(
    {
      [idName]: Type.String(),
      from: Type.String({ description: 'First day, `YYYY-MM-DD`' }),
      to: Type.String({ description: 'Last day, `YYYY-MM-DD`' }),
      openingBalance: Type.Number({ description: 'Rupees at the beginning of the first day' }),
      closingBalance: Type.Number({ description: 'Rupees at the end of the last day, or now' }),
      lines,
    },
    { title, additionalProperties: false },
  )

/** The opening and the closing balance are lines too; an amount that was paid is negative. */
function toCsv(
  columns: readonly string[],
  { period: { days }, opening, closing, movements }: PeriodStatement,
) {
  const end = (createdOn: string, kind: string, balance: bigint): Movement['record'] => ({
    createdOn,
    kind,
    balance: paiseToWire(balance),
  })
  const rows = [
    end(days.from, 'opening', opening),
    ...movements.map(({ record, movedPaise }) => ({ ...record, amount: paiseToWire(movedPaise) })),
    end(days.to, 'closing', closing),
  ]
  const valueOf = (value: string | number | undefined) =>
    typeof value === 'number' ? value.toFixed(2) : value
  const lines = rows.map((row: Movement['record']) => columns.map((name) => valueOf(row[name])))
  return [columns, ...lines].map(csvLine).join('')
}

export const periodWriter = async () => (await import('./period-pdf.ts')).periodPdf

type StatementFace<P extends TSchema> = Omit<DocumentFace<P, typeof PeriodQuery>, 'query' | 'description'>
export type FindStatement<P extends TSchema> = FindDocument<P, typeof PeriodQuery, PeriodStatement>

/** A statement of whole days as JSON or CSV. */
export function statementOperation<P extends TSchema>(
  face: StatementFace<P> & { readonly result: TSchema },
  columns: readonly string[],
  find: FindStatement<P>,
): Operation<Services> {
  const [idName = ''] = Object.keys((face.result as { readonly properties?: object }).properties ?? {})
  return query({
    ...face,
    query: PeriodQuery,
    method: 'GET',
    description: `Opening balance, every movement with the balance after it, and closing balance, for whole days; by default this month until today. At most ${STATEMENT_LINES_MAX} lines: a longer period is 400. With \`Accept: text/csv\` as CSV (RFC 4180).`,
    alsoProduces: CSV_MEDIA_TYPE,
    mount(services) {
      return async (input) => {
        const statement = await find(services, input as never)
        if (preferredType(input.headers, ['application/json', CSV_MEDIA_TYPE]) === CSV_MEDIA_TYPE)
          return {
            headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` },
            body: toCsv(columns, statement),
          }
        const { id, period, opening, closing, movements } = statement
        const body = {
          [idName]: id,
          ...period.days,
          openingBalance: paiseToWire(opening),
          closingBalance: paiseToWire(closing),
          lines: movements.map(({ record }) => record),
        }
        return { body: succeedWithCode(body) }
      }
    },
  } as Parameters<typeof query>[0]) as Operation<Services>
}

/** The same as PDF. */
export const statementPdfOperation = <P extends TSchema>(face: StatementFace<P>, find: FindStatement<P>) =>
  pdfOperation(
    {
      ...face,
      query: PeriodQuery,
      path: `${face.path}.pdf`,
      summary: `${face.summary} as PDF`,
      description: 'The same period, balances and movements as in the statement.',
    } as DocumentFace<P, typeof PeriodQuery>,
    find,
    periodWriter,
  )
