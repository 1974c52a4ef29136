import type { Config } from '@svc/contract/config'
import { failField, failFields } from '@svc/contract/fail-fields'
import { fieldError } from '@svc/contract/field-errors'
import { ID_SLACK_MS, idFloor } from '@svc/contract/id-kinds'
import { readCoinLiability } from '@svc/core/coins/coin-liability'
import { accountIdOf } from '@svc/core/ledger/accounts'
import { type AccountKind, kindOf } from '@svc/core/ledger/chart-of-accounts'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { rfc3339, type TenantClocks } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { type Statement, statement } from '@svc/platform/db/statement'
import { Instant, readInstant } from '@svc/server/http/fields'
import { Type } from 'typebox'
import { closed, instant, oneOf, record, text } from '../console-schema.ts'
import {
  BUCKETS,
  type Bucket,
  COMPARISONS,
  type Comparison,
  earlierRange,
  type Range,
  type Slot,
  slotsOf,
} from './figure-periods.ts'
import { BASES, type BucketRow, FIGURE, SUMS, type SumMetric, sumOf } from './figure-sources.ts'

interface Level {
  readonly of: 'merchant' | 'partner'
  readonly unit: 'paise' | 'coins'
  readonly isOfBooks?: true
  /** The account whose balance it is, of each tenant or of each of a partner's card accounts. */
  readonly account?: AccountKind
}

/** What there is now, without a past. */
const LEVELS = {
  owed: { of: 'merchant', unit: 'paise', account: 'payable' },
  bank: { of: 'merchant', unit: 'paise', account: 'bank', isOfBooks: true },
  clearing: { of: 'merchant', unit: 'paise', account: 'upi_clearing', isOfBooks: true },
  funding: { of: 'partner', unit: 'paise', account: 'card_funding' },
  coin_liability: { of: 'partner', unit: 'coins' },
} as const satisfies Record<string, Level>
type LevelMetric = keyof typeof LEVELS

export type Metric = SumMetric | LevelMetric
/** Every metric, in the order of the reference. */
export const METRICS = [...Object.keys(SUMS), ...Object.keys(LEVELS)] as readonly Metric[]

const isLevel = (metric: Metric): metric is LevelMetric => metric in LEVELS
const levelOf = (metric: LevelMetric): Level => LEVELS[metric]
const factsOf = (metric: Metric) => (isLevel(metric) ? levelOf(metric) : sumOf(metric))

/** Whether only people who keep the books see it. */
export const isOfBooks = (metric: Metric): boolean => factsOf(metric).isOfBooks === true

const owners = (kind: AccountKind) =>
  kind === 'card_funding'
    ? 'select partner_id as tenant_id, card_account_id as owner_id from card_accounts'
    : 'select tenant_id, tenant_id as owner_id from tenants'
const BALANCES = Object.fromEntries(
  Object.entries<Level>(LEVELS).flatMap(([metric, { account }]) =>
    account === undefined
      ? []
      : [
          [
            metric,
            statement(
              `figure_${metric}`,
              `select coalesce(sum(a.balance), 0)::bigint as balance, count(*) as count
               from (${owners(account)}) o cross join lateral ${accountIdOf(account, 'o.owner_id')}
                 join ledger_accounts a on a.tenant_id = o.tenant_id and a.account_id = key.account_id
               where $1::text is null or o.tenant_id = $1`,
            ),
          ],
        ],
  ),
) as Readonly<Record<string, Statement<{ balance: bigint; count: bigint }>>>

/** Why authorisations were declined, by the reason of their messages. */
const DECLINED = statement<{ reason: string; count: bigint }>(
  'figure_decline_reasons',
  `select coalesce(m.response::jsonb ->> 'reason', t.response_code) as reason, count(*) as count
   from card_transactions t
     left join card_messages m on m.partner_id = t.partner_id and m.message_id = t.message_id
   where t.created_at >= $1 and t.created_at < $2 and ($3::text is null or t.partner_id = $3)
     and ${SUMS.card_declines.source.where}
   group by 1 order by count desc, reason`,
)

const paiseOrCoins = (description: string) =>
  Type.Integer({ description: `${description}, in paise or coins as \`unit\` says` })
const counted = Type.Integer({ description: 'Rows that are added up' })
const tax = Type.Optional(Type.Integer({ description: 'GST on fees, in paise' }))
const SUM = { amount: paiseOrCoins('Sum'), count: counted, tax }
const Buckets = Type.Array(
  record('FigureBucket', {
    name: text('Hour, business day or month, such as `2026-11-27T14:00`, `2026-11-27`, `2026-11`'),
    at: instant,
    ...SUM,
  }),
  { description: 'Without gaps, oldest first, those that have begun' },
)

export const FiguresRecord = record('Figures', {
  from: instant,
  to: text('Excluded'),
  until: text('Until when it is known: `to`, or the present'),
  bucket: Type.Enum([...BUCKETS]),
  compared: Type.Optional(
    closed({ from: instant, to: text('Excluded'), until: text('The same time as `until`') }),
  ),
  figures: Type.Array(
    record('Figure', {
      metric: Type.Enum([...METRICS]),
      unit: Type.Enum(['paise', 'coins']),
      basis: Type.Enum([...BASES], { description: 'On what the sum is based; `balance`: what there is now' }),
      ...SUM,
      buckets: Type.Optional(Buckets),
      compared: Type.Optional(
        closed({ ...SUM, buckets: { ...Buckets, description: 'Of the whole period, oldest first' } }),
      ),
      reasons: Type.Optional(
        Type.Array(record('FigureReason', { reason: text(), count: Type.Integer() }), {
          description: 'Of declined authorisations, the most frequent first',
        }),
      ),
    }),
    { description: 'In the order of the request; those that the caller may not see are absent' },
  ),
})

const BUCKETS_MAX = 800
const DAYS_MAX = 800
const DAY_MS = 86_400_000

/** The query of a request for figures, of operators and of members alike. */
export const FIGURES_QUERY = {
  metrics: Type.String({
    pattern: `^(${METRICS.join('|')})(,(${METRICS.join('|')}))*$`,
    maxLength: 400,
    'x-rule': `must be metrics separated by commas: ${METRICS.join(', ')}`,
    description: `Separated by commas: ${METRICS.map((metric) => `\`${metric}\``).join(', ')}`,
  }),
  from: Instant('Since this instant'),
  to: Instant(`Before this instant, at most ${DAYS_MAX} days later; it may be to come`),
  bucket: Type.Optional(
    Type.Enum([...BUCKETS], { description: `\`day\` by default; at most ${BUCKETS_MAX} of them` }),
  ),
  comparison: oneOf(COMPARISONS, 'Also the same range so much earlier, until the same time'),
}

interface FiguresQuery {
  readonly metrics: string
  readonly from: string
  readonly to: string
  readonly bucket?: string
  readonly comparison?: string
}

export interface FiguresAsked {
  readonly metrics: readonly Metric[]
  readonly range: Range
  readonly bucket: Bucket
  readonly slots: readonly Slot[]
  readonly comparison?: Comparison
  /** Of one tenant; absent: of all, for operators. */
  readonly tenantId?: string
}

/** Either end may be the one that is wrong. */
const failRange = (from: string, to: string): void =>
  failFields(fieldError('from', 'format', from, 'query'), fieldError('to', 'format', to, 'query'))

/** Reads a request; throws `validation_failed`. `may`: metrics that the caller may see. */
export function readFiguresQuery(
  { bucket = 'day', comparison, from, metrics, to }: FiguresQuery,
  {
    config,
    may,
    now,
  }: { readonly config: Config; readonly now: Date; readonly may: (metric: Metric) => boolean },
): FiguresAsked {
  const range = { from: readInstant('from', from), to: readInstant('to', to) }
  if (range.to <= range.from) failRange('must be before to', 'must be after from')
  if (range.to.getTime() - range.from.getTime() > DAYS_MAX * DAY_MS)
    failRange(`must be at most ${DAYS_MAX} days before to`, `must be at most ${DAYS_MAX} days after from`)
  const until = now < range.to ? now : range.to
  const asked = { ...range, until: until < range.from ? range.from : until }
  const slots =
    slotsOf(asked, bucket as Bucket, config, BUCKETS_MAX) ??
    failField('bucket', 'format', `must be longer: there would be more than ${BUCKETS_MAX}`, 'query')
  return {
    metrics: [...new Set(metrics.split(',') as Metric[])].filter(may),
    range: asked,
    bucket: bucket as Bucket,
    slots,
    ...(comparison !== undefined && { comparison: comparison as Comparison }),
  }
}

const DAY_MINUTES = 1_440

interface FigureTools {
  readonly config: Config
  readonly clock: TenantClocks
  /** By how much the clocks of the tenants are ahead of that of ids at most. */
  readonly aheadMs: number
}

const NOTHING = { count: 0n, amount: 0n, tax: 0n, countUntil: 0n, amountUntil: 0n, taxUntil: 0n }

async function readBuckets(
  tx: Tx,
  metric: SumMetric,
  { from, to, until }: Range,
  { bucket, tenantId }: Pick<FiguresAsked, 'bucket' | 'tenantId'>,
  { aheadMs, config }: FigureTools,
) {
  const { source } = sumOf(metric)
  const [prefix] = source.id
  const floor = (at: Date, ms: number) => idFloor(prefix, new Date(at.getTime() + ms))
  const { all, ofTenant } = FIGURE[metric]
  const rows = await tx.query(tenantId === undefined ? all : ofTenant, [
    from,
    to,
    floor(from, -aheadMs - ID_SLACK_MS),
    floor(to, ID_SLACK_MS),
    config.BUSINESS_TIME_ZONE,
    DAY_MINUTES - config.BUSINESS_DAY_CUTOFF,
    bucket,
    until,
    tenantId ?? null,
    ...(source.values?.(config) ?? []),
  ])
  return new Map(rows.map((row) => [row.name, row]))
}

type Rows = ReadonlyMap<string, BucketRow>
const total = (rows: Rows, part: keyof typeof NOTHING): number =>
  Number([...rows.values()].reduce((sum, row) => sum + row[part], 0n))

/** Amounts are far below 2^53: a hundred thousand rupees a second for a century. */
const sumToWire = (metric: SumMetric, amount: number, count: number, taxed: number) => ({
  amount,
  count,
  ...('tax' in SUMS[metric].source && { tax: taxed }),
})

const bucketsToWire = (metric: SumMetric, rows: Rows, slots: readonly Slot[], timeZone: string) =>
  slots.map(({ at, name }) => {
    const row = rows.get(name) ?? NOTHING
    return {
      name,
      at: rfc3339(at, timeZone),
      ...sumToWire(metric, Number(row.amount), Number(row.count), Number(row.tax)),
    }
  })

async function readSum(tx: Tx, metric: SumMetric, asked: FiguresAsked, tools: FigureTools) {
  const { bucket, comparison, range, slots, tenantId } = asked
  const { config } = tools
  const timeZone = config.BUSINESS_TIME_ZONE
  const rows = await readBuckets(tx, metric, { ...range, to: range.until }, asked, tools)
  const wire = {
    metric,
    unit: sumOf(metric).unit,
    basis: sumOf(metric).basis,
    ...sumToWire(metric, total(rows, 'amount'), total(rows, 'count'), total(rows, 'tax')),
    buckets: bucketsToWire(
      metric,
      rows,
      slots.filter(({ at }) => at < range.until),
      timeZone,
    ),
    ...(metric === 'card_declines' && {
      reasons: (await tx.query(DECLINED, [range.from, range.until, tenantId ?? null])).map(
        ({ count, reason }) => ({ reason, count: Number(count) }),
      ),
    }),
  }
  if (comparison === undefined) return wire
  const before = earlierRange(range, comparison, config)
  const past = await readBuckets(tx, metric, before, asked, tools)
  const pastSlots = slotsOf(before, bucket, config, BUCKETS_MAX) ?? []
  return {
    ...wire,
    compared: {
      ...sumToWire(metric, total(past, 'amountUntil'), total(past, 'countUntil'), total(past, 'taxUntil')),
      buckets: bucketsToWire(metric, past, pastSlots, timeZone),
    },
  }
}

async function readLevel(tx: Tx, metric: LevelMetric, { tenantId }: FiguresAsked, { clock }: FigureTools) {
  const { account, unit } = levelOf(metric)
  const wire = { metric, unit, basis: 'balance' }
  if (account === undefined) {
    const found = await readCoinLiability(tx, clock, tenantId ?? null)
    const amount = found.reduce((sum, { coins }) => sum + coins, 0n)
    return {
      ...wire,
      amount: Number(amount),
      count: Number(found.reduce((sum, { users }) => sum + users, 0n)),
    }
  }
  const [row] = await tx.query(BALANCES[metric]!, [tenantId ?? null])
  const amount = Number(row!.balance) * (kindOf(account).side === 'debit' ? -1 : 1)
  return { ...wire, amount: amount === 0 ? 0 : amount, count: Number(row!.count) }
}

/** Figures in the order of the request; those of another kind of tenant are absent. */
export async function readFigures(tx: Tx, asked: FiguresAsked, tools: FigureTools) {
  const { bucket, comparison, metrics, range, tenantId } = asked
  const timeZone = tools.config.BUSINESS_TIME_ZONE
  const kind = tenantId === undefined ? undefined : kindOfTenant(tenantId)
  const on = (each: Range) => ({
    from: rfc3339(each.from, timeZone),
    to: rfc3339(each.to, timeZone),
    until: rfc3339(each.until, timeZone),
  })
  const figures = []
  for (const metric of metrics) {
    if (kind !== undefined && factsOf(metric).of !== kind) continue
    figures.push(
      isLevel(metric) ? await readLevel(tx, metric, asked, tools) : await readSum(tx, metric, asked, tools),
    )
  }
  return {
    ...on(range),
    bucket,
    ...(comparison !== undefined && { compared: on(earlierRange(range, comparison, tools.config)) }),
    figures,
  }
}
