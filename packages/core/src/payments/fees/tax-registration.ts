import { failField } from '@svc/contract/fail-fields'
import { isGstin } from '@svc/contract/gstin'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { instant, nullable, type RowOf, stamped, table, text } from '@svc/platform/db/table'
import { GST_STATES } from './gst.ts'

/** Who a merchant is to the tax office. */
export const taxRegistrations = table('tax_registrations', 'r', ['merchantId'], {
  merchantId: text,
  legalName: text,
  address: text,
  gstin: nullable(text),
  state: text,
  updatedAt: stamped(instant),
})
export type TaxRegistration = RowOf<typeof taxRegistrations>

const FIND = statement<TaxRegistration>(
  'tax_registration_find',
  `select ${taxRegistrations.columns} from tax_registrations r where r.merchant_id = $1`,
)
const SET = statement(
  'tax_registration_set',
  `insert into tax_registrations (merchant_id, legal_name, address, gstin, state, updated_at)
   values ($1, $2, $3, $4, $5, clock_timestamp())
   on conflict (merchant_id) do update set legal_name = excluded.legal_name, address = excluded.address,
     gstin = excluded.gstin, state = excluded.state, updated_at = excluded.updated_at`,
)

export async function findTaxRegistration(tx: Tx, merchantId: string): Promise<TaxRegistration | undefined> {
  const [found] = await tx.query(FIND, [merchantId])
  return found
}

interface GivenRegistration {
  readonly legalName: string
  readonly address: string
  readonly gstin?: string | undefined
  readonly state?: string | undefined
}

/** Fails where the tax office knows no such one. */
function requireRegistrable({ gstin, state }: GivenRegistration): void {
  if (gstin !== undefined && !isGstin(gstin))
    failField('gstin', 'format', 'must be a GSTIN with its check digit')
  if ((gstin === undefined) === (state === undefined))
    failField('gstin', 'required', 'is required, or of a merchant without one its state')
  if (state !== undefined && !Object.hasOwn(GST_STATES, state))
    failField('state', 'format', 'must be a GST state code of two digits')
}

/** Decides from now on how the merchant's fees are taxed, and names it on its invoices. */
export async function setTaxRegistration(
  tx: Tx,
  merchantId: string,
  given: GivenRegistration,
): Promise<void> {
  requireRegistrable(given)
  const { legalName, address, gstin, state } = given
  await tx.query(SET, [merchantId, legalName, address, gstin ?? null, gstin?.slice(0, 2) ?? state])
}
