import type { Paise } from '@svc/kernel/money'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { day, instant, nullable, paise, table, text, textOf } from '@svc/platform/db/table'

/** What became of a period; null: it runs, or waits for its bank day. */
type PeriodOutcome = 'PREPARED' | 'NOTHING_DUE' | 'BELOW_MINIMUM' | 'CARRIED_FORWARD' | 'NO_BANK_ACCOUNT'

/** The periods of merchants with a schedule (decision R30): each has at most one payout. */
const payoutPeriods = table('payout_periods', 'q', ['merchantId', 'endsOn'], {
  merchantId: text,
  endsOn: day,
  outcome: nullable(textOf<PeriodOutcome>()),
  payoutId: nullable(text),
  /** What was due. */
  amountPaise: nullable(paise),
  decidedAt: nullable(instant),
})

const DECIDE = statement(
  'payout_periods_decide',
  `update payout_periods q set outcome = w.outcome, payout_id = w.payout_id, amount_paise = w.amount_paise, decided_at = w.decided_at
   from unnest($1::text[], $2::date[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[])
     as w (merchant_id, ends_on, outcome, payout_id, amount_paise, decided_at)
   where q.merchant_id = w.merchant_id and q.ends_on = w.ends_on`,
)

export interface DecidedPeriod {
  readonly merchantId: string
  readonly endsOn: string
  readonly decided: {
    readonly payout: { readonly payoutId: string } | undefined
    /** Why there is no payout. */
    readonly reason: string | undefined
    readonly netPaise: Paise
  }
  /** Of the period after it, which begins with it. */
  readonly nextEndsOn: string | undefined
  readonly at: Date
}

/** Ends periods, each once, and begins those that follow them. */
export function savePeriods(tx: Writes, periods: readonly DecidedPeriod[]): void {
  if (periods.length === 0) return
  tx.write(
    DECIDE,
    columns(
      periods,
      ({ merchantId }) => merchantId,
      ({ endsOn }) => endsOn,
      ({ decided: { reason } }) => reason?.toUpperCase() ?? 'PREPARED',
      ({ decided: { payout } }) => payout?.payoutId ?? null,
      ({ decided: { netPaise } }) => netPaise,
      ({ at }) => at,
    ),
  )
  payoutPeriods.insert(
    tx,
    periods.flatMap(({ merchantId, nextEndsOn }) =>
      nextEndsOn === undefined
        ? []
        : [
            {
              merchantId,
              endsOn: nextEndsOn,
              outcome: null,
              payoutId: null,
              amountPaise: null,
              decidedAt: null,
            },
          ],
    ),
  )
}
