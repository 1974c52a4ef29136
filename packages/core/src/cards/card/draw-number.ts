import { invariant } from '@svc/kernel/invariant'
import { plainTimestamp } from '@svc/kernel/time'
import type { CommandTools } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import type { Card } from './card.ts'
import { drawCardNumber, maskCardNumber } from './card-number.ts'

/** Numbers drawn for each card: the first that is free is used, so that a collision costs no retry. */
const NUMBERS_DRAWN = 3

/** A card number that the card may get: what is kept of it. */
export interface DrawnNumber {
  /** Encrypts it for its card; of the numbers drawn only the one that is used is encrypted. */
  readonly encrypted: () => Buffer
  readonly digest: Buffer
  readonly masked: string
}

/** Draws numbers for a card, by its id. */
export const numberDrawer =
  ({ config, keyring, random }: Pick<CommandTools, 'config' | 'keyring' | 'random'>) =>
  (cardId: string): DrawnNumber[] =>
    Array.from({ length: NUMBERS_DRAWN }, () => {
      const number = drawCardNumber(keyring.home.cardRange ?? config.CARD_BIN, random)
      return {
        encrypted: () => keyring.encrypt('card_number', Buffer.from(number), cardId),
        digest: keyring.digest('card_number_digest', number),
        masked: maskCardNumber(number),
      }
    })

const NUMBERS = statement<{ digest: Buffer }>(
  'issuing_numbers',
  'select digest from directory_card_numbers($1)',
)

const keyOf = (digest: Buffer): string => digest.toString('base64')

/** Which of the drawn numbers cards have, of whatever partner (decision C11): their digests in base64. */
export async function takenNumbers(tx: BatchTx, drawn: readonly DrawnNumber[]): Promise<Set<string>> {
  const rows = await tx.query(NUMBERS, [drawn.map(({ digest }) => digest)])
  return new Set(rows.map(({ digest }) => keyOf(digest)))
}

export function freeNumber(drawn: readonly DrawnNumber[], taken: ReadonlySet<string>): DrawnNumber {
  const number = drawn.find(({ digest }) => !taken.has(keyOf(digest)))
  invariant(number, 'every drawn card number is taken: widen the BIN range')
  return number
}

export const takeNumber = (taken: Set<string>, { digest }: DrawnNumber): void => void taken.add(keyOf(digest))

/** The last month of a card that is issued now, in the business zone, so that it is never good for less. */
export function lastMonthOf(
  now: Date,
  timeZone: string,
  validityMonths: number,
): Pick<Card, 'expiryMonth' | 'expiryYear'> {
  const [year = 0, month = 0] = plainTimestamp(now, timeZone).split('-').map(Number)
  const last = new Date(Date.UTC(year, month - 1 + validityMonths, 1))
  return { expiryMonth: last.getUTCMonth() + 1, expiryYear: last.getUTCFullYear() }
}
