import { newId } from '@svc/contract/id-kinds'
import { type Paise, paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import { accountId, lockAccounts } from '../ledger/accounts.ts'
import { journalOf, saveJournals } from '../ledger/journals.ts'
import { fundingAccounts, fundingTransfer } from './card-account.ts'

export interface FundAccount {
  readonly partnerId: string
  readonly cardAccountId: string
  readonly amountPaise: Paise
}

/** Enters money that the partner paid in for a card account. */
export const fundAccount = command({
  name: 'fundAccount',

  prepare:
    ({ clock, config, random }) =>
    (ask: FundAccount) => ({
      ...ask,
      tenantId: ask.partnerId,
      transferId: newId('trf', clock.now(), random),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock: (tx, funds) => lockAccounts(tx, funds.flatMap(fundingAccounts)),

  decide: (balances, fund, now) => ({
    transfer: fundingTransfer(fund, { ...fund, createdAt: now }),
    timeZone: fund.timeZone,
    balancePaise: paise(balances.get(accountId('card_funding', fund.cardAccountId))! + fund.amountPaise),
  }),

  apply: (balances, { transfer, balancePaise }) => void balances.set(transfer.creditAccountId, balancePaise),

  save: (tx, decisions) =>
    saveJournals(
      tx,
      decisions[0]!.timeZone,
      decisions.map(({ transfer }) => journalOf(transfer)),
    ),
})
