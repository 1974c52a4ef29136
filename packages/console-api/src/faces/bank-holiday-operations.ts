import { fail } from '@svc/contract/errors'
import { type BankHoliday, listBankHolidays, removeBankHoliday } from '@svc/core/ledger/bank-holidays'
import { recordAudit } from '@svc/platform/audit'
import { readDay } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, reasonText, record, text } from '../console-schema.ts'

const PATH = `${CONSOLE_API}/bank-holidays`
const ofCalendar = { ...consoleOperation, tag: 'Payouts' } as const

const BankHolidayRecord = record('BankHoliday', { date: text('`YYYY-MM-DD`'), name: text() })
const toWire = ({ day, name }: BankHoliday) => ({ date: day, name })

export const showBankHolidays = query({
  ...ofCalendar,
  id: 'console.showBankHolidays',
  method: 'GET',
  path: PATH,
  summary: 'Show bank holidays, oldest first',
  description: 'Beside Sundays and the second and fourth Saturday of a month.',
  permission: 'view',
  query: closed({
    year: Type.Optional(Type.Integer({ minimum: 1000, maximum: 2999, description: 'Only those of a year' })),
  }),
  result: closed({ data: Type.Array(BankHolidayRecord) }),
  errors: [],
  mount({ database }) {
    return async ({ query: { year } }) => {
      const found = await database.operate((tx) => listBankHolidays(tx, year))
      return { body: JSON.stringify({ data: found.map(toWire) }) }
    }
  },
})

export const removeBankHolidayInConsole = query({
  ...ofCalendar,
  id: 'console.removeBankHoliday',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:date/remove`,
  summary: 'Remove a bank holiday: banks are open on that day',
  permission: 'finance',
  params: Type.Object({ date: Type.String({ maxLength: 10, description: '`YYYY-MM-DD`' }) }),
  body: closed({ reason: reasonText('Why; it is in the audit') }),
  result: BankHolidayRecord,
  errors: ['bank_holiday_not_found'],
  mount(services) {
    return async (input) => {
      const date = readDay('date', input.params.date, 'query')
      const { reason } = input.body
      const removed = await asOperator(services, input, async (tx) => {
        const found = (await removeBankHoliday(tx, date)) ?? fail('bank_holiday_not_found')
        const details = { name: found.name, reason }
        recordAudit(tx, [{ action: 'bank_holiday.removed', target: date, details }])
        return found
      })
      return { body: JSON.stringify(toWire(removed)) }
    }
  },
})
