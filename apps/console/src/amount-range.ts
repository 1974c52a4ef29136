import { formatRupees, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'

type Range = Readonly<Partial<Record<'amountFrom' | 'amountTo', string>>>

const BETWEEN = /^(.+?)\s*(?:-|–|\bto\b)\s*(.+)$/
const BEYOND = /^(>=?|≥|<=?|≤)\s*(.+)$/

/**
 * An amount as people search for it, as the filters of a list: `517.25`, `500-600`, `>5,000`, `≤ ₹100`. `undefined` where it
 * cannot be read.
 */
export function amountRange(text: string): Range | undefined {
  const [, sign, limit = ''] = BEYOND.exec(text.trim()) ?? []
  if (sign !== undefined) return beyond(sign, valueIn(readAmount(limit)))
  const exact = valueIn(readAmount(text.trim()))
  if (exact !== undefined) return { amountFrom: formatRupees(exact), amountTo: formatRupees(exact) }
  const [, first, second] = BETWEEN.exec(text.trim()) ?? []
  const [one, other] = [valueIn(readAmount(first)), valueIn(readAmount(second))]
  if (one === undefined || other === undefined) return undefined
  const [from, to] = one < other ? [one, other] : [other, one]
  return { amountFrom: formatRupees(from), amountTo: formatRupees(to) }
}

/** More or less than a limit, by a paisa where the limit itself does not count. */
function beyond(sign: string, limit: bigint | undefined): Range | undefined {
  if (limit === undefined) return undefined
  const aside = sign === '>' ? 1n : sign === '<' ? -1n : 0n
  if (limit + aside < 0n) return undefined
  return { [/[>≥]/.test(sign) ? 'amountFrom' : 'amountTo']: formatRupees(limit + aside) }
}
