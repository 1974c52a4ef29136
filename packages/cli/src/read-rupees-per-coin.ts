import { RUPEES_PER_COIN } from '@svc/core/coins/coin-liability'
import { InvalidArgumentError } from 'commander'

/** What a coin is worth, as an option gives it. */
export function readRupeesPerCoin(text: string): string {
  if (!RUPEES_PER_COIN.test(text))
    throw new InvalidArgumentError('must be rupees with at most four decimals, such as 0.25.')
  return text
}
