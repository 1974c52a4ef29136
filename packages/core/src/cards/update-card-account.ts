import { fail } from '@svc/contract/errors'
import type { Paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import { type CardAccount, cardAccounts } from './card-account.ts'
import { requireWithinLimit } from './create-gift-card.ts'

export interface UpdateCardAccount {
  readonly partnerId: string
  readonly cardAccountId: string
  /** Absent: as it is. */
  readonly denominationPaise?: Paise | undefined
  /** Absent: as it is; `null`: none. */
  readonly lowBalancePaise?: Paise | null | undefined
}

type Row = Omit<CardAccount, 'companyName'>

const LOCK = cardAccounts.lock('settings')
const saveSettings = cardAccounts.updates(['denominationPaise', 'lowBalancePaise'], 'settings')

/** Changes what a partner may set on its card account. */
export const updateCardAccount = command({
  name: 'updateCardAccount',
  prepare:
    ({ config }) =>
    (args: UpdateCardAccount) => ({
      ...args,
      tenantId: args.partnerId,
      loadMaxPaise: (BigInt(config.CARD_LOAD_MAX_RUPEES) * 100n) as Paise,
    }),
  lock: (tx, commands) => cardAccounts.lockRows<Row>(tx, LOCK, commands),
  decide(accounts, { cardAccountId, denominationPaise, lowBalancePaise, loadMaxPaise }): Row {
    const account = accounts.get(cardAccountId) ?? fail('card_account_not_found')
    requireWithinLimit(denominationPaise, loadMaxPaise)
    return {
      ...account,
      denominationPaise: denominationPaise ?? account.denominationPaise,
      lowBalancePaise: lowBalancePaise === undefined ? account.lowBalancePaise : lowBalancePaise,
    }
  },
  apply: (accounts, account) => void accounts.set(account.cardAccountId, account),
  save: (tx, accounts) =>
    saveSettings(tx, [...new Map(accounts.map((account) => [account.cardAccountId, account])).values()]),
})
