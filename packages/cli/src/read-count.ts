import { InvalidArgumentError } from 'commander'

export function readCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > 1_000) throw new InvalidArgumentError('It must be a whole number from 1 to 1000.')
  return count
}
