import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

/** The first steps of a merchant, in the order in which they are taken. */
export const MERCHANT_STEPS = [
  'bank_account',
  'link',
  'credential',
  'qr_code',
  'webhook',
  'payment',
  'payout',
] as const
type MerchantSteps = Readonly<Record<(typeof MERCHANT_STEPS)[number], boolean>>

interface Found extends MerchantSteps {
  /** Whether a link was made that hands over a key. */
  readonly hasLink: boolean
}

const FIND = statement<Found>(
  'merchant_steps',
  `select exists (select from members where tenant_id = $1 and password_hash is not null) as link,
     exists (select from api_keys where tenant_id = $1) as credential,
     exists (select from qr_codes where merchant_id = $1) as qr_code,
     exists (select from webhook_endpoints where tenant_id = $1) as webhook,
     exists (select from payout_details where merchant_id = $1) as bank_account,
     exists (select from payments where merchant_id = $1) as payment,
     exists (select from payouts where merchant_id = $1 and status = 'PAID') as payout,
     exists (select from handovers where tenant_id = $1) as "hasLink"`,
)

/** Whether each is done. */
export async function merchantSteps(tx: Tx, merchantId: string) {
  const [found] = await tx.query(FIND, [merchantId])
  const { hasLink, ...steps } = found!
  return { hasLink, steps }
}
