import { FUNDING_MAX_PAISE } from '@svc/core/cards/account/card-account'
import { formatRupees, type Paise, paiseToWire, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { InvalidArgumentError } from 'commander'

/** An option in rupees, as the API accepts it: zero or more, with at most two decimals. */
export function readRupees(text: string): number {
  const amount = readAmount(text)
  if ('unreadable' in amount)
    throw new InvalidArgumentError(`It ${amount.unreadable}. Give rupees, such as 249.50.`)
  return paiseToWire(amount.value)
}

/** An amount above nothing, as a transfer of the bank may have it. */
export function readPaise(text: string): Paise {
  const amount = valueIn(readAmount(text))
  if (!amount || amount > FUNDING_MAX_PAISE)
    throw new InvalidArgumentError(
      `It must be rupees with at most two decimals, 0.01 to ${formatRupees(FUNDING_MAX_PAISE)}.`,
    )
  return amount
}
