import { trialBalance } from '@svc/core/ledger/books'
import { kindOf } from '@svc/core/ledger/chart-of-accounts'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { AsOfQuery, readAsOf } from '@svc/server/http/as-of'
import { readDay } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed, consoleOperation, instant, record, text } from '../console-schema.ts'

const Sum = record('TrialBalanceSum', {
  unit: Type.Enum(['INR', 'COIN']),
  debit: text('Rupees with two decimals, or coins'),
  credit: text(),
})

export const showTrialBalance = query({
  ...consoleOperation,
  id: 'console.showTrialBalance',
  method: 'GET',
  path: `${CONSOLE_API}/ledger/trial-balance`,
  tag: 'Ledger',
  summary: 'Show trial balance, now or at an instant of the past',
  permission: 'view',
  query: closed({
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
  }),
  result: record('TrialBalance', {
    asOf: instant,
    lines: Type.Array(
      record('TrialBalanceLine', {
        kind: text('Kind of account'),
        meaning: text(),
        unit: Type.Enum(['INR', 'COIN']),
        accounts: Type.Integer(),
        debit: text('Rupees with two decimals, or coins'),
        credit: text(),
      }),
      { description: 'In the order of the chart of accounts' },
    ),
    sums: Type.Array(Sum, { description: 'Debit and credit are equal where the books balance' }),
  }),
  errors: [],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query: { effectiveThrough: day, tenantId, ...instant } }) => {
      const asOf = readAsOf(instant, clock, PLATFORM_TENANT)
      const effectiveThrough = day === undefined ? undefined : readDay('effectiveThrough', day, 'query')
      const lines = await database.report((tx) => trialBalance(tx, { asOf, effectiveThrough, tenantId }))
      const units = [...new Set(lines.map(({ unit }) => unit))]
      const show = (unit: string, amount: bigint) => (unit === 'INR' ? formatRupees(amount) : String(amount))
      const sumOf = (unit: string, side: 'debit' | 'credit') =>
        lines.filter((line) => line.unit === unit).reduce((sum, line) => sum + line[side], 0n)
      return {
        body: JSON.stringify({
          asOf: rfc3339(asOf ?? new Date(clock.now()), timeZone),
          lines: lines.map(({ kind, unit, accounts, debit, credit }) => ({
            kind,
            meaning: kindOf(kind).meaning,
            unit,
            accounts,
            debit: show(unit, debit),
            credit: show(unit, credit),
          })),
          sums: units.map((unit) => ({
            unit,
            debit: show(unit, sumOf(unit, 'debit')),
            credit: show(unit, sumOf(unit, 'credit')),
          })),
        }),
      }
    }
  },
})
