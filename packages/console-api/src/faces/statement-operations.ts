import { fail } from '@svc/contract/errors'
import { findPayout } from '@svc/core/payments/payouts/find-payouts'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { readCardAccountStatement } from '@svc/server/cards/card-account-statement'
import { madeNow, payoutWriter, readPayoutStatement } from '@svc/server/statements/payout-statement'
import { pdfOperation } from '@svc/server/statements/pdf-operation'
import { PeriodQuery, periodWriter, readPeriod } from '@svc/server/statements/period-statement'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, consoleOperation, idParam } from '../console-schema.ts'

const PARTNER = statement<{ partnerId: string }>(
  'console_partner_of_card_account',
  'select partner_id as "partnerId" from card_accounts where card_account_id = $1',
)

/** As exports of lists are (decision O5). */
const recordExport = (tx: Tx, target: string): void =>
  recordAudit(tx, [{ action: 'statement.exported', target }])

export const showPayoutStatement = pdfOperation(
  {
    ...consoleOperation,
    id: 'console.showPayoutStatement',
    path: `${CONSOLE_API}/payouts/:payoutId/statement.pdf`,
    tag: 'Payouts',
    summary: 'Get statement of payout as PDF',
    permission: 'view',
    params: idParam('payoutId'),
    errors: ['payout_not_found'],
  },
  async (services, input) => {
    const { payoutId } = input.params
    const found = await asOperator(services, input, async (tx) => {
      const { merchantId } = (await findPayout(tx, payoutId)) ?? fail('payout_not_found')
      const read = await readPayoutStatement(tx, merchantId, payoutId)
      recordExport(tx, payoutId)
      return read
    })
    return madeNow(found, services)
  },
  payoutWriter,
)

export const showCardAccountStatement = pdfOperation(
  {
    ...consoleOperation,
    id: 'console.showCardAccountStatement',
    path: `${CONSOLE_API}/card-accounts/:cardAccountId/statement.pdf`,
    tag: 'Card accounts',
    summary: 'Get statement of card account as PDF',
    permission: 'view',
    params: idParam('cardAccountId'),
    query: PeriodQuery,
    errors: ['card_account_not_found'],
  },
  (services, input) => {
    const { cardAccountId } = input.params
    return asOperator(services, input, async (tx) => {
      const [owner] = await tx.query(PARTNER, [cardAccountId])
      const { partnerId: tenantId } = owner ?? fail('card_account_not_found')
      const period = readPeriod(input.query, services, tenantId)
      const { clock } = services
      const found = await readCardAccountStatement(tx, { tenantId, cardAccountId, period, clock })
      recordExport(tx, cardAccountId)
      return found
    })
  },
  periodWriter,
)
