import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import type { Paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import { type AccountType, type CardAccount, cardAccounts } from './card-account.ts'
import { isReloadable, loadTermsOf, requireFirstLoad } from './load-limits.ts'
import { changedSettings, type RecordSettingsChange } from './record-settings.ts'

export interface UpdateCardAccount {
  readonly partnerId: string
  readonly cardAccountId: string
  /** Absent: as it is. */
  readonly denominationPaise?: Paise | undefined
  /** Absent: as it is; `null`: none. */
  readonly lowBalancePaise?: Paise | null | undefined
  /** Absent: as it is. */
  readonly unallocateFundAllowed?: boolean | undefined
  readonly recordSettings?: RecordSettingsChange
}

type Row = Omit<CardAccount, 'companyName'>

const LOCK = cardAccounts.lock('settings')
const saveSettings = cardAccounts.updates(
  ['denominationPaise', 'lowBalancePaise', 'unallocateFundAllowed', 'recordSettings'],
  'settings',
)

/** Decision C7: money of gift cards goes back to no card account but at their end. */
export function requireMayUnallocate(type: AccountType, allowed: boolean): void {
  if (allowed && !isReloadable(type))
    failField(
      'unallocateFundAllowed',
      'not_allowed',
      'must be false: money of gift cards is never taken back',
    )
}

/** Changes what a partner may set on its card account. */
export const updateCardAccount = command({
  name: 'updateCardAccount',
  prepare:
    ({ config }) =>
    (args: UpdateCardAccount) => ({
      ...args,
      tenantId: args.partnerId,
      loadTerms: loadTermsOf(config),
    }),
  lock: (tx, commands) => cardAccounts.lockRows<Row>(tx, LOCK, commands),
  decide(accounts, { cardAccountId, denominationPaise, lowBalancePaise, loadTerms, ...change }): Row {
    const account = accounts.get(cardAccountId) ?? fail('card_account_not_found')
    requireFirstLoad(loadTerms, account.accountType, denominationPaise)
    const { unallocateFundAllowed = account.unallocateFundAllowed } = change
    requireMayUnallocate(account.accountType, unallocateFundAllowed)
    return {
      ...account,
      denominationPaise: denominationPaise ?? account.denominationPaise,
      lowBalancePaise: lowBalancePaise === undefined ? account.lowBalancePaise : lowBalancePaise,
      unallocateFundAllowed,
      recordSettings: changedSettings(account.recordSettings, change.recordSettings ?? {}),
    }
  },
  apply: (accounts, account) => void accounts.set(account.cardAccountId, account),
  save: (tx, accounts) =>
    saveSettings(tx, [...new Map(accounts.map((account) => [account.cardAccountId, account])).values()]),
})
