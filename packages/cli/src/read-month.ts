import { isDay } from '@svc/kernel/time'
import { InvalidArgumentError } from 'commander'

export function readMonth(text: string): string {
  if (!isDay(`${text}-01`)) throw new InvalidArgumentError('It must be a month such as 2026-10.')
  return text
}
