import { fail } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { payOutOpeningBalances } from '../../ledger/opening-balance.ts'
import { feesDue, type Payout } from '../payouts/payout.ts'

/** What became of that which a failed payout was made of. */
export interface Reserve {
  readonly merchantId: string
  readonly payoutId: string
  /** Later payouts that have it and were not sent. */
  readonly unsent: readonly string[]
  /** Whether a later payout that has it was sent. */
  readonly isSentAgain: boolean
  /** Journals of opening balances. */
  readonly openings: readonly string[]
  /** Whether one of these was reversed. */
  readonly isReversed: boolean
}

const RESERVES = statement<Reserve>(
  'payout_reserves',
  `select w.merchant_id as "merchantId", w.payout_id as "payoutId",
     array (select distinct o.payout_id from payout_lines l
         join payout_lines o on o.merchant_id = l.merchant_id and o.object_id = l.object_id and o.kind = l.kind
           and not o.released
         join payouts y on y.merchant_id = o.merchant_id and y.payout_id = o.payout_id
       where l.merchant_id = w.merchant_id and l.payout_id = w.payout_id and y.status in ('PREPARED', 'APPROVED')
       order by 1) as unsent,
     exists (select from payout_lines l
         join payout_lines o on o.merchant_id = l.merchant_id and o.object_id = l.object_id and o.kind = l.kind
           and not o.released
         join payouts y on y.merchant_id = o.merchant_id and y.payout_id = o.payout_id
       where l.merchant_id = w.merchant_id and l.payout_id = w.payout_id and y.status in ('SENT', 'PAID'))
       as "isSentAgain",
     array (select l.object_id from payout_lines l
       where l.merchant_id = w.merchant_id and l.payout_id = w.payout_id and l.kind = 'opening_balance') as openings,
     exists (select from payout_lines l
         join opening_balances b on b.tenant_id = l.merchant_id and b.journal_id = l.object_id
       where l.merchant_id = w.merchant_id and l.payout_id = w.payout_id and l.kind = 'opening_balance'
         and b.reversed_by is not null) as "isReversed"
   from unnest($1::text[], $2::text[]) as w (merchant_id, payout_id)`,
)
const RESTORE = statement(
  'payout_lines_restore',
  `update payout_lines l set released = false from unnest($1::text[], $2::text[]) as w (merchant_id, payout_id)
   where l.merchant_id = w.merchant_id and l.payout_id = w.payout_id`,
)

type Key = Pick<Payout, 'merchantId' | 'payoutId'>

const keys = (payouts: readonly Key[]) =>
  columns(
    payouts,
    ({ merchantId }) => merchantId,
    ({ payoutId }) => payoutId,
  )

/** To be read once the accounts of the merchants are locked: nothing then changes which payout has what. */
export const reservesOf = (tx: BatchTx, payouts: readonly Key[]): Promise<Reserve[]> =>
  tx.query(RESERVES, keys(payouts))

interface Reported {
  readonly reserve: Reserve | undefined
  readonly payablePaise: bigint
  readonly utr: string
  readonly now: Date
}

/**
 * A failed payout that the bank has paid after all. If what it was made of is still due and payable, it is paid, as if it
 * had never failed. If that was paid out again or was spent, it stays failed, and what the bank paid is an exception.
 */
export function paidAfterFailure(payout: Payout, { reserve, payablePaise, utr, now }: Reported): Payout {
  if (payout.paidLateAt !== null)
    fail('payout_state', { description: `The payout is FAILED, and the bank paid it under ${payout.utr}` })
  const { unsent, isReversed, isSentAgain } = required(reserve, 'the reserve of a payout is read')
  if (isSentAgain) return { ...payout, utr, paidLateAt: now }
  if (unsent.length > 0)
    fail('payout_state', {
      description: `The payout is FAILED, and what it was made of is in ${unsent.join(', ')}, not sent yet: cancel that, then record this again`,
    })
  if (isReversed || payablePaise < takenPaise(payout)) return { ...payout, utr, paidLateAt: now }
  return {
    ...payout,
    status: 'PAID',
    utr,
    failureReason: null,
    failedAt: payout.completedAt,
    completedAt: now,
  }
}

/** What it takes from what is payable. */
const takenPaise = (payout: Payout): bigint => payout.amountPaise + feesDue(payout) + payout.advancePaise

/** What these payouts were made of is in them again. */
export function restoreLines(tx: Writes, restored: readonly Reserve[]): void {
  if (restored.length === 0) return
  tx.write(RESTORE, keys(restored))
  payOutOpeningBalances(
    tx,
    restored.flatMap(({ merchantId, payoutId, openings }) =>
      openings.map((objectId) => ({ merchantId, payoutId, objectId })),
    ),
  )
}
