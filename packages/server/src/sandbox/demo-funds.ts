import { newId } from '@svc/contract/id-kinds'
import { fundAccount } from '@svc/core/cards/fund-account'
import { decideApproval, needsApproval, type Posting, requestApproval } from '@svc/core/ledger/approvals'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { paise } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '../http/operation.ts'
import type { DemoPartner } from './demo-partners.ts'

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
export async function fundDemo(
  { clock, commands, config, database, random }: Services,
  { partnerId, cardAccountId }: DemoPartner,
): Promise<void> {
  const posting: Posting = {
    tenantId: partnerId,
    kind: 'card_funding',
    amountPaise: FUNDS_PAISE,
    reference: referenceOf(partnerId),
    request: { cardAccountId },
    reason: REASON,
  }
  const plan = await database.operate(async (tx) => {
    const [known] = await tx.query(IS_FUNDED, [partnerId])
    if (known?.funded) return undefined
    if (!(await needsApproval(tx, FUNDS_PAISE))) return { approvalId: undefined }
    const { approvalId } = await requestApproval(tx, posting, {
      approvalId: newId('apv', clock.now(), random),
      requestedBy: REQUESTED_BY,
      hours: config.APPROVAL_HOURS,
    })
    await decideApproval(tx, approvalId, 'APPROVED', APPROVED_BY)
    return { approvalId }
  })
  if (!plan) return
  await commands.open(fundAccount).run(
    {
      partnerId,
      cardAccountId,
      amountPaise: FUNDS_PAISE,
      reference: referenceOf(partnerId),
      reason: REASON,
      approvalId: plan.approvalId,
    },
    { actor: REQUESTED_BY, action: 'card_account.funded', target: cardAccountId, tenantId: partnerId },
  )
}
