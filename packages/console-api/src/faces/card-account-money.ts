import { fail } from '@svc/contract/errors'
import { findCardAccount, fundingAudit } from '@svc/core/cards/account/card-account'
import { fundAccount } from '@svc/core/cards/account/fund-account'
import { withdrawFunds } from '@svc/core/cards/account/withdraw-funds'
import { followedNotice } from '@svc/core/rails/find-notice'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, auditOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  reasonText,
  record,
  referenceText,
  rupeesText,
  text,
} from '../console-schema.ts'
import { readTransfer } from './read-transfer.ts'

const ACCOUNT = `${CONSOLE_API}/card-accounts/:cardAccountId`

export const movementFields = {
  amount: Type.String({
    pattern: '^[0-9]{1,13}(\\.[0-9]{1,2})?$',
    'x-rule': 'must be rupees with at most two decimals',
    description: 'Rupees as text, such as `250000.00`',
  }),
  reference: referenceText('The bank’s reference of the payment, such as its UTR'),
  reason: reasonText(),
}

const moved = {
  cardAccountId: text(),
  transferId: text(),
  amount: rupeesText,
  balance: rupeesText,
  isRepeat: Type.Boolean({ description: 'It was entered before: nothing was posted' }),
}

interface Movement {
  readonly transfer: { readonly transferId: string; readonly amountPaise: bigint; readonly objectId: string }
  readonly balancePaise: Paise
  /** Absent when it was entered before. */
  readonly entry: string | undefined
}

const movedToWire = ({ transfer, balancePaise, entry }: Movement) => ({
  cardAccountId: transfer.objectId,
  transferId: transfer.transferId,
  amount: formatRupees(transfer.amountPaise as Paise),
  balance: formatRupees(balancePaise),
  isRepeat: entry === undefined,
})

interface Given {
  readonly reference: string
  readonly reason: string
}

interface MovementRequest {
  readonly params: { readonly cardAccountId: string }
  readonly body: Given & { readonly amount: string }
}

/** What is to be moved, of a card account that there is. */
async function readMovement({ database }: Pick<Services, 'database'>, { params, body }: MovementRequest) {
  const { cardAccountId } = params
  const { amount, reference, reason } = body
  const amountPaise = readTransfer('amount', amount)
  const account = await database.operate((tx) => findCardAccount(tx, cardAccountId))
  const { partnerId } = account ?? fail('card_account_not_found')
  return { partnerId, cardAccountId, amountPaise, reference, reason }
}

const givenIn = ({ reference, reason }: Given) => ({ reference, reason })

const REPEATS =
  'The bank’s reference is entered once: a repeat with the same account and amount changes nothing and returns the first'
const APPROVED =
  'Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202; a repeat does not.'

export const fundCardAccountInConsole = query({
  ...consoleOperation,
  id: 'console.fundCardAccount',
  stepUp: true,
  method: 'POST',
  path: `${ACCOUNT}/funds`,
  tag: 'Card accounts',
  summary: 'Enter money that the partner paid in',
  description: `${REPEATS} funding, with another one it is 409. ${APPROVED}`,
  permission: 'finance',
  params: idParam('cardAccountId'),
  body: closed({
    ...movementFields,
    noticeId: Type.Optional(
      Type.String({
        description: 'The notice of the bank rail in quarantine that reports it',
      }),
    ),
  }),
  result: record('Funding', moved),
  accepted: ApprovalRecord,
  errors: [...fundAccount.approval.failures, 'approval_open', 'notice_not_found'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(fundAccount)
    return async (input) => {
      const fund = await readMovement(services, input)
      const { noticeId } = input.body
      const actor = actorOf(input.caller)
      const assigns = await database.operate(async (tx) =>
        noticeId === undefined ? undefined : await followedNotice(tx, noticeId, actor, 'transfer_notice'),
      )
      const details = fundingAudit(fund, fund.amountPaise, givenIn(fund))
      const funded = await run({ ...fund, assigns }, auditOf(fund.partnerId, input, details))
      return wireOrWait(funded, config.BUSINESS_TIME_ZONE, movedToWire)
    }
  },
})

export const withdrawFromCardAccountInConsole = query({
  ...consoleOperation,
  id: 'console.withdrawFromCardAccount',
  stepUp: true,
  method: 'POST',
  path: `${ACCOUNT}/withdrawals`,
  tag: 'Card accounts',
  summary: 'Enter money that was paid back to the partner',
  description: `At most what is left on the card account. ${REPEATS} withdrawal, with another one it is 409. ${APPROVED}`,
  permission: 'finance',
  params: idParam('cardAccountId'),
  body: closed(movementFields),
  result: record('Withdrawal', moved),
  accepted: ApprovalRecord,
  errors: [...withdrawFunds.approval.failures, 'approval_open'],
  mount(services) {
    const { commands, config } = services
    const { run } = commands.open(withdrawFunds)
    return async (input) => {
      const withdrawal = await readMovement(services, input)
      const details = fundingAudit(
        withdrawal,
        withdrawal.amountPaise,
        givenIn(withdrawal),
        'card_account.withdrawn',
      )
      const withdrawn = await run(withdrawal, auditOf(withdrawal.partnerId, input, details))
      return wireOrWait(withdrawn, config.BUSINESS_TIME_ZONE, movedToWire)
    }
  },
})
