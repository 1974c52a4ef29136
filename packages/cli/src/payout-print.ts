import { isDay } from '@svc/kernel/time'
import { InvalidArgumentError } from 'commander'
import { UsageError } from './usage-error.ts'

export function readDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('It must be a day, such as 2026-04-01.')
  return text
}

export const missingPayout = (payoutId: string): string =>
  `There is no payout ${payoutId}. List them with: svc admin payout list`

export const noPayout = (payoutId: string): never => {
  throw new UsageError(missingPayout(payoutId))
}
