import { Text, type TextProps } from '@mantine/core'
import { formatRupees, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'

const RUPEES = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' })
const NUMBER = new Intl.NumberFormat('en-IN')

/** Rupees as the service writes them (`123456.78`) with Indian grouping (`₹1,23,456.78`); exact, no digit goes through a float. */
export function rupees(amount: string | number): string {
  const text = typeof amount === 'number' ? amount.toFixed(2) : amount
  const match = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text)
  if (!match) return text
  const [, sign, whole, fraction = ''] = match
  const shown = RUPEES.formatToParts(BigInt(whole!)).map(({ type, value }) =>
    type === 'fraction' ? fraction.padEnd(2, '0') : value,
  )
  return (sign ? '−' : '') + shown.join('')
}

/** The sum of amounts as the service writes them; exact. */
export const sumOf = (amounts: readonly string[]): string =>
  formatRupees(paise(amounts.reduce((sum, amount) => sum + BigInt(amount.replace('.', '')), 0n)))

/** The opposite amount. */
export const negated = (amount: string): string =>
  amount.startsWith('-') ? amount.slice(1) : Number(amount) === 0 ? amount : `-${amount}`

/** Integer paise as rupees, such as `₹1,23,456.78`. */
export const paiseText = (amount: number): string => rupees(formatRupees(paise(BigInt(amount))))

const SHORT = new Intl.NumberFormat('en-IN', { maximumFractionDigits: 2 })
const UNITS = [
  [10_000_000, 'Cr'],
  [100_000, 'L'],
  [1_000, 'k'],
] as const

/** Integer paise for an axis, such as `50 k`, `1.5 L`, `2 Cr`. */
export function shortRupees(amount: number): string {
  const whole = amount / 100
  const [unit, name] = UNITS.find(([least]) => Math.abs(whole) >= least) ?? [1, '']
  return `${SHORT.format(whole / unit)} ${name}`.trim()
}

/** A count with Indian grouping. */
export const count = (value: number): string => NUMBER.format(value)

/** How many of what: `1 line`, `1,200 lines`. */
export const counted = (many: number, one: string, several = `${one}s`): string =>
  `${count(many)} ${many === 1 ? one : several}`

/** How many rows there are; large numbers are estimates, and say so. */
export const about = ({ count: rows, exact }: { count: number; exact: boolean }): string =>
  `${exact ? '' : 'about '}${count(rows)}`

interface MoneyProps extends TextProps {
  /** Rupees as the service writes them: mostly a text with two decimals, a number in the records of the specification. */
  readonly amount: string | number | undefined
  /** Shows a plus before what came in. */
  readonly signed?: boolean
  /** Shown where there is no amount. */
  readonly none?: string
}

export function Money({ amount, signed = false, none = '–', ...text }: MoneyProps) {
  if (amount === undefined)
    return (
      <Text span inherit c="dimmed">
        {none}
      </Text>
    )
  const plus = signed && Number(amount) > 0 ? '+' : ''
  return (
    <Text span inherit style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }} {...text}>
      {plus + rupees(amount)}
    </Text>
  )
}

/** What a person typed (`1,250.5`, `₹ 1250.50`) as the service writes rupees (`1250.50`); `undefined` when it is no amount. */
export function readRupees(typed: string): string | undefined {
  const amount = valueIn(readAmount(typed))
  return amount === undefined ? undefined : formatRupees(amount)
}
