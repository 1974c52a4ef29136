import { isDay } from '@svc/kernel/time'
import { InvalidArgumentError } from 'commander'

export function readDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('It must be a day, such as 2026-04-01.')
  return text
}
