import type { DeclineReason } from '../rail/response-codes.ts'
import type { RuleInForce } from './spend-rule.ts'

/** All that the decision of an authorisation depends on besides its message: kept with it, to make it again. */
export interface AuthorizationBasis {
  /** Why it is declined, whatever its amount. */
  readonly refusal?: DeclineReason
  /** Of the hold that it raises: its id and amount. */
  readonly raises?: { readonly authorizationId: string; readonly amountPaise: bigint }
  readonly authorizationId: string
  readonly authorizationCode: string
  readonly isPartialAllowed: boolean
  /** What earlier messages have left to hold. */
  readonly leftPaise: bigint
  readonly balancePaise: bigint
  readonly heldPaise: bigint
  /** Spent or held of the amounts that the service permits in a day and a month. */
  readonly dayPaise: bigint
  readonly monthPaise: bigint
  readonly limits: Readonly<Record<'transactionPaise' | 'dayPaise' | 'monthPaise', bigint>>
  readonly rules: readonly RuleInForce[]
}

/** As it is stored with its message. */
export const basisToText = (basis: AuthorizationBasis): string =>
  JSON.stringify(basis, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))

export const basisFromText = (text: string): AuthorizationBasis =>
  JSON.parse(text, (name, value: unknown) =>
    name.endsWith('Paise') && typeof value === 'string' ? BigInt(value) : value,
  ) as AuthorizationBasis
