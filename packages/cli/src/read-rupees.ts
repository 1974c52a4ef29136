import { paiseToWire, readAmount } from '@svc/kernel/money'
import { InvalidArgumentError } from 'commander'

/** An option in rupees, as the API accepts it: zero or more, with at most two decimals. */
export function readRupees(text: string): number {
  const amount = readAmount(text)
  if ('unreadable' in amount)
    throw new InvalidArgumentError(`It ${amount.unreadable}. Give rupees, such as 249.50.`)
  return paiseToWire(amount.value)
}
