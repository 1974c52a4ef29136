import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import { inEachTime, type Timeline } from '@svc/kernel/time'
import { command } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { databaseTime } from '@svc/platform/db/database-time'
import { columns, statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { account, lockAccounts } from '../../ledger/accounts.ts'
import { saveJournals } from '../../ledger/journals.ts'
import { businessDay, businessDayOf } from '../payouts/payout-statement.ts'
import {
  type AcceptedPayment,
  type ChargeSettings,
  chargeSettings,
  readTerms,
  unaccrued,
} from './charging.ts'
import {
  ACCRUAL_ACCOUNTS,
  type Accrual,
  accrualOf,
  accrualsEntered,
  feeAccruals,
  type Unaccrued,
} from './fee-accrual.ts'

const EVERY_MS = 60_000
const MERCHANTS_A_SWEEP = 500
const PAYMENTS_A_BATCH = 5_000
/** What was decided on a day is committed so long after its end. */
const SETTLES_MS = 60_000

export interface AccrueFees {
  readonly merchantId: string
  /** The end of a business day: fees of all payments before it are entered. */
  readonly until: Date
}

interface Prepared extends AccrueFees, PreparedCommand {
  readonly settings: ChargeSettings
  readonly seed: string
}

interface State {
  readonly payments: readonly Unaccrued[]
  /** The last one that was read, where there may be more. */
  readonly last: Date | undefined
  readonly entered: ReadonlyMap<string, number>
}

export interface AccruedFees {
  readonly accrual: Accrual
  readonly accruedTo: Date
  readonly hasMore: boolean
  readonly command: Prepared
}

const FOUND = statement<AcceptedPayment & { readonly merchantId: string }>(
  'payments_unaccrued',
  `select w.merchant_id as "merchantId", p.*
   from unnest($1::text[], $2::timestamptz[]) as w (merchant_id, until)
     left join payout_positions o using (merchant_id), lateral (
     select p.payment_id as "objectId", p.created_at as "occurredAt", p.amount_paise as "amountPaise"
     from payments p
     where p.merchant_id = w.merchant_id and p.status = 'ACCEPTED' and p.created_at < w.until
       and p.created_at >= coalesce(o.accrued_to, o.due_from, '-infinity')
       and not exists (select from fee_accruals f
         where f.merchant_id = w.merchant_id and f.payment_id = p.payment_id)
       and not exists (select from payout_lines l
         where l.merchant_id = w.merchant_id and l.object_id = p.payment_id and l.kind = 'payment' and not l.released)
     order by p.created_at, p.payment_id limit ${PAYMENTS_A_BATCH}) p
   order by "occurredAt", "objectId"`,
)
const MOVE_POSITION = statement(
  'payout_positions_accrued',
  `insert into payout_positions (merchant_id, due_from, accrued_to)
   select w.merchant_id, '-infinity', w.accrued_to from unnest($1::text[], $2::timestamptz[]) as w (merchant_id, accrued_to)
   order by 1
   on conflict (merchant_id) do update set accrued_to = greatest(payout_positions.accrued_to, excluded.accrued_to)`,
)
const WAITING = statement<{ merchant_id: string }>(
  'directory_fees_to_accrue',
  'select * from directory_fees_to_accrue($1, $2, $3)',
)

/**
 * Enters fees and GST of a merchant's payments until the end of a business day, effective on their own days (decision
 * R22). Each payment's once: those that are in a payout have been entered by it.
 */
export const accrueFees = command({
  name: 'accrueFees',
  batchMax: 1,

  prepare:
    ({ config, newId }) =>
    (args: AccrueFees): Prepared => ({
      ...args,
      tenantId: args.merchantId,
      settings: chargeSettings(config),
      seed: newId('trf'),
    }),

  lock,

  decide({ payments, last, entered }: State, command: Prepared, now: Date): AccruedFees {
    const { merchantId, seed, until } = command
    if (now.getTime() < until.getTime() + SETTLES_MS) fail('business_day_not_over')
    const accrual = accrualOf(payments, { merchantId, seed, at: now, entered })
    return { accrual, accruedTo: last ?? until, hasMore: last !== undefined, command }
  },

  save(tx, decisions) {
    for (const { accrual, accruedTo, command } of decisions) {
      saveJournals(tx, command.settings.timeZone, accrual.journals)
      feeAccruals.insert(tx, accrual.rows)
      tx.write(MOVE_POSITION, [[command.merchantId], [accruedTo]])
    }
  },
})

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const merchantIds = commands.map(({ merchantId }) => merchantId)
  const accounts = merchantIds.flatMap((id) =>
    (['payable', ...ACCRUAL_ACCOUNTS] as const).map((kind) => account(kind, id)),
  )
  // In this order: who holds the accounts sees every payment and payout that others have made.
  const [, found, termsOf] = await Promise.all([
    lockAccounts(tx, accounts),
    tx.query(
      FOUND,
      columns(
        commands,
        ({ merchantId }) => merchantId,
        ({ until }) => until,
      ),
    ),
    readTerms(tx, merchantIds),
  ])
  const settingsOf = new Map(commands.map(({ merchantId, settings }) => [merchantId, settings]))
  const charged = found.map((payment) => {
    const { merchantId } = payment
    return { merchantId, ...unaccrued(payment, termsOf(merchantId), settingsOf.get(merchantId)!) }
  })
  const entered = await accrualsEntered(tx, charged)
  const chargedOf = groupBy(charged, ({ merchantId }) => merchantId)
  const foundOf = groupBy(found, ({ merchantId }) => merchantId)
  return new ByTenant((merchantId): State => {
    const of = foundOf.get(merchantId) ?? []
    return {
      payments: chargedOf.get(merchantId) ?? [],
      last: of.length === PAYMENTS_A_BATCH ? of.at(-1)!.occurredAt : undefined,
      entered: entered.get(merchantId) ?? new Map(),
    }
  })
}

type Accruing = Pick<CoreServices, 'commands' | 'config' | 'database'>

/** Enters the fees of all merchants until the end of a day; returns how many payments had none yet. */
export async function accrueUntil(
  { commands, database }: Accruing,
  until: Date,
  tenantIds: readonly string[] | null,
): Promise<number> {
  const accrue = commands.open(accrueFees)
  let payments = 0
  for (let isDone = false; !isDone; ) {
    const waiting = await database.directory(WAITING, [until, MERCHANTS_A_SWEEP, tenantIds])
    for (const { merchant_id: merchantId } of waiting)
      for (let hasMore = true; hasMore; ) {
        const done = await accrue.run({ merchantId, until })
        payments += done.accrual.rows.length
        hasMore = done.hasMore
      }
    isDone = waiting.length < MERCHANTS_A_SWEEP
  }
  return payments
}

/** Enters the fees of every business day that is over. */
export const accrueDueFees = (services: CoreServices): Promise<number> =>
  inEachTime(services.clock, async ({ clock, tenantIds }: Timeline) => {
    const { BUSINESS_DAY_CUTOFF: cutOff, BUSINESS_TIME_ZONE: zone } = services.config
    const now = await databaseTime(services.database, clock)
    const today = businessDayOf(new Date(now.getTime() - SETTLES_MS), cutOff, zone)
    const until = businessDay(today, cutOff, zone).from
    return accrueUntil(services, until, tenantIds)
  })

/**
 * The same until the end of a day, of the merchants for whom it is over; returns how many payments had no fee entered yet,
 * `undefined` where it is over for none.
 */
export async function accrueThrough(
  services: Accruing & Pick<CoreServices, 'clock'>,
  day: string,
): Promise<number | undefined> {
  const { BUSINESS_DAY_CUTOFF: cutOff, BUSINESS_TIME_ZONE: zone } = services.config
  const { to: until } = businessDay(day, cutOff, zone)
  let payments: number | undefined
  for (const { clock, tenantIds } of services.clock.timelines()) {
    const now = await databaseTime(services.database, clock)
    if (now.getTime() >= until.getTime() + SETTLES_MS)
      payments = (payments ?? 0) + (await accrueUntil(services, until, tenantIds))
  }
  return payments
}

export const accrueFeesLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'accrue_fees',
      everyMs: EVERY_MS,
      work: async () => {
        await accrueDueFees(services)
        return false
      },
      atStart: true,
    },
    services,
  )
