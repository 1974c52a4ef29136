import { type Paise } from '@svc/kernel/money'
import type { PreparedCommand } from '@svc/platform/db/batch'
import type { Transfer } from '../ledger/transfers.ts'
import { EnteredFundings } from './entered-fundings.ts'
import { type OwnedAccount } from './owned-accounts.ts'
export interface WithdrawFunds {
  readonly partnerId: string
  readonly cardAccountId: string
  readonly amountPaise: Paise
  /** The bank's reference of the transfer to the partner: it is entered once, however it is written. */
  readonly reference: string
  readonly reason: string
  /** Of a second person, above the limit. */
  readonly approvalId?: string | undefined
}
interface Prepared extends WithdrawFunds, PreparedCommand {
  readonly transferId: string
  readonly eventId: string
  readonly timeZone: string
}
interface State {
  readonly accounts: Map<string, OwnedAccount>
  readonly balances: Map<string, bigint>
  readonly entered: EnteredFundings
}
interface Withdrawn {
  readonly transfer: Transfer
  readonly withdrawal: Prepared
  readonly companyId: string
  /** Under which reference it is in the books; absent when it was entered before. */
  readonly entry: string | undefined
  readonly balancePaise: Paise
}
/**
 * Enters that what was left on a card account was paid back to its partner, at most its balance (decision R16). A repeat
 * of its reference enters nothing (decision R2).
 */
export declare const withdrawFunds: import('@svc/platform/command').Command<
  WithdrawFunds,
  Prepared,
  State,
  Withdrawn
>
export {}
