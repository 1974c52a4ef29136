import { createHash } from 'node:crypto'
import { lastOfEach } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import { base32 } from '@svc/kernel/ids'
import { type Paise, paise } from '@svc/kernel/money'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { day, integer, nullable, paise as paiseColumn, type RowOf, table, text } from '@svc/platform/db/table'
import { accountId } from '../../ledger/accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import type { Charge } from '../payouts/payout-fees.ts'

/** The fee of each payment whose business day is over, or that is in a payout: entered once (decision R22). */
export const feeAccruals = table('fee_accruals', 'f', ['merchantId', 'paymentId'], {
  merchantId: text,
  paymentId: text,
  businessDay: day,
  /** What entered it; `null`: nothing is charged. */
  journalId: nullable(text),
  feePaise: paiseColumn,
  cgstPaise: paiseColumn,
  sgstPaise: paiseColumn,
  igstPaise: paiseColumn,
  /** GST in 1/100 percent. */
  taxBasisPoints: integer,
})
export type FeeAccrual = RowOf<typeof feeAccruals>

/** A payment whose fee is not entered yet. */
export interface Unaccrued extends Charge {
  readonly paymentId: string
  readonly businessDay: string
  readonly taxBasisPoints: number
}

/** What the journals of fees credit, and which part of a charge. */
export const ACCRUED = [
  ['fee_income', 'feePaise'],
  ['output_cgst', 'cgstPaise'],
  ['output_sgst', 'sgstPaise'],
  ['output_igst', 'igstPaise'],
] as const

export const ACCRUAL_ACCOUNTS = ['accrued_fees', ...ACCRUED.map(([kind]) => kind)] as const

export interface Accrual {
  readonly rows: readonly FeeAccrual[]
  readonly journals: readonly Journal[]
}

export const NO_ACCRUAL: Accrual = { rows: [], journals: [] }

interface Accruing {
  readonly merchantId: string
  /** What ids are derived from: an id of this instant, drawn for them alone. */
  readonly seed: string
  readonly at: Date
  /** By business day, how many journals of fees the merchant has of it. */
  readonly entered: ReadonlyMap<string, number>
}

const sum = (charges: readonly Charge[], part: keyof Charge): Paise =>
  paise(charges.reduce((total, charge) => total + charge[part], 0n))

/** The same seed gives the same ids; of the same time as the seed, as the index of transfers needs it. */
const derivedId = (seed: string, n: number): string => {
  const id = seed.slice(seed.indexOf('_') + 1)
  const chance = createHash('sha256').update(`${id} ${n}`).digest().subarray(0, 10)
  return id.slice(0, 10) + base32(chance)
}

/** One journal for each business day, effective on it: a payment that is found late has another one (decision R22). */
export function accrualOf(payments: readonly Unaccrued[], accruing: Accruing): Accrual {
  const { merchantId, seed } = accruing
  const rows: FeeAccrual[] = []
  const journals: Journal[] = []
  for (const [businessDay, charged] of groupBy(payments, (payment) => payment.businessDay)) {
    const journal = journalOfDay(businessDay, charged, {
      ...accruing,
      seed: derivedId(seed, journals.length),
    })
    if (journal) journals.push(journal)
    rows.push(
      ...charged.map((payment) => ({
        ...payment,
        merchantId,
        journalId: ACCRUED.some(([, part]) => payment[part] !== 0n) ? (journal?.journalId ?? null) : null,
      })),
    )
  }
  return { rows, journals }
}

function journalOfDay(
  businessDay: string,
  charged: readonly Unaccrued[],
  { merchantId, seed, at, entered }: Accruing,
): Journal | undefined {
  const transfers = ACCRUED.map(
    ([kind, part], i): Transfer => ({
      transferId: `trf_${derivedId(seed, i)}`,
      tenantId: merchantId,
      kind: 'fee_accrual',
      debitAccountId: accountId('accrued_fees', merchantId),
      creditAccountId: accountId(kind, merchantId),
      amountPaise: sum(charged, part),
      objectId: businessDay,
      createdAt: at,
    }),
  ).filter(({ amountPaise }) => amountPaise !== 0n)
  if (transfers.length === 0) return undefined
  const before = entered.get(businessDay) ?? 0
  return {
    tenantId: merchantId,
    journalId: `jrn_${seed}`,
    kind: 'fee_accrual',
    effectiveDate: businessDay,
    reference: before === 0 ? businessDay : `${businessDay}~${before + 1}`,
    reverses: null,
    reason: null,
    at,
    transfers,
  }
}

const ENTERED = statement<{ merchant_id: string; day: string; count: bigint }>(
  'fee_accruals_entered',
  `select w.merchant_id, w.day, count(*) from unnest($1::text[], $2::text[]) as w (merchant_id, day)
     join journals j on j.tenant_id = w.merchant_id and j.kind = 'fee_accrual'
       and j.reference >= w.day and j.reference < w.day || '~~'
   group by 1, 2`,
)

/** By merchant and business day, how many journals of fees there are. To be read once the accounts are locked. */
export async function accrualsEntered(
  tx: BatchTx,
  days: readonly { readonly merchantId: string; readonly businessDay: string }[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  if (days.length === 0) return new Map()
  const wanted = lastOfEach(
    days,
    ({ merchantId }) => merchantId,
    ({ businessDay }) => businessDay,
  )
  const rows = await tx.query(
    ENTERED,
    columns(
      wanted,
      ({ merchantId }) => merchantId,
      ({ businessDay }) => businessDay,
    ),
  )
  const byMerchant = groupBy(rows, ({ merchant_id }) => merchant_id)
  return new Map(
    [...byMerchant].map(([id, of]) => [id, new Map(of.map(({ day: on, count }) => [on, Number(count)]))]),
  )
}
