import { failField } from '@svc/contract/fail-fields'
import { enteredYearEndToWire, enterYearEnd } from '@svc/core/payments/own-funds/enter-year-end'
import { moveOwnFunds } from '@svc/core/payments/own-funds/move-own-funds'
import { MOVEMENT_KINDS, movementToWire, TAX_ACCOUNTS } from '@svc/core/payments/own-funds/movement'
import { takeBackOwnFunds } from '@svc/core/payments/own-funds/take-back-own-funds'
import { readOpenYear, yearEndToWire } from '@svc/core/payments/own-funds/year-end'
import { formatRupees, type Paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { readDay } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { readMonth } from '@svc/server/payments/tax-documents'
import { type Static, Type } from 'typebox'
import { actorOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  reasonText,
  record,
  referenceText,
  rupeesText,
  text,
} from '../console-schema.ts'
import { readTransfer } from './read-transfer.ts'

const PATH = `${CONSOLE_API}/own-funds`
const ofBooks = { ...consoleOperation, tag: 'Books' } as const
const entered = { ...ofBooks, method: 'POST', stepUp: true, permission: 'finance' } as const

const OrNull = (description?: string) => Type.Union([text(description), Type.Null()])
const movement = {
  movementId: text(),
  kind: Type.Enum([...MOVEMENT_KINDS]),
  reference: text(),
  date: text('Day of the bank, `YYYY-MM-DD`'),
  through: OrNull('Of a sweep'),
  month: OrNull('Of GST'),
  ownFunds: text('What the bank adds to our account, in rupees; below zero it takes it'),
  escrow: text('What it adds to the escrow of merchants'),
  tax: rupeesText,
  journalId: text(),
  reversedBy: OrNull('The journal that took it back'),
}
const isRepeat = Type.Boolean({ description: 'It was entered before: nothing was posted' })

const readPart = (name: string, amount: string): Paise =>
  valueIn(readAmount(amount)) ?? failField(name, 'format', 'must be rupees with at most two decimals')

const Taxes = Type.Array(closed({ account: Type.Enum([...TAX_ACCOUNTS]), cash: text(), credit: text() }), {
  maxItems: TAX_ACCOUNTS.length,
  description: 'How each tax was paid, in cash and from input credit. Of GST',
})

/** Every tax; nothing was paid of one that is not named. */
const readTaxes = (given: Static<typeof Taxes> = []) =>
  TAX_ACCOUNTS.map((account) => {
    const { cash = '0', credit = '0' } = given.find((each) => each.account === account) ?? {}
    return { account, cashPaise: readPart('taxes', cash), creditPaise: readPart('taxes', credit) }
  })

/** A day in a body. */
export const Day = (description: string) => Type.String({ maxLength: 10, description })

const AMOUNT_OF: ReadonlySet<string> = new Set(['OWNER', 'CAPITAL', 'ESCROW', 'TDS'])

export const moveOwnFundsInConsole = query({
  ...entered,
  id: 'console.moveOwnFunds',
  path: PATH,
  summary: 'Enter a movement of our own money at the bank',
  description:
    'By its reference, once: what a sweep or GST is made of is reckoned, the other amounts are given. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.',
  body: closed({
    kind: Type.Enum([...MOVEMENT_KINDS]),
    through: Type.Optional(Day('Fees of payouts that were paid until this day, `YYYY-MM-DD`. Of a sweep')),
    month: Type.Optional(Day('The month of the return, `YYYY-MM`. Of GST')),
    taxes: Type.Optional(Taxes),
    amount: Type.Optional(
      Type.String({ maxLength: 20, description: 'Rupees with at most two decimals. Of any other' }),
    ),
    date: Type.Optional(Day('The day of the bank, `YYYY-MM-DD`; today if absent')),
    reference: referenceText('Of the bank or of the payment of tax; it is entered once'),
    reason: reasonText('Why; it is in the journal'),
  }),
  result: record('OwnFundsMoved', {
    ...movement,
    shares: Type.Array(closed({ tenantId: text(), account: text(), amount: text() }), {
      description: 'Whose it was',
    }),
    isRepeat,
  }),
  accepted: ApprovalRecord,
  errors: [...moveOwnFunds.approval.failures, 'approval_open'],
  mount({ commands, config }) {
    const { run } = commands.open(moveOwnFunds)
    return async ({ body, caller, requestId }) => {
      const { amount, date, kind, month, reason, reference, taxes, through } = body
      const isGiven = { through: kind === 'SWEEP', month: kind === 'GST', amount: AMOUNT_OF.has(kind) }
      for (const [name, isNeeded] of Object.entries(isGiven))
        if ((body[name as 'amount'] !== undefined) !== isNeeded)
          failField(name, 'required', isNeeded ? 'is required' : `must be absent of ${kind}`)
      const amountPaise = amount === undefined ? undefined : readTransfer('amount', amount)
      const wanted = {
        kind,
        through: through && readDay('through', through),
        month: month && readMonth(month),
        amountPaise,
        taxes: kind === 'GST' ? readTaxes(taxes) : undefined,
        movedOn: date && readDay('date', date),
        reference,
        reason,
      }
      const act = { action: 'own_funds.moved', target: 'own_funds', requestId, actor: actorOf(caller) }
      const details = {
        kind,
        reference,
        reason,
        ...(amountPaise && { amount: formatRupees(amountPaise) }),
        ...(through && { through }),
        ...(month && { month }),
      }
      const moved = await run(wanted, { ...act, details })
      return wireOrWait(moved, config.BUSINESS_TIME_ZONE, ({ journals, movement: of, shares }) => ({
        ...movementToWire(of, shares),
        isRepeat: journals.length === 0,
      }))
    }
  },
})

export const takeBackOwnFundsInConsole = query({
  ...entered,
  id: 'console.takeBackOwnFunds',
  path: `${PATH}/take-back`,
  summary: 'Take back a movement of our own money that was entered by mistake',
  description:
    'As long as no bank statement shows it: each of its journals is entered the other way round, effective today, and its reference can be entered again. A repeat changes nothing. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.',
  body: closed({
    reference: referenceText('Of the movement'),
    reason: reasonText('Why; it is in the journals'),
  }),
  result: record('OwnFundsTakenBack', { ...movement, isRepeat }),
  accepted: ApprovalRecord,
  errors: [...takeBackOwnFunds.approval.failures, 'approval_open'],
  mount({ commands, config }) {
    const { run } = commands.open(takeBackOwnFunds)
    return async ({ body: details, caller, requestId }) => {
      const act = { action: 'own_funds.taken_back', target: 'own_funds', requestId, actor: actorOf(caller) }
      const taken = await run(details, { ...act, details })
      return wireOrWait(taken, config.BUSINESS_TIME_ZONE, ({ journals, movement: of }) => {
        const { shares: _, ...shown } = movementToWire(of, [])
        return { ...shown, isRepeat: journals.length === 0 }
      })
    }
  },
})

const Totals = Type.Array(closed({ kind: text(), amount: text('Rupees with two decimals') }))
const YearEndRecord = record('YearEnd', {
  year: text('Such as `2026-27`'),
  through: text('Its last day'),
  income: Totals,
  expenses: Totals,
  profit: text('Rupees with two decimals; below zero it is a loss'),
  journals: Type.Integer({ description: 'How many were entered' }),
  isRepeat,
})
const params = Type.Object({
  year: Type.String({
    maxLength: 16,
    description: 'The financial year, such as `2026-27`: from 1 April to 31 March',
  }),
})
const ofYear = { params, path: `${CONSOLE_API}/years/:year/end`, result: YearEndRecord } as const

export const showYearEnd = query({
  ...ofBooks,
  ...ofYear,
  id: 'console.showYearEnd',
  method: 'GET',
  permission: 'view',
  summary: 'Show what the end of a financial year would close',
  description: 'Income and expenses that are not closed; nothing is entered.',
  takesLong: true,
  errors: ['year_not_over', 'year_not_ready', 'year_before_open'],
  mount(services) {
    return async ({ params: { year } }) => {
      const { shares, through } = await readOpenYear(services, year)
      return {
        body: JSON.stringify({ ...yearEndToWire(through, shares, 0), isRepeat: shares.length === 0 }),
      }
    }
  },
})

export const enterYearEndInConsole = query({
  ...entered,
  ...ofYear,
  id: 'console.enterYearEnd',
  summary: 'Close income and expenses of a financial year that is over',
  description:
    'Into the equity of the owner, on its last day. A repeat enters what was found since. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.',
  takesLong: true,
  body: closed({ reason: reasonText('Why; it is in the journals') }),
  accepted: ApprovalRecord,
  errors: [...enterYearEnd.approval.failures, 'approval_open'],
  mount({ commands, config }) {
    const { run } = commands.open(enterYearEnd)
    return async ({ body: { reason }, caller, params: { year }, requestId }) => {
      const act = { action: 'year.ended', target: 'own_funds', requestId, actor: actorOf(caller) }
      const ended = await run({ year, reason }, { ...act, details: { year, reason } })
      return wireOrWait(ended, config.BUSINESS_TIME_ZONE, enteredYearEndToWire)
    }
  },
})
