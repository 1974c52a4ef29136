import { askApproval, fundingPosting } from '@svc/console-api/postings'
import { FUNDING_MAX_PAISE, findCardAccount, fundingAudit } from '@svc/core/cards/card-account'
import { fundAccount } from '@svc/core/cards/fund-account'
import { type FundedAccount, findFundedAccount } from '@svc/core/cards/list-onboarded'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { required } from '@svc/kernel/invariant'
import { formatRupees, type Paise, parseRupees } from '@svc/kernel/money'
import { printWaiting } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor, postingTools } from './money-actor.ts'
import { printRecord } from './print.ts'
import { UsageError } from './usage-error.ts'

/** A card account for people. */
export const shownAccount = (account: FundedAccount) => ({
  cardAccountId: account.cardAccountId,
  partnerId: account.partnerId,
  companyId: account.companyId,
  product: account.product,
  accountType: account.accountType,
  binType: account.binType,
  programme: account.programme,
  cards: account.cards,
  denomination: formatRupees(account.denominationPaise),
  balance: formatRupees(account.balancePaise),
})

interface FundOptions {
  readonly json?: boolean
  readonly amount: string
  readonly reference: string
  readonly reason: string
}

/** Enters money that a partner paid in, or asks for a second person. */
export async function fund(
  cardAccountId: string,
  { amount: text, reference, reason, json = false }: FundOptions,
): Promise<void> {
  const amount: Paise | undefined = parseRupees(text)
  if (!amount || amount > FUNDING_MAX_PAISE)
    throw new UsageError(
      `--amount must be rupees with at most two decimals, 0.01 to ${formatRupees(FUNDING_MAX_PAISE)}`,
    )
  if (!/^[A-Z0-9]{6,64}$/.test(canonicalReference(reference)))
    throw new UsageError('--reference must be the bank’s reference: 6 to 64 letters and digits')
  const { funded, waiting } = await withInstallation(async (context) => {
    const { commands, database } = context
    const actor = await moneyActor(context)
    const account = await database.operate((tx) => findCardAccount(tx, cardAccountId))
    if (!account)
      throw new UsageError(`There is no card account ${cardAccountId}. List: svc admin card-account list`)
    const ask = { partnerId: account.partnerId, cardAccountId, amountPaise: amount, reference, reason }
    const waits = await askApproval(postingTools(context), fundingPosting(ask), { actor })
    if (waits) return { waiting: waits, funded: undefined }
    await commands
      .open(fundAccount)
      .run(ask, { actor, ...fundingAudit(account, amount, { reference, reason }) })
    const after = await database.operate((tx) => findFundedAccount(tx, cardAccountId))
    return { waiting: undefined, funded: required(after, 'a card account is never deleted') }
  })
  if (waiting) printWaiting(waiting, json)
  else printRecord({ ...shownAccount(funded), funded: formatRupees(amount) }, json)
}
