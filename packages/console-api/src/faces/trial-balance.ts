import { type TrialBalanceLine, trialBalance } from '@svc/core/ledger/books'
import { kindOf } from '@svc/core/ledger/chart-of-accounts'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { CSV_MEDIA_TYPE, csvLine } from '@svc/kernel/csv'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { AsOfQuery, readAsOf } from '@svc/server/http/as-of'
import { readDay } from '@svc/server/http/fields'
import { query, type Services } from '@svc/server/http/operation'
import { pdfOperation } from '@svc/server/statements/pdf-operation'
import { type Static, Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, instant, maybe, record, text } from '../console-schema.ts'
import { namesOf } from './names.ts'
import { SOURCES } from './search-sources.ts'

const PATH = `${CONSOLE_API}/ledger/trial-balance`
const ofBalance = { ...consoleOperation, tag: 'Ledger', permission: 'view' } as const

const Sum = record('TrialBalanceSum', {
  unit: Type.Enum(['INR', 'COIN']),
  debit: text('Rupees with two decimals, or coins'),
  credit: text(),
})
const BalanceQuery = closed({
  ...AsOfQuery.properties,
  effectiveThrough: Type.Optional(
    Type.String({
      maxLength: 10,
      description:
        'Only what is effective on this business day or before, `YYYY-MM-DD`, whenever it was entered; by default all that was entered',
    }),
  ),
  tenantId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Of this merchant or partner; all by default',
    }),
  ),
})
type BalanceQuery = Static<typeof BalanceQuery>
const TrialBalanceRecord = record('TrialBalance', {
  asOf: instant,
  effectiveThrough: maybe('`YYYY-MM-DD`, where only that was asked for'),
  lines: Type.Array(
    record('TrialBalanceLine', {
      kind: text('Kind of account'),
      title: text('Its name for people'),
      meaning: text(),
      unit: Type.Enum(['INR', 'COIN']),
      accounts: Type.Integer(),
      debit: text('Rupees with two decimals, or coins'),
      credit: text(),
    }),
    { description: 'In the order of the chart of accounts' },
  ),
  sums: Type.Array(Sum, { description: 'Debit and credit are equal where the books balance' }),
})

const shown = (unit: string, amount: bigint) => (unit === 'INR' ? formatRupees(amount) : String(amount))

/** Lines as they are shown, and what each unit adds up to. */
function balanceToWire(lines: readonly TrialBalanceLine[]) {
  const sumOf = (unit: string, side: 'debit' | 'credit') =>
    lines.filter((line) => line.unit === unit).reduce((sum, line) => sum + line[side], 0n)
  return {
    lines: lines.map(({ kind, unit, accounts, debit, credit }) => ({
      kind,
      title: kindOf(kind).title,
      meaning: kindOf(kind).meaning,
      unit,
      accounts,
      debit: shown(unit, debit),
      credit: shown(unit, credit),
    })),
    sums: [...new Set(lines.map(({ unit }) => unit))].map((unit) => ({
      unit,
      debit: shown(unit, sumOf(unit, 'debit')),
      credit: shown(unit, sumOf(unit, 'credit')),
    })),
  }
}

/** The trial balance as CSV, its sums below. */
export function balanceCsv(found: readonly TrialBalanceLine[]): string {
  const { lines, sums } = balanceToWire(found)
  return [
    ['kind', 'unit', 'accounts', 'debit', 'credit'],
    ...lines.map(({ kind, unit, accounts, debit, credit }) => [kind, unit, accounts, debit, credit]),
    ...sums.map(({ unit, debit, credit }) => ['total', unit, '', debit, credit]),
  ]
    .map((line) => csvLine(line))
    .join('')
}

function readQuery({ clock }: Pick<Services, 'clock'>, asked: BalanceQuery) {
  const { effectiveThrough: day, tenantId, ...instant } = asked
  return {
    asOf: readAsOf(instant, clock, PLATFORM_TENANT),
    effectiveThrough: day === undefined ? undefined : readDay('effectiveThrough', day, 'query'),
    tenantId,
  }
}

export const showTrialBalance = query({
  ...ofBalance,
  id: 'console.showTrialBalance',
  method: 'GET',
  path: PATH,
  summary: 'Show trial balance, now or at an instant of the past',
  query: BalanceQuery,
  result: TrialBalanceRecord,
  errors: [],
  mount(services) {
    const { clock, config, database } = services
    return async ({ query: asked }) => {
      const read = readQuery(services, asked)
      const lines = await database.report((tx) => trialBalance(tx, read))
      const asOf = rfc3339(read.asOf ?? new Date(clock.now()), config.BUSINESS_TIME_ZONE)
      const { effectiveThrough } = read
      return { body: JSON.stringify({ asOf, effectiveThrough, ...balanceToWire(lines) }) }
    }
  },
})

type Input = Parameters<typeof asOperator>[1]

/** Of a merchant or partner, for people. */
const nameOf = async (tx: Tx, tenantId: string): Promise<string> =>
  (await namesOf(tx, tenantId, SOURCES)).results[0]?.title ?? tenantId

/** Reads a trial balance for a file, and says so in the audit. */
const exported = <T>(
  services: Services,
  input: Input & { readonly query: BalanceQuery },
  work: (tx: Tx, lines: readonly TrialBalanceLine[]) => Promise<T>,
): Promise<T> => {
  const read = readQuery(services, input.query)
  const details = { filters: Object.keys(input.query).join(' ') }
  return asOperator(services, input, async (tx) => {
    recordAudit(tx, [{ action: 'list.exported', target: 'console.showTrialBalance', details }])
    return work(tx, await trialBalance(tx, read))
  })
}

export const exportTrialBalance = query({
  ...ofBalance,
  id: 'console.exportTrialBalance',
  method: 'GET',
  path: `${PATH}.csv`,
  summary: 'Get trial balance as CSV',
  query: BalanceQuery,
  result: Type.String({ description: 'CSV (RFC 4180), the sums of each unit below the kinds of accounts' }),
  produces: CSV_MEDIA_TYPE,
  errors: [],
  mount(services) {
    return async (input) => ({
      headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` },
      body: await exported(services, input, async (_, lines) => balanceCsv(lines)),
    })
  },
})

export const showTrialBalancePdf = pdfOperation(
  {
    ...ofBalance,
    id: 'console.showTrialBalancePdf',
    path: `${PATH}.pdf`,
    summary: 'Get trial balance as PDF',
    params: closed({}),
    query: BalanceQuery,
    errors: [],
  },
  (services, input) =>
    exported(services, input, async (tx, lines) => ({
      ...balanceToWire(lines),
      effectiveThrough: input.query.effectiveThrough,
      of: input.query.tenantId && (await nameOf(tx, input.query.tenantId)),
      asOf: readQuery(services, input.query).asOf,
      timeZone: services.config.BUSINESS_TIME_ZONE,
      now: new Date(services.clock.now()),
    })),
  async () => (await import('@svc/server/statements/trial-balance-pdf')).trialBalancePdf,
)
