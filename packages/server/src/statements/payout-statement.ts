import { fail } from '@svc/contract/errors'
import { type PayoutLine, payoutLines } from '@svc/core/payments/payouts/payout'
import { findMerchant } from '@svc/core/tenants/merchant'
import { required } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import type { Services } from '../http/operation.ts'
import { findRow } from '../http/resource.ts'
import { type ListedPayout, ofPayouts, payout } from '../payments/payouts.ts'
import { pdfOperation } from './pdf-operation.ts'

/** Lines that the statement of a payout lists; it adds up all. */
const PDF_LINES_MAX = 5_000

const LINES = statement<PayoutLine>(
  'payout_statement_lines',
  `select ${payoutLines.columns} from payout_lines l where l.merchant_id = $1 and l.payout_id = $2
   order by l.occurred_at, l.object_id limit ${PDF_LINES_MAX}`,
)

/** What a payout's statement says. Throws `payout_not_found`. */
export async function readPayoutStatement(tx: Tx, merchantId: string, payoutId: string) {
  const scope = { reader: 'tenant', tenantId: merchantId } as const
  const found = (await findRow<ListedPayout>(tx, payout, scope, payoutId)) ?? fail('payout_not_found')
  const merchant = required(await findMerchant(tx, merchantId), 'a payout has a merchant')
  return { payout: found, merchant, lines: await tx.query(LINES, [merchantId, payoutId]) }
}

/** When and where it is made. */
export const madeNow = <F extends { readonly payout: { readonly merchantId: string } }>(
  found: F,
  { clock, config }: Services,
) => ({
  ...found,
  timeZone: config.BUSINESS_TIME_ZONE,
  now: new Date(clock.of(found.payout.merchantId).now()),
})
export const payoutWriter = async () => (await import('./payout-pdf.ts')).payoutPdf

/** Not in the specification (decision Q15). */
export const getPayoutStatement = pdfOperation(
  {
    ...ofPayouts('payouts:read'),
    id: 'getPayoutStatement',
    path: '/api/v0/payouts/:payoutId/statement.pdf',
    summary: 'Get statement of payout as PDF',
    description: `How the payout adds up, and its payments, refunds and disputes with fee and tax: at most ${PDF_LINES_MAX} of them.`,
    params: Type.Object({ payoutId: Type.String({ description: 'The id of the payout' }) }),
    errors: ['payout_not_found'],
  },
  async (services, { caller: { tenantId }, params: { payoutId } }) => {
    const read = (tx: Tx) => readPayoutStatement(tx, tenantId, payoutId)
    return madeNow(await services.database.read([tenantId], read), services)
  },
  payoutWriter,
)
