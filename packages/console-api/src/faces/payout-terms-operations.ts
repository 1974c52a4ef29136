import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { readBankDays } from '@svc/core/ledger/bank-holidays'
import {
  readOn,
  SCHEDULE_PERIODS,
  type SchedulePeriod,
  scheduleToWire,
  setPayoutSchedule,
  shownSchedules,
} from '@svc/core/payments/payouts/payout-schedule'
import { businessDayOf } from '@svc/core/payments/payouts/payout-statement'
import {
  ACCOUNT_NUMBER,
  FEE_BASIS_POINTS_MAX,
  FEE_FIXED_MAX_PAISE,
  feeDaysOf,
  findPayoutDetails,
  GST_STATE,
  IFSC,
  listMerchantFees,
  setMerchantFee,
  setPayoutDetails,
} from '@svc/core/payments/payouts/payout-terms'
import { findMerchant } from '@svc/core/tenants/merchant'
import { formatRupees, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { isDay, rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { FreeText, Rupees, readRupees } from '@svc/server/http/fields'
import { query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  maybe,
  reasonText,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'

const TAG = 'Payouts'
const PATH = `${CONSOLE_API}/merchants/:merchantId`

export const PayoutTerms = record('PayoutTerms', {
  bankAccount: Type.Optional(
    record('MerchantBankAccount', {
      holder: text(),
      ends: text('The last four digits of its number'),
      ifsc: text('Code of the branch'),
      gstState: maybe('GST state code; absent: taxed within one state'),
      updatedOn: instant,
    }),
  ),
  fees: Type.Array(
    record('MerchantFee', {
      validFrom: text('Business day from which it is charged, `YYYY-MM-DD`'),
      percent: text('Of the amount of each payment, with two decimals'),
      fixed: rupeesText,
    }),
    { description: 'Latest first; before the first of them nothing is charged' },
  ),
  schedules: Type.Array(
    record('PayoutSchedule', {
      every: Type.Enum([...SCHEDULE_PERIODS]),
      on: maybe('The day that ends a period: `mon` to `sun`, or `1` to `31`, the last day of every month'),
      after: Type.Integer({ description: 'Bank days between the end of a period and its payout' }),
      minimum: rupeesText,
      from: text('Day from which it holds, `YYYY-MM-DD`'),
      periodEnds: maybe('The day that ends its running or first period, `YYYY-MM-DD`'),
      preparedOn: maybe('The bank day on which the payout of that period is prepared, `YYYY-MM-DD`'),
      setBy: text('Who set it, as the audit names them'),
    }),
    { description: 'In force, and the one that follows; none: people prepare the payouts' },
  ),
})

/** The business day by the merchant’s clock. */
const todayOf = (merchantId: string, { clock, config }: ScheduleTools): string =>
  businessDayOf(new Date(clock.of(merchantId).now()), config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE)

export async function termsOf(tx: Tx, merchantId: string, { clock, config }: ScheduleTools) {
  const { BUSINESS_TIME_ZONE: timeZone } = config
  const [details, fees] = [await findPayoutDetails(tx, merchantId), await listMerchantFees(tx, merchantId)]
  const today = todayOf(merchantId, { clock, config })
  const bankDays = await readBankDays(tx)
  const schedules = await shownSchedules(tx, merchantId, today)
  return {
    schedules: schedules.map((each) => {
      const { merchantId: _, reason: _reason, ...shown } = scheduleToWire(each, bankDays)
      return shown
    }),
    bankAccount: details && {
      holder: details.accountHolder,
      ends: details.accountNumber.slice(-4),
      ifsc: details.ifsc,
      gstState: details.gstState ?? undefined,
      updatedOn: rfc3339(details.updatedAt, timeZone),
    },
    fees: fees.map(({ validFrom, basisPoints, fixedPaise }) => ({
      validFrom,
      percent: formatRupees(BigInt(basisPoints)),
      fixed: formatRupees(fixedPaise),
    })),
  }
}

type ScheduleTools = Pick<Services, 'clock' | 'config'>

async function requireMerchant(tx: Tx, merchantId: string): Promise<void> {
  if (!(await findMerchant(tx, merchantId))) fail('merchant_not_found')
}

export const showPayoutTerms = query({
  ...consoleOperation,
  id: 'console.showPayoutTerms',
  method: 'GET',
  path: `${PATH}/payout-terms`,
  tag: TAG,
  summary:
    'Show the bank account that a merchant is paid to, what it is charged, and when payouts are prepared',
  permission: 'view',
  params: idParam('merchantId'),
  result: PayoutTerms,
  errors: ['merchant_not_found'],
  mount(services) {
    return async ({ params: { merchantId } }) => {
      const terms = await services.database.operate(async (tx) => {
        await requireMerchant(tx, merchantId)
        return termsOf(tx, merchantId, services)
      })
      return { body: JSON.stringify(terms) }
    }
  },
})

/** A bank account, as operators enter it and members ask for it. */
export const BankAccountFields = {
  holder: FreeText(100, 'The name of its holder'),
  number: Type.String({
    pattern: ACCOUNT_NUMBER.source,
    'x-rule': 'must be 6 to 18 digits',
    description: 'The account number, 6 to 18 digits',
  }),
  ifsc: Type.String({
    pattern: IFSC.source,
    'x-rule': 'must be four letters, a zero and six letters or digits',
    description: 'Code of the branch',
  }),
}

export const setBankAccount = query({
  ...consoleOperation,
  id: 'console.setBankAccount',
  stepUp: true,
  method: 'PUT',
  path: `${PATH}/bank-account`,
  tag: TAG,
  summary: 'Set the bank account that a merchant is paid to',
  description:
    'A payout that is prepared already keeps its account. Who set it cannot approve payouts to it. The audit has the last four digits.',
  permission: 'finance',
  params: idParam('merchantId'),
  body: closed({
    ...BankAccountFields,
    gstState: Type.Optional(
      Type.String({
        pattern: GST_STATE.source,
        'x-rule': 'must be two digits',
        description: 'GST state code of the merchant; without it, taxed within one state',
      }),
    ),
  }),
  result: PayoutTerms,
  errors: ['merchant_not_found'],
  mount(services) {
    return async (input) => {
      const { merchantId } = input.params
      const { holder, number, ifsc, gstState = null } = input.body
      const terms = await asOperator(services, input, async (tx) => {
        await requireMerchant(tx, merchantId)
        await setPayoutDetails(tx, {
          merchantId,
          accountHolder: holder,
          accountNumber: number,
          ifsc,
          gstState,
        })
        return termsOf(tx, merchantId, services)
      })
      return { body: JSON.stringify(terms) }
    }
  },
})

/** Two decimals as a whole number of hundredths; fails with the field's rule. */
function readHundredths(field: string, text: string, most: bigint, rule: string): bigint {
  const read = valueIn(readAmount(text))
  return read === undefined || read > most ? failField(field, 'maximum', rule) : read
}

/** A fee, as operators set it and members ask for it. */
export const FeeFields = {
  percent: Type.String({ maxLength: 10, description: 'Of the amount, with at most two decimals' }),
  fixed: Type.String({ maxLength: 10, description: 'Rupees in addition, for each payment' }),
}

export const readFee = ({ percent, fixed }: Readonly<Record<keyof typeof FeeFields, string>>) => ({
  basisPoints: Number(readHundredths('percent', percent, FEE_BASIS_POINTS_MAX, 'must be 0 to 100')),
  fixedPaise: paise(readHundredths('fixed', fixed, FEE_FIXED_MAX_PAISE, 'must be 0 to 1000 rupees')),
})

export const setFee = query({
  ...consoleOperation,
  id: 'console.setMerchantFee',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/fees`,
  tag: TAG,
  summary: 'Set what a merchant is charged for each payment, from a business day on',
  description:
    'From the next business day on, or from today while the merchant has no payment of today: a payment is charged by the fee that was in force when it was accepted. One in the place of another begins after APPROVER_COOLING_DAYS at the earliest, unless the merchant asks for it in the portal. A fee for a day that has one takes its place. Of a merchant that is closing, a fee of zero may begin earlier, for payments that are in no payout.',
  permission: 'finance',
  params: idParam('merchantId'),
  body: closed({
    ...FeeFields,
    validFrom: Type.Optional(
      Type.String({
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
        'x-rule': 'must be a day, YYYY-MM-DD',
        description: 'The first business day; by default the first that is possible, today or the next',
      }),
    ),
  }),
  result: PayoutTerms,
  errors: ['merchant_not_found'],
  mount(services) {
    return async (input) => {
      const { merchantId } = input.params
      const { validFrom } = input.body
      if (validFrom !== undefined && !isDay(validFrom))
        failField('validFrom', 'format', 'must be a day, such as 2026-04-01')
      const fee = { merchantId, validFrom, ...readFee(input.body) }
      const terms = await asOperator(services, input, async (tx) => {
        await requireMerchant(tx, merchantId)
        await setMerchantFee(tx, fee, feeDaysOf(services, merchantId))
        return termsOf(tx, merchantId, services)
      })
      return { body: JSON.stringify(terms) }
    }
  },
})

const AFTER_DAYS_MAX = 30

/** What is wrong with the day that ends a period. */
const ON_RULES: Readonly<Record<SchedulePeriod, string>> = {
  day: 'must be absent where a payout pays a day',
  week: 'must be mon, tue, wed, thu, fri, sat or sun',
  month: 'must be a day of the month from 1 to 31; 31 is its last day',
  never: 'must be absent where payouts are never prepared',
}

export const setPayoutScheduleInConsole = query({
  ...consoleOperation,
  id: 'console.setPayoutSchedule',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/payout-schedules`,
  tag: TAG,
  summary: 'Set when payouts to a merchant are prepared by themselves',
  description:
    'From the period after the one that runs. They are `PREPARED`: people approve them, but not who set the schedule or the bank account.',
  permission: 'finance',
  params: idParam('merchantId'),
  body: closed({
    every: Type.Enum([...SCHEDULE_PERIODS], { description: 'The period that a payout pays' }),
    on: Type.Optional(
      Type.String({
        maxLength: 3,
        description: 'The day that ends a period: `mon` to `sun` of a week, `1` to `31` of a month',
      }),
    ),
    afterDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: AFTER_DAYS_MAX,
        description: 'Bank days between the end of a period and its payout; 1 if absent',
      }),
    ),
    minimum: Type.Optional(
      Rupees({ minimum: 0, description: 'Less than this waits for the next period; 0 if absent' }),
    ),
    reason: reasonText('Why; it is in the audit'),
  }),
  result: PayoutTerms,
  errors: ['merchant_not_found'],
  mount(services) {
    return async (input) => {
      const { merchantId } = input.params
      const { afterDays, every, minimum, on, reason } = input.body
      const onDay = readOn(every, on)
      if (onDay === undefined) return failField('on', 'format', ON_RULES[every])
      const isNever = every === 'never'
      const extra = afterDays === undefined ? 'minimum' : 'afterDays'
      if (isNever && (afterDays !== undefined || minimum !== undefined))
        return failField(extra, 'format', ON_RULES.never)
      const schedule = {
        every,
        onDay,
        afterDays: afterDays ?? (isNever ? 0 : 1),
        minimumPaise: readRupees('minimum', minimum ?? 0),
        reason,
      }
      const terms = await asOperator(services, input, async (tx) => {
        await requireMerchant(tx, merchantId)
        await setPayoutSchedule(tx, { merchantId, ...schedule }, todayOf(merchantId, services))
        return termsOf(tx, merchantId, services)
      })
      return { body: JSON.stringify(terms) }
    }
  },
})
