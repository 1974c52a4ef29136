import { isDay } from '@svc/kernel/time'
import { isGstin } from './gstin.ts'
import { bad, digits, hidden, oneOf, type Setting, text, whole } from './setting.ts'

/** Minutes of the day at which a business day ends; 1,440 at midnight. */
const cutOff: Setting<number> = {
  type: 'time of day, `HH:MM`',
  default: '24:00',
  meaning:
    'Time in the business zone at which a business day of payouts ends: what is paid later belongs to the next one.',
  read(value) {
    const [, hours, minutes] = /^(\d{2}):([0-5]\d)$/.exec(value) ?? []
    const time = Number(hours) * 60 + Number(minutes)
    return time > 0 && time <= 1_440 ? time : bad('must be a time of day from 00:01 to 24:00, such as 23:30')
  },
}

/** A rate of tax in basis points, from a day on. */
export interface TaxRate {
  readonly from: string
  readonly basisPoints: number
}

const TAX_RATE = /^(\d{4}-\d{2}-\d{2})=(\d{1,2})(?:\.(\d{1,2}))?$/

const taxRates: Setting<readonly TaxRate[]> = {
  type: '`YYYY-MM-DD=PERCENT`, comma-separated, days ascending',
  default: '2017-07-01=18',
  meaning:
    'GST on fees, each rate from its day on, such as `2017-07-01=18,2027-04-01=20`. It is charged half as CGST and half as SGST in the state of `GST_STATE`, else as IGST, rounded half up to the paisa for each payment. The database checks every fee by it, by `GST_STATE` and by the business day, as `svc admin migrate` or a sandbox stores them: give these settings to both, and run it after a change.',
  read(value) {
    const rates = value.split(',').map((part) => {
      const [, from = '', percent, fraction = ''] = TAX_RATE.exec(part.trim()) ?? []
      if (!isDay(from)) return bad('must be such as 2017-07-01=18, with a day that exists')
      return { from, basisPoints: Number(percent) * 100 + Number(fraction.padEnd(2, '0')) }
    })
    if (rates.some(({ from }, i) => i > 0 && from <= rates[i - 1]!.from)) bad('must have its days ascending')
    return rates
  },
}

const APPROVAL_RUPEES_LIVE = 100_000

const approvalLimit: Setting<number | 'none', undefined> = {
  type: 'whole rupees, or `none`',
  default: undefined,
  meaning: `Postings by operators above this amount need the approval of a second person, which the database holds, and which only \`svc admin migrate\` or a sandbox loosens: funding of card accounts and withdrawals from them, credits assigned or returned out of suspense, assignments taken back, exceptions and advances settled outside or written off, failed refunds and won disputes that no signed notice reports, reversals of journals. \`none\`: no posting does. By default ${APPROVAL_RUPEES_LIVE} in live mode and \`none\` in sandbox mode.`,
  read: (value) =>
    value === 'none'
      ? value
      : /^\d{1,12}$/.test(value)
        ? Number(value)
        : bad('must be whole rupees, or none'),
}

const COOLING_DAYS_LIVE = 7

const cooling: Setting<number, undefined> = {
  type: 'whole number, 0 to 365',
  default: undefined,
  meaning: `Days for which an operator who created, invited, promoted or reset another one counts as the same person where two people are needed, and for which a new payment address of a merchant waits. By default ${COOLING_DAYS_LIVE} in live mode and 0 in sandbox mode.`,
  read: (value) =>
    /^\d{1,3}$/.test(value) && Number(value) <= 365 ? Number(value) : bad('must be a whole number, 0 to 365'),
}

const gstin: Setting<string, undefined> = {
  type: 'GSTIN',
  default: undefined,
  meaning:
    'GST identification number of the company that runs the service, on its invoices. Its first two digits are `GST_STATE`.',
  read: (value) => (isGstin(value) ? value : bad('must be a GSTIN with its check digit')),
}

const series: Setting<string> = {
  type: '1 or 2 upper-case letters or digits',
  default: 'S',
  meaning: 'Series of invoice numbers, such as `S/26-27/0000001`; `C` is that of credit notes.',
  read: (value) =>
    /^[A-Z0-9]{1,2}$/.test(value) && value !== 'C'
      ? value
      : bad('must be 1 or 2 upper-case letters or digits, and not C'),
}

interface ByMode {
  readonly SVC_MODE: 'live' | 'sandbox'
}

/** For how many days whom an operator gave the means to act is no second person beside that operator (decision R10). */
export const coolingDays = ({
  APPROVER_COOLING_DAYS: days,
  SVC_MODE,
}: ByMode & { readonly APPROVER_COOLING_DAYS?: number | undefined }): number =>
  days ?? (SVC_MODE === 'live' ? COOLING_DAYS_LIVE : 0)

/** The largest posting that one operator may make alone, in paise; `null` for any. */
export function approvalLimitPaise({
  APPROVAL_ABOVE_RUPEES: limit,
  SVC_MODE,
}: ByMode & { readonly APPROVAL_ABOVE_RUPEES?: number | 'none' | undefined }): bigint | null {
  const rupees = limit ?? (SVC_MODE === 'live' ? APPROVAL_RUPEES_LIVE : 'none')
  return rupees === 'none' ? null : BigInt(rupees) * 100n
}

/** Settings of refunds and payouts (decisions Q14, Q15). */
export const PAYOUT_SETTINGS = {
  REFUNDS_BEYOND_BALANCE: oneOf(
    ['reject', 'allow'],
    'reject',
    'Refunds of a merchant beyond its payable balance: rejected, or advanced and deducted from its settlement.',
  ),
  PAYOUT_REQUIRES_SETTLEMENT: oneOf(
    ['true', 'false'],
    'true',
    'Whether payouts hold only payments that the bank has paid, as its settlement files say.',
  ),
  BUSINESS_DAY_CUTOFF: cutOff,
  GST_RATES: taxRates,
  GST_STATE: digits(2, 2, '27', 'GST state code of the company that runs the service; `27` is Maharashtra.'),
  SUPPLIER_NAME: text(
    undefined,
    'Legal name of the company that runs the service, on its invoices. Without it, `SUPPLIER_ADDRESS` and `SUPPLIER_GSTIN` none is issued.',
  ),
  SUPPLIER_ADDRESS: text(undefined, 'Its address, on its invoices.'),
  SUPPLIER_GSTIN: gstin,
  INVOICE_SERIES: series,
  INVOICE_SAC: digits(4, 6, '997158', 'Services accounting code of fees, on invoices.'),
  APPROVAL_ABOVE_RUPEES: approvalLimit,
  APPROVAL_HOURS: whole(72, 1, 8_760, 'Hours after which a posting that waits for approval expires.'),
  APPROVER_COOLING_DAYS: cooling,
  SVC_OPERATOR: text(
    undefined,
    'Name of the operator in whose name `svc` moves money, and of the administrator in whose name it changes who may act. The service itself does not use it.',
  ),
  SVC_OPERATOR_PASSWORD: hidden(text(undefined, 'Password of `SVC_OPERATOR`.')),
  SVC_OPERATOR_CODE: hidden(
    text(
      undefined,
      'Code of the authenticator app of `SVC_OPERATOR`, where one is set up or `CONSOLE_SECOND_FACTOR` requires one; each works for one command.',
    ),
  ),
}

interface Given {
  readonly GST_STATE: string
  readonly SUPPLIER_NAME?: string | undefined
  readonly SUPPLIER_ADDRESS?: string | undefined
  readonly SUPPLIER_GSTIN?: string | undefined
}

/** What is wrong with the settings of who issues invoices together. */
export function supplierErrors({
  GST_STATE,
  SUPPLIER_NAME,
  SUPPLIER_ADDRESS,
  SUPPLIER_GSTIN,
}: Given): string[] {
  const given = [SUPPLIER_NAME, SUPPLIER_ADDRESS, SUPPLIER_GSTIN].filter((value) => value !== undefined)
  return [
    ...(given.length % 3 === 0
      ? []
      : ['SUPPLIER_NAME, SUPPLIER_ADDRESS and SUPPLIER_GSTIN must be set together']),
    ...(SUPPLIER_GSTIN === undefined || SUPPLIER_GSTIN.startsWith(GST_STATE)
      ? []
      : [`SUPPLIER_GSTIN is of the state ${SUPPLIER_GSTIN.slice(0, 2)}, and GST_STATE says ${GST_STATE}`]),
  ]
}
