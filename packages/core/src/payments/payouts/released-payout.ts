import { groupBy } from '@svc/kernel/group-by'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import type { ChargeSettings } from '../fees/charging.ts'
import { type Accrual, accrualOf, accrualsEntered, type Unaccrued } from '../fees/fee-accrual.ts'
import type { Payout, PayoutLine } from './payout.ts'
import { taxRateOf } from './payout-fees.ts'
import type { PostedLeg } from './payout-journals.ts'
import { businessDayOf } from './payout-statement.ts'

type Key = Pick<Payout, 'merchantId' | 'payoutId'>

const keys = (payouts: readonly Key[]) =>
  columns(
    payouts,
    ({ merchantId }) => merchantId,
    ({ payoutId }) => payoutId,
  )

const POSTED = statement<PostedLeg & { readonly journalId: string }>(
  'payout_legs_posted',
  `select t.journal_id as "journalId", t.debit_account_id as "debitAccountId",
     t.credit_account_id as "creditAccountId", t.amount as "amountPaise"
   from unnest($1::text[], $2::text[]) as w (merchant_id, payout_id)
     cross join unnest(array['', 'a']) as s (suffix)
     join ledger_transfers t on t.tenant_id = w.merchant_id
       and t.journal_id = 'jrn_' || substr(w.payout_id, 5) || s.suffix
   order by t.journal_id, t.leg`,
)

/** By journal, what was entered when payouts were prepared or restored. */
export async function postedLegs(
  tx: BatchTx,
  payouts: readonly Key[],
): Promise<ReadonlyMap<string, readonly PostedLeg[]>> {
  if (payouts.length === 0) return new Map()
  return groupBy(await tx.query(POSTED, keys(payouts)), ({ journalId }) => journalId)
}

type ChargedLine = Pick<
  PayoutLine,
  'merchantId' | 'payoutId' | 'objectId' | 'occurredAt' | 'feePaise' | 'cgstPaise' | 'sgstPaise' | 'igstPaise'
>

const UNACCRUED = statement<ChargedLine>(
  'payout_lines_unaccrued',
  `select l.merchant_id as "merchantId", l.payout_id as "payoutId", l.object_id as "objectId",
     l.occurred_at as "occurredAt", l.fee_paise as "feePaise", l.cgst_paise as "cgstPaise",
     l.sgst_paise as "sgstPaise", l.igst_paise as "igstPaise"
   from unnest($1::text[], $2::text[]) as w (merchant_id, payout_id)
     join payout_lines l on l.merchant_id = w.merchant_id and l.payout_id = w.payout_id
       and l.kind = 'payment' and l.released
   where not exists (select from fee_accruals f
     where f.merchant_id = l.merchant_id and f.payment_id = l.object_id)
   order by l.occurred_at, l.object_id`,
)

/** Enters the fees of a released payout whose fees were never accrued, from when it was prepared; they were taken back. */
export type RestoreFees = (payout: Key, seed: string, at: Date) => Accrual

/** To be read once the accounts of the merchants are locked. */
export async function feesToRestore(
  tx: BatchTx,
  payouts: readonly Key[],
  { dayEndsAt, taxRates, timeZone }: ChargeSettings,
): Promise<RestoreFees> {
  const lines = payouts.length === 0 ? [] : await tx.query(UNACCRUED, keys(payouts))
  const charged = lines.map((line) => {
    const { merchantId, payoutId, objectId, occurredAt, feePaise, cgstPaise, sgstPaise, igstPaise } = line
    const businessDay = businessDayOf(occurredAt, dayEndsAt, timeZone)
    const taxBasisPoints = taxRateOf(businessDay, taxRates)
    const payment: Unaccrued = {
      paymentId: objectId,
      businessDay,
      taxBasisPoints,
      feePaise,
      cgstPaise,
      sgstPaise,
      igstPaise,
    }
    return { merchantId, payoutId, businessDay, payment }
  })
  const entered = await accrualsEntered(tx, charged)
  const ofPayout = groupBy(charged, ({ payoutId }) => payoutId)
  return ({ merchantId, payoutId }, seed, at) =>
    accrualOf(
      (ofPayout.get(payoutId) ?? []).map(({ payment }) => payment),
      { merchantId, seed, at, entered: entered.get(merchantId) ?? new Map() },
    )
}
