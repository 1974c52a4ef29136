import { fundAccount } from '@svc/core/cards/account/fund-account'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { paise } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import { approvePosting } from '../approvals/approve-posting.ts'
import type { Services } from '../http/operation.ts'
import type { DemoPartner } from './sandbox-file.ts'

const FUNDS_PAISE = paise(10_000_000_00n)
/** As a bank's reference names one transfer, that of each partner is another. */
const referenceOf = (partnerId: string): string => canonicalReference(`SANDBOX-${partnerId}`)
const REASON = 'Funds of the sandbox'
/** Two persons, as the limit of approvals asks for. */
const REQUESTED_BY = 'operator sandbox.asha'
const APPROVED_BY = 'operator sandbox.ravi'

const IS_FUNDED = statement<{ funded: boolean }>(
  'sandbox_account_funded',
  `select exists (select from journals where tenant_id = $1 and kind = 'card_funding' and reference like 'SANDBOX%') as funded`,
)

/** Funds the card account of a demo partner, once, in the way of operators: above the limit with an approval. */
export async function fundDemo(services: Services, { partnerId, cardAccountId }: DemoPartner): Promise<void> {
  const { commands, database } = services
  const [known] = await database.operate((tx) => tx.query(IS_FUNDED, [partnerId]))
  if (known?.funded) return
  const reference = referenceOf(partnerId)
  const outcome = await commands
    .open(fundAccount)
    .run(
      { partnerId, cardAccountId, amountPaise: FUNDS_PAISE, reference, reason: REASON },
      { actor: REQUESTED_BY, action: 'card_account.funded', target: cardAccountId, tenantId: partnerId },
    )
  if (outcome instanceof WaitingApproval)
    await approvePosting(services, outcome.approval.approvalId, { actor: APPROVED_BY })
}
