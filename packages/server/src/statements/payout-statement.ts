import { fail } from '@svc/contract/errors'
import {
  looksLikePayoutId,
  type Payout,
  type PayoutLine,
  payoutLines,
  payouts,
} from '@svc/core/payments/payouts/payout'
import { findMerchant } from '@svc/core/tenants/merchant'
import { required } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { streamingQuery } from '../http/operation.ts'
import { StreamSlots } from '../http/stream-slots.ts'
import { ofPayouts } from '../payments/payouts.ts'
import { PDF, PDF_LINES_MAX, PDFS_MAX } from './limits.ts'

const FIND = statement<Payout>(
  'payout_statement',
  `select ${payouts.columns} from payouts y where y.merchant_id = $1 and y.payout_id = $2`,
)
const LINES = statement<PayoutLine>(
  'payout_statement_lines',
  `select ${payoutLines.columns} from payout_lines l where l.merchant_id = $1 and l.payout_id = $2
   order by l.occurred_at, l.object_id limit ${PDF_LINES_MAX}`,
)

/** What a payout's statement says. Throws `payout_not_found`. */
export async function readPayoutStatement(tx: Tx, merchantId: string, payoutId: string) {
  const [payout] = looksLikePayoutId(payoutId) ? await tx.query(FIND, [merchantId, payoutId]) : []
  if (!payout) return fail('payout_not_found')
  const merchant = required(await findMerchant(tx, merchantId), 'a payout has a merchant')
  return { payout, merchant, lines: await tx.query(LINES, [merchantId, payoutId]) }
}

/** Not in the specification (decision Q15). */
export const getPayoutStatement = streamingQuery({
  ...ofPayouts('payouts:read'),
  id: 'getPayoutStatement',
  method: 'GET',
  path: '/api/v0/payouts/:payoutId/statement.pdf',
  summary: 'Get statement of payout as PDF',
  description: `How the payout adds up, and its payments, refunds and disputes with fee and tax: at most ${PDF_LINES_MAX} of them.`,
  params: Type.Object({ payoutId: Type.String({ description: 'The id of the payout' }) }),
  result: Type.String({ format: 'binary', description: 'A4, fonts embedded' }),
  produces: PDF,
  errors: ['payout_not_found', 'too_many_streams'],
  mount({ clock, database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    const slots = new StreamSlots(PDFS_MAX)
    return async ({ caller, params: { payoutId } }) => {
      const { tenantId } = caller
      const found = await database.read([tenantId], (tx) => readPayoutStatement(tx, tenantId, payoutId))
      const now = new Date(clock.of(tenantId).now())
      const { payoutPdf } = await import('./payout-pdf.ts')
      return {
        headers: { 'content-type': PDF },
        body: slots.stream(tenantId, caller, () => payoutPdf({ ...found, timeZone, now })),
      }
    }
  },
})
