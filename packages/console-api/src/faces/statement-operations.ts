import { fail } from '@svc/contract/errors'
import { findPayout } from '@svc/core/payments/payouts/find-payouts'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { PeriodQuery, readCardAccountStatement, readPeriod } from '@svc/server/cards/card-account-statement'
import { streamingQuery } from '@svc/server/http/operation'
import { StreamSlots } from '@svc/server/http/stream-slots'
import { PDF, PDFS_MAX } from '@svc/server/statements/limits'
import { readPayoutStatement } from '@svc/server/statements/payout-statement'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, consoleOperation, idParam } from '../console-schema.ts'

const PdfFile = Type.String({ format: 'binary', description: 'A4, fonts embedded' })
const headers = { 'content-type': PDF }

const PARTNER = statement<{ partnerId: string }>(
  'console_partner_of_card_account',
  'select partner_id as "partnerId" from card_accounts where card_account_id = $1',
)

/** As exports of lists are (decision O5). */
const recordExport = (tx: Tx, target: string): void =>
  recordAudit(tx, [{ action: 'statement.exported', target }])

export const showPayoutStatement = streamingQuery({
  ...consoleOperation,
  id: 'console.showPayoutStatement',
  method: 'GET',
  path: `${CONSOLE_API}/payouts/:payoutId/statement.pdf`,
  tag: 'Payouts',
  summary: 'Get statement of payout as PDF',
  permission: 'view',
  params: idParam('payoutId'),
  result: PdfFile,
  produces: PDF,
  errors: ['payout_not_found', 'too_many_streams'],
  mount(services) {
    const { clock, config } = services
    const timeZone = config.BUSINESS_TIME_ZONE
    const slots = new StreamSlots(PDFS_MAX)
    return async (input) => {
      const { payoutId } = input.params
      const found = await asOperator(services, input, async (tx) => {
        const { merchantId } = (await findPayout(tx, payoutId)) ?? fail('payout_not_found')
        const read = await readPayoutStatement(tx, merchantId, payoutId)
        recordExport(tx, payoutId)
        return read
      })
      const now = new Date(clock.of(found.payout.merchantId).now())
      const { payoutPdf } = await import('@svc/server/statements/payout-pdf')
      const { actorId } = input.caller.actor!
      return {
        headers,
        body: slots.stream(actorId, input.caller, () => payoutPdf({ ...found, timeZone, now })),
      }
    }
  },
})

export const showCardAccountStatement = streamingQuery({
  ...consoleOperation,
  id: 'console.showCardAccountStatement',
  method: 'GET',
  path: `${CONSOLE_API}/card-accounts/:cardAccountId/statement.pdf`,
  tag: 'Card accounts',
  summary: 'Get statement of card account as PDF',
  permission: 'view',
  params: idParam('cardAccountId'),
  query: PeriodQuery,
  result: PdfFile,
  produces: PDF,
  errors: ['card_account_not_found', 'too_many_streams'],
  mount(services) {
    const { clock, config } = services
    const timeZone = config.BUSINESS_TIME_ZONE
    const slots = new StreamSlots(PDFS_MAX)
    return async (input) => {
      const { cardAccountId } = input.params
      const { found, now, period } = await asOperator(services, input, async (tx) => {
        const [owner] = await tx.query(PARTNER, [cardAccountId])
        const { partnerId: tenantId } = owner ?? fail('card_account_not_found')
        const now = new Date(clock.of(tenantId).now())
        const period = readPeriod(input.query, now, timeZone)
        const found = await readCardAccountStatement(tx, { tenantId, cardAccountId, period, timeZone, clock })
        recordExport(tx, cardAccountId)
        return { found, now, period }
      })
      const { cardAccountPdf } = await import('@svc/server/statements/card-account-pdf')
      const { actorId } = input.caller.actor!
      return {
        headers,
        body: slots.stream(actorId, input.caller, () => cardAccountPdf({ ...found, period, timeZone, now })),
      }
    }
  },
})
