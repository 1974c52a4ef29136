import type { RandomBytes } from '@svc/kernel/ids'
import type { Home } from '@svc/platform/db/home'
import { instant, type RowOf, table, text } from '@svc/platform/db/table'
import { Type } from 'typebox'

/** Numbers to which partners transfer money for their card accounts (decision R15). */
export const virtualAccounts = table('virtual_accounts', 'v', ['partnerId', 'cardAccountId'], {
  partnerId: text,
  cardAccountId: text,
  number: text,
  createdAt: instant,
})
export type VirtualAccount = RowOf<typeof virtualAccounts>

const DIGITS = 10
/** Numbers drawn for each account: the first that is free is used. */
const NUMBERS_DRAWN = 3

/**
 * The prefix, in a cell its letter, ten digits drawn by chance, and two check digits (ISO/IEC 7064 MOD 97-10 of the ten): a number with one wrong
 * digit, or two that changed places, is no number of another account.
 */
export function drawVirtualAccount(prefix: string, random: RandomBytes): string {
  let digits = ''
  while (digits.length < DIGITS)
    // Bytes from 250 on are dropped, so that every digit is equally likely.
    for (const byte of random(16)) if (byte < 250 && digits.length < DIGITS) digits += String(byte % 10)
  const check = 98n - ((BigInt(digits) * 100n) % 97n)
  return `${prefix}${digits}${String(check).padStart(2, '0')}`
}

/** With what the numbers of a cell begin: after the prefix numbers of no cell have a digit, so none is of two cells. */
export const virtualAccountPrefix = (prefix: string, { cell = '' }: Home): string =>
  `${prefix}${cell.toUpperCase()}`

export const drawVirtualAccounts = (prefix: string, random: RandomBytes): string[] =>
  Array.from({ length: NUMBERS_DRAWN }, () => drawVirtualAccount(prefix, random))

/** Where a partner transfers money for a card account. */
export const FundingInstructions = Type.Object(
  {
    cardAccountId: Type.String(),
    virtualAccountNumber: Type.String({ description: 'Account number of the beneficiary; it never changes' }),
    ifsc: Type.String({ description: 'IFSC of the beneficiary’s bank' }),
    beneficiaryName: Type.String(),
    bankName: Type.String(),
    modes: Type.Array(Type.Enum(['NEFT', 'RTGS', 'IMPS'])),
  },
  { title: 'FundingInstructions', additionalProperties: false },
)

/** The beneficiary, as the settings have it. */
export interface Beneficiary {
  readonly ifsc: string
  readonly name: string
  readonly bankName: string
}

interface FundingConfig {
  readonly SVC_MODE: 'live' | 'sandbox'
  readonly FUNDING_IFSC?: string | undefined
  readonly FUNDING_BENEFICIARY: string
  readonly FUNDING_BANK_NAME: string
}

const SANDBOX_IFSC = 'SBOX0000001'

/** `undefined` where the operator has set no IFSC. */
export function beneficiaryOf(config: FundingConfig): Beneficiary | undefined {
  const ifsc = config.FUNDING_IFSC ?? (config.SVC_MODE === 'sandbox' ? SANDBOX_IFSC : undefined)
  return ifsc === undefined
    ? undefined
    : { ifsc, name: config.FUNDING_BENEFICIARY, bankName: config.FUNDING_BANK_NAME }
}

export const instructionsToWire = (
  { cardAccountId, number }: VirtualAccount,
  { ifsc, name, bankName }: Beneficiary,
) => ({
  cardAccountId,
  virtualAccountNumber: number,
  ifsc,
  beneficiaryName: name,
  bankName,
  modes: ['NEFT', 'RTGS', 'IMPS'],
})
