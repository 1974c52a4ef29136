import { fail } from '@svc/contract/errors'
import { findOpenBalance } from '@svc/core/ledger/find-open-balance'
import {
  SettledBalanceRecord,
  settleBalance,
  settledBalanceToWire,
  settlementAudit,
} from '@svc/core/ledger/settle-balance'
import { SETTLED_AGAINST, SETTLEMENT_OUTCOMES } from '@svc/core/ledger/settlement'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { auditOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'
import { movementFields } from './card-account-money.ts'
import { readTransfer } from './read-transfer.ts'

export const settleLedgerAccount = query({
  ...consoleOperation,
  id: 'console.settleLedgerAccount',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/ledger/accounts/:accountId/settle`,
  tag: 'Ledger',
  summary: 'Enter that what is open on an account ended outside',
  description:
    'Of exceptions and lines without a match, which the network or the bank settles, of advances and fees, which a merchant pays to our bank, and of deducted tax, which the tax office refunds: at most what is open, or it is written off. What we owe and is never claimed is income then. The reference is entered once: a repeat with the same account, amount and outcome changes nothing and returns the first one, another one is 409. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202; a repeat does not.',
  permission: 'finance',
  params: idParam('accountId'),
  body: closed({
    ...movementFields,
    outcome: Type.Enum([...SETTLEMENT_OUTCOMES], {
      description: '`SETTLED` by the network, the bank or the merchant, or `WRITTEN_OFF`',
    }),
    against: Type.Optional(
      Type.Enum([...SETTLED_AGAINST], {
        description: 'Of bank exceptions: the account whose bank gave or took it; `bank` if absent',
      }),
    ),
  }),
  result: SettledBalanceRecord,
  accepted: ApprovalRecord,
  errors: [...settleBalance.approval.failures, 'approval_open'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(settleBalance)
    return async (input) => {
      const { accountId } = input.params
      const { against, amount, outcome, reference, reason } = input.body
      const amountPaise = readTransfer('amount', amount)
      const open =
        (await database.operate((tx) => findOpenBalance(tx, accountId))) ?? fail('ledger_account_not_found')
      const { kind, side, tenantId } = open
      const settlement = { tenantId, kind, outcome, side, against, amountPaise, reference, reason }
      const audit = auditOf(tenantId, input, settlementAudit(accountId, settlement))
      return wireOrWait(await run(settlement, audit), config.BUSINESS_TIME_ZONE, settledBalanceToWire)
    }
  },
})
