import { fail } from '@svc/contract/errors'
import { carriedOut } from '@svc/core/ledger/money-command'
import { findPartner } from '@svc/core/tenants/partner'
import type { Database } from '@svc/platform/db/database'
import { ApprovalRecord, replyOrWait } from '@svc/server/approvals/approval-record'
import { LOAD_FIELDS, loadCardContract, unloadCardContract } from '@svc/server/cards/card-loads'
import { closed, reasonText } from '../console-schema.ts'
import { onBehalf } from '../on-behalf.ts'
import { CARDS, requireCardPartner } from './card-operations.ts'

/** Whose card it is. Throws `card_not_found`, and `tenant_disabled` of a disabled partner. */
async function loadingPartner(database: Database, svcCardId: string): Promise<string> {
  const partnerId = await requireCardPartner(database, svcCardId)
  if ((await database.operate((tx) => findPartner(tx, partnerId)))?.disabledAt) fail('tenant_disabled')
  return partnerId
}

const WAITS =
  'Above the limit of APPROVAL_ABOVE_RUPEES, with what you posted for the partner within 24 hours, it waits for a second person: 202. The partner itself moves any amount.'

type Contract = typeof loadCardContract

// Required of operators; the type is that of the tenant’s own.
const WITH_REASON = closed({
  ...LOAD_FIELDS,
  reason: reasonText('Kept in the books; name no person'),
}) as unknown as NonNullable<Contract['body']>

const byOperator = (contract: Contract, face: { id: string; path: string; action: string }) =>
  onBehalf(
    {
      ...contract,
      description: `${contract.description} ${WAITS}`,
      body: WITH_REASON,
      accepted: ApprovalRecord,
      reply: (outcome, context) =>
        replyOrWait(outcome, context.timeZone, (loading) => contract.reply(loading, context)),
    },
    {
      ...face,
      stepUp: true,
      permission: 'finance',
      errors: ['tenant_disabled', 'approval_open'],
      tenantOf: ({ params: { svcCardId } }, { database }) => loadingPartner(database, svcCardId),
      target: (outcome) => carriedOut(outcome).load.svcCardId,
    },
  )

const CARD = `${CARDS}/:svcCardId`

export const loadCardInConsole = byOperator(loadCardContract, {
  id: 'console.loadCard',
  path: `${CARD}/loads`,
  action: 'card.loaded',
})

export const unloadCardInConsole = byOperator(unloadCardContract, {
  id: 'console.unloadCard',
  path: `${CARD}/unloads`,
  action: 'card.unloaded',
})
