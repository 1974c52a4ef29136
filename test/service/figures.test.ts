import { METRICS, type Metric } from '@svc/console-api/faces/figures'
import { permits, ROLES } from '@svc/console-api/identity/permissions'
import { idFloor } from '@svc/contract/id-kinds'
import { chargeOf, type Fee } from '@svc/core/payments/payouts/payout-fees'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { newDispute } from '../harness/disputes.ts'
import { newPartner } from '../harness/partner.ts'
import { giveAccount, giveFee } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

// Days end two hours before midnight in a zone that is 5:30 ahead.
const ZONE_MS = 19_800_000
const CUT_MS = 7_200_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const STATE = '27'
const RATES = [
  { from: '2017-07-01', basisPoints: 1_800 },
  { from: '2031-01-01', basisPoints: 2_000 },
]
const SUMMED = [
  'payments',
  'refusals',
  'refunds',
  'disputes',
  'fees',
  'cards_issued',
  'card_spend',
  'card_loads',
] as const
const OF_CARDS = ['card_authorizations', 'card_declines', 'coins_granted'] as const
type Summed = (typeof SUMMED)[number] | (typeof OF_CARDS)[number]

/** A row as the test knows it: what it counts for, and by how much. */
interface Known {
  readonly metrics: Partial<Record<Summed, number>>
  readonly tax?: number
  readonly tenantId: string
  readonly atMs: number
}

let service: TestService
let known: Known[]
let merchants: string[]
let partnerId: string

/** The same numbers in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return Math.floor((state / 4_294_967_296) * below)
  }
}
const draw = seeded(47)
const pick = <T>(all: readonly T[]): T => all[draw(all.length)]!

let ids = 0
const idAt = (prefix: Parameters<typeof idFloor>[0], atMs: number) =>
  idFloor(prefix, new Date(atMs)) + String(++ids).padStart(16, '0')

const name = (atMs: number, bucket: string): string => {
  const local = new Date(atMs + ZONE_MS + (bucket === 'hour' ? 0 : CUT_MS)).toISOString()
  return bucket === 'hour' ? `${local.slice(0, 13)}:00` : local.slice(0, bucket === 'day' ? 10 : 7)
}

const FEES: readonly Fee[] = [
  {
    validFrom: '2020-01-01',
    basisPoints: 205,
    fixedPaise: paise(0n),
    createdAt: new Date(0),
    chargesFrom: null,
  },
]

/** What an accepted payment is charged whose fee is not entered. */
function chargedNow(amount: number, atMs: number, isWithinState: boolean) {
  const payment = { amountPaise: paise(BigInt(amount)), acceptedAt: new Date(atMs), day: name(atMs, 'day') }
  const { cgstPaise, feePaise, igstPaise, sgstPaise } = chargeOf(payment, {
    fees: FEES,
    taxRates: RATES,
    isWithinState,
  })
  return { fee: Number(feePaise), tax: Number(cgstPaise + sgstPaise + igstPaise) }
}

/** Times of the last 200 days, among them the first and last milliseconds of hours and days. */
function someTime(nowMs: number): number {
  const at = nowMs - draw(draw(2) === 0 ? 9 * DAY_MS : 200 * DAY_MS) - 1
  if (draw(4) > 0) return at
  const day = at - ((at + ZONE_MS + CUT_MS) % DAY_MS)
  return day + pick([0, -1, CUT_MS, CUT_MS - 1, HOUR_MS - (ZONE_MS % HOUR_MS)])
}

/** The known rows, and the values that are inserted for them, by table. */
interface World {
  readonly rows: Known[]
  readonly insert: Record<keyof typeof INSERTS, unknown[][]>
}

interface Payment {
  readonly tenantId: string
  readonly atMs: number
  readonly amount: number
  readonly id: string
}

function drawPayment({ rows, insert }: World, nowMs: number): Payment {
  const tenantId = pick(merchants)
  const atMs = someTime(nowMs)
  const amount = 100 + draw(900_000)
  const id = idAt('pay', atMs)
  const status = pick('ACCEPTED ACCEPTED ACCEPTED REFUND_PENDING REFUNDED ASSIGNED SUSPENSE'.split(' '))
  insert.payments.push([id, tenantId, `UTR${id}`, amount, status, new Date(atMs)])
  if (status === 'ACCEPTED') {
    const isEntered = draw(3) === 0
    const { fee, tax } = isEntered
      ? { fee: draw(500), tax: 3 * draw(30) }
      : chargedNow(amount, atMs, tenantId === merchants[0])
    if (isEntered) insert.fees.push([tenantId, id, name(atMs, 'day'), fee, tax / 3])
    rows.push({ tenantId, atMs, metrics: { payments: amount, fees: fee }, tax })
  } else if (status.startsWith('REFUND')) rows.push({ tenantId, atMs, metrics: { refusals: amount } })
  return { tenantId, atMs, amount, id }
}

/** A refund of a payment, which may have failed, and a dispute about it. */
function drawRefundAndDispute({ rows, insert }: World, { tenantId, atMs, amount, id }: Payment): void {
  const at = new Date(atMs)
  const isFailed = draw(4) === 0
  insert.refunds.push([tenantId, idAt('rfd', atMs), id, amount, isFailed ? 'FAILED' : 'SENT', at])
  if (!isFailed) rows.push({ tenantId, atMs, metrics: { refunds: amount } })
  insert.disputes.push([tenantId, idAt('dsp', atMs), id, amount, at])
  rows.push({ tenantId, atMs, metrics: { disputes: amount } })
}

/** A card, a transaction of one and coins, at the time of a payment and of its amount. */
function drawCards({ rows, insert }: World, { atMs, amount }: Payment, entry: number): void {
  const at = new Date(atMs)
  const code = pick(['00', '10', '51', '62', '85'])
  const kind = pick(['authorization', 'capture', 'load', 'refund'])
  const ctx = idAt('ctx', atMs)
  const [transfer, response] = kind === 'authorization' ? [null, code] : [ctx, null]
  insert.card_transactions.push([partnerId, ctx, kind, amount, transfer, response, at])
  insert.lots.push([partnerId, idAt('cal', atMs), amount, entry, at])
  insert.cards.push([partnerId, idAt('card', atMs), amount, at])
  const add = (metrics: Known['metrics']) => rows.push({ tenantId: partnerId, atMs, metrics })
  add({ coins_granted: amount })
  add({ cards_issued: amount })
  if (kind === 'load') add({ card_loads: amount })
  if (kind === 'capture') add({ card_spend: amount })
  if (kind === 'authorization' && code !== '85')
    add({ card_authorizations: amount, ...(code > '10' && { card_declines: amount }) })
}

/** How the rows of each table are inserted: the statement without its source, and the types of its c1, c2, … */
const INSERTS = {
  payments: [
    `insert into payments (payment_id, merchant_id, utr, tr, amount_paise, status, created_at, resolved_at)
     select c1, c2, c3, 'x', c4, c5, c6, case when c5 = 'ASSIGNED' then c6 end`,
    'text text text bigint text timestamptz',
  ],
  fees: [
    `insert into fee_accruals (merchant_id, payment_id, business_day, journal_id, fee_paise, cgst_paise, sgst_paise, igst_paise, tax_basis_points)
     select c1, c2, c3, 'jrn_' || c2, c4, c5, c5, c5, 1800`,
    'text text date bigint bigint',
  ],
  refunds: [
    `insert into merchant_refunds (merchant_id, refund_id, payment_id, amount_paise, advanced_paise, reference_number,
       request_hash, status, failure_reason, created_at, sent_at, completed_at)
     select c1, c2, c3, c4, 0, c2, '', c5, case when c5 = 'FAILED' then 'no' end, c6, c6, case when c5 = 'FAILED' then c6 end`,
    'text text text bigint text timestamptz',
  ],
  disputes: [
    `insert into disputes (merchant_id, dispute_id, payment_id, case_reference, amount_paise, advanced_paise, status, evidence_due_at, notice, created_at)
     select c1, c2, c3, c2, c4, 0, 'OPEN', c5 + interval '400 days', '', c5`,
    'text text text bigint timestamptz',
  ],
  card_transactions: [
    `insert into card_transactions (partner_id, transaction_id, svc_card_id, card_account_id, company_id, kind, amount_paise, transfer_id, response_code, created_at)
     select c1, c2, 'card_1', 'acc_1', 'com_1', c3, c4, c5, c6, c7`,
    'text text text bigint text text timestamptz',
  ],
  lots: [
    `insert into coin_lots (lot_id, partner_id, user_id, company_id, entry, request_id, request_hash, event, coin_config_id, revision, amount, remaining, occurred_at, business_day, balance_after, created_at)
     select c2, c1, 'usr_1', 'com_1', c4, c2, '', 'e', 'ccf_1', 1, c3, c3, c5, c5::date, c3, c5`,
    'text text bigint bigint timestamptz',
  ],
  cards: [
    `insert into cards (svc_card_id, partner_id, company_id, card_account_id, user_id, number_encrypted, number_digest, masked_number, token,
       expiry_month, expiry_year, status, kyc_status, physical, activated, holder, load_paise, load_transfer_id, created_at, modified_at)
     select c2, c1, 'com_1', 'acc_1', 'usr_1', '', c2::bytea, '9999', c2, 1, 2040, 'UL', 'NOT_UPLOADED', false, true, '{}', c3, c2, c4, c4`,
    'text text bigint timestamptz',
  ],
} as const

async function insertWorld(insert: World['insert']): Promise<void> {
  await asSuperuser(service.db.database, async (db) => {
    await db.query('set session_replication_role = replica')
    for (const [of, [text, types]] of Object.entries(INSERTS)) {
      const all = types.split(' ')
      const given = all.map((type, i) => `$${i + 1}::${type}[]`).join(', ')
      const named = all.map((_, i) => `c${i + 1}`).join(', ')
      await db.query(
        `${text} from unnest(${given}) as r (${named})`,
        all.map((_, i) => insert[of as keyof typeof INSERTS].map((row) => row[i])),
      )
    }
    await db.query(
      `insert into coin_wallets (user_id, partner_id, entries, allocated, spent, expired) values ('usr_1', $1, 0, 0, 0, 0)`,
      [partnerId],
    )
    await db.query('reset session_replication_role')
  })
}

async function fillWorld(nowMs: number): Promise<Known[]> {
  const insert = Object.fromEntries(Object.keys(INSERTS).map((of) => [of, []])) as unknown as World['insert']
  const world: World = { rows: [], insert }
  for (let i = 0; i < 1_500; i++) {
    const payment = drawPayment(world, nowMs)
    if (i % 5 === 0) drawRefundAndDispute(world, payment)
    if (i % 2 === 1) drawCards(world, payment, i)
  }
  await insertWorld(insert)
  return world.rows
}

beforeAll(async () => {
  service = await openService({ env: { BUSINESS_DAY_CUTOFF: '22:00', GST_STATE: STATE }, background: false })
  merchants = [(await service.newMerchant()).merchantId, (await service.newMerchant()).merchantId]
  partnerId = (await newPartner(service)).partnerId
  await giveAccount(service, merchants[0]!, STATE)
  await giveAccount(service, merchants[1]!, '07')
  for (const merchantId of merchants) await giveFee(service, merchantId, { basisPoints: 205 })
  known = await fillWorld(Date.now())
}, 60_000)
afterAll(() => service.close())

const figuresOf = async (browser: Browser, wanted: Record<string, string>): Promise<Json> => {
  const { json, status } = await browser.get(`/figures?${new URLSearchParams(wanted)}`)
  expect([status, json?.detail]).toEqual([200, undefined])
  return json
}

/** What the rows of a metric add up to, from one instant until before another. */
function sumOf(metric: Summed, fromMs: number, toMs: number, tenantId?: string) {
  const found = known.filter(
    (row) =>
      metric in row.metrics &&
      row.atMs >= fromMs &&
      row.atMs < toMs &&
      (tenantId === undefined || row.tenantId === tenantId),
  )
  return {
    amount: found.reduce((sum, { metrics }) => sum + metrics[metric]!, 0),
    count: found.length,
    ...(metric === 'fees' && { tax: found.reduce((sum, { tax }) => sum + tax!, 0) }),
  }
}

/** Names of the buckets of a range, by walking through it in small steps. */
function namesOf(fromMs: number, toMs: number, bucket: string): string[] {
  const names = new Set<string>()
  for (let at = fromMs; at < toMs; at += HOUR_MS / 4) names.add(name(at, bucket))
  names.add(name(toMs - 1, bucket))
  return [...names]
}

/** The same time of the business day so many days or months before, where that month has the day. */
function before(atMs: number, { days = 0, months = 0 }): number {
  const local = atMs + ZONE_MS + CUT_MS
  const at = new Date(local)
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1 - months, 0)).getUTCDate()
  const day = Date.UTC(
    at.getUTCFullYear(),
    at.getUTCMonth() - months,
    Math.min(at.getUTCDate(), months ? last : 31) - days,
  )
  return day + (local % DAY_MS) - ZONE_MS - CUT_MS
}

/** Ranges to show figures of, in buckets of each kind, and how far back each is compared. */
function rangesAt(nowMs: number) {
  const today = nowMs - ((nowMs + ZONE_MS + CUT_MS) % DAY_MS)
  return [
    { bucket: 'hour', from: today, to: today + DAY_MS, comparison: 'week', back: { days: 7 } },
    { bucket: 'day', from: today - 6 * DAY_MS, to: today + DAY_MS, comparison: 'week', back: { days: 7 } },
    {
      bucket: 'day',
      from: today - 40 * DAY_MS,
      to: today - 10 * DAY_MS,
      comparison: 'month',
      back: { months: 1 },
    },
    {
      bucket: 'month',
      from: today - 80 * DAY_MS,
      to: today + DAY_MS,
      comparison: 'quarter',
      back: { months: 3 },
    },
    {
      bucket: 'hour',
      from: nowMs - 50 * HOUR_MS - 1_234,
      to: nowMs - 1_800_000,
      comparison: 'week',
      back: { days: 7 },
    },
  ]
}

interface Shown {
  readonly about: string
  readonly metric: Summed
  readonly bucket: string
  readonly tenantId: string | undefined
}

/** Each bucket of a range is there with the sum of its rows; how many of them have any. */
function expectBuckets(all: Json[], { about, metric, bucket, tenantId }: Shown, start: number, end: number) {
  expect([about, all.map((each) => each.name)]).toEqual([about, namesOf(start, end, bucket)])
  for (const { at, name: slot, ...amounts } of all) {
    expect(name(Date.parse(at), bucket)).toBe(slot)
    const of = known.filter(({ atMs }) => atMs >= start && atMs < end && name(atMs, bucket) === slot)
    const ends = of.length === 0 ? start : Math.max(...of.map(({ atMs }) => atMs)) + 1
    const begins = of.length === 0 ? start : Math.min(...of.map(({ atMs }) => atMs))
    expect({ about, slot, ...amounts }).toEqual({ about, slot, ...sumOf(metric, begins, ends, tenantId) })
  }
  return all.filter(({ count }) => count > 0).length
}

test('every figure is the sum of its rows, in each bucket and in the period before', async () => {
  const admin = await signedIn(service, 'admin')
  const nowMs = Date.now()
  const metrics = [...SUMMED, ...OF_CARDS]
  let filled = 0
  for (const { back, bucket, comparison, from, to } of rangesAt(nowMs))
    for (const tenantId of [undefined, merchants[1], partnerId]) {
      const wanted = {
        metrics: metrics.join(','),
        bucket,
        comparison,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
      }
      const shown = await figuresOf(admin, { ...wanted, ...(tenantId && { tenantId }) })
      const until = Date.parse(shown.until)
      expect(until).toBeLessThanOrEqual(to)
      const past = { from: before(from, back), to: before(to, back), until: before(until, back) }
      expect({
        from: Date.parse(shown.compared.from),
        to: Date.parse(shown.compared.to),
        until: Date.parse(shown.compared.until),
      }).toEqual(past)
      for (const {
        basis: _,
        buckets,
        compared,
        metric,
        reasons,
        unit: __,
        ...sum
      } of shown.figures as Json[]) {
        const about = `${metric} by ${bucket} of ${tenantId}`
        expect({ about, ...sum }).toEqual({ about, ...sumOf(metric, from, until, tenantId) })
        expect({ about, ...compared, buckets: 0 }).toEqual({
          about,
          ...sumOf(metric, past.from, past.until, tenantId),
          buckets: 0,
        })
        const shownOf = { about, metric, bucket, tenantId }
        filled += expectBuckets(buckets, shownOf, from, until)
        filled += expectBuckets(compared.buckets, shownOf, past.from, past.to)
        if (reasons) expect(reasons.reduce((all: number, { count }: Json) => all + count, 0)).toBe(sum.count)
      }
      const kinds = new Set(
        tenantId === undefined
          ? metrics
          : metrics.filter((each) => sumOf(each, 0, nowMs, tenantId).count > 0),
      )
      expect(new Set(shown.figures.map(({ metric }: Json) => metric))).toEqual(kinds)
    }
  expect(filled).toBeGreaterThan(1_000)
})

test('balances are those of the ledger, and each role sees the figures that it may', async () => {
  const range = {
    from: new Date(Date.now() - HOUR_MS).toISOString(),
    to: new Date().toISOString(),
    metrics: METRICS.join(','),
  }
  const BOOKS = new Set<Metric>(['fees', 'bank', 'clearing'])
  for (const role of ROLES) {
    const { figures } = await figuresOf(await signedIn(service, role), range)
    const keepsBooks = permits(role, 'finance') || permits(role, 'verify')
    const seen = METRICS.filter((metric) => keepsBooks || !BOOKS.has(metric))
    expect([role, figures.map(({ metric }: Json) => metric)]).toEqual([role, seen])
  }
  const { figures } = await figuresOf(await signedIn(service, 'finance'), range)
  const balances = await asSuperuser(service.db.database, (db) =>
    db.query(
      `select kind, sum(balance)::int as balance from ledger_accounts where kind in ('payable', 'card_funding', 'bank') group by kind`,
    ),
  )
  const balanceOf = (kind: string) => balances.rows.find((row) => row.kind === kind)?.balance ?? 0
  const amountOf = (metric: Metric) => figures.find((each: Json) => each.metric === metric)?.amount
  expect([amountOf('owed'), amountOf('funding'), amountOf('bank')]).toEqual([
    balanceOf('payable'),
    balanceOf('card_funding'),
    -balanceOf('bank') + 0,
  ])
  expect(amountOf('funding')).toBe(1_000_000_00)
  expect(amountOf('coin_liability')).toBe(sumOf('coins_granted', 0, Date.now()).amount)
})

test('a range without an end, without rows and beyond the limits is rejected by name of the field', async () => {
  const viewer = await signedIn(service, 'viewer')
  const wrong = {
    to: { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z', metrics: 'payments' },
    bucket: { from: '2026-01-01T00:00:00Z', to: '2026-06-01T00:00:00Z', metrics: 'payments', bucket: 'hour' },
    metrics: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', metrics: 'payments,profit' },
  }
  for (const [field, wanted] of Object.entries(wrong)) {
    const { json, status } = await viewer.get(`/figures?${new URLSearchParams(wanted)}`)
    expect([field, status]).toEqual([field, 400])
    expect(JSON.stringify(json)).toContain(field)
  }
})

test('the merchants whose volume changed most come first, with what they took, gave back and are owed', async () => {
  const support = await signedIn(service, 'support')
  const to = Date.now()
  const from = to - 6 * DAY_MS
  const wanted = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), comparison: 'week' }
  const { json } = await support.get(`/movers?${new URLSearchParams(wanted)}`)
  const expected = merchants
    .map((merchantId) => {
      const { amount, count } = sumOf('payments', from, to, merchantId) as { amount: number; count: number }
      const earlier = sumOf('payments', from - 7 * DAY_MS, to - 7 * DAY_MS, merchantId).amount
      return {
        merchantId,
        amount,
        count,
        before: earlier,
        refunded: sumOf('refunds', from, to, merchantId).amount,
        owed: 0,
      }
    })
    .sort((a, b) => Math.abs(b.amount - b.before) - Math.abs(a.amount - a.before))
  expect(json.data).toEqual(expected.map((each) => ({ ...each, name: expect.any(String) })))
})

test('what waits comes by its deadline, then by age, with its sum, and only to those who may act on it', async () => {
  const finance = await signedIn(service, 'finance')
  const { items } = (await finance.get('/waiting')).json
  const [first] = items
  const all = sumOf('disputes', 0, Date.now())
  expect(first).toMatchObject({ item: 'disputes', count: all.count, amount: all.amount })
  // The dispute that is due first is the oldest one: each is due as long after it was opened.
  const oldest = Math.min(
    ...known.filter(({ metrics }) => metrics.disputes !== undefined).map(({ atMs }) => atMs),
  )
  expect(Date.parse(first.since)).toBe(oldest)
  expect(Date.parse(first.dueOn)).toBe(oldest + 400 * DAY_MS)
  const rest: Json[] = items.slice(1)
  expect(rest.map(({ item }) => item)).toContain('suspense')
  expect(rest.map(({ since }) => since)).toEqual(rest.map(({ since }) => since).toSorted())
  const itemsOf = async (role: (typeof ROLES)[number]) =>
    (await (await signedIn(service, role)).get('/waiting')).json.items.map(({ item }: Json) => item)
  expect(await itemsOf('viewer')).toEqual([])
  expect(await itemsOf('auditor')).toEqual([])
  expect(await itemsOf('support')).toEqual(['disputes'])
})

test('a dispute shows what else its payer paid to the merchant', async () => {
  const merchant = await service.newMerchant()
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  const pay = async (amount: number, payerVpa: string): Promise<string> =>
    payloadOf(await notifyCredit(service.client, creditOf(tr, { amount, payerVpa }))).paymentId
  const disputed = await pay(10, 'meena@bank')
  const other = await pay(20.25, 'meena@bank')
  await pay(30, 'meena@bank')
  await pay(40, 'ravi@bank')
  const disputeId = await newDispute(service, disputed)
  await newDispute(service, other)
  const { json } = await (await signedIn(service, 'viewer')).get(`/disputes/${disputeId}`)
  expect(json.ofPayer).toEqual({ days: 90, payments: 2, amount: '50.25', refunded: '0.00', disputes: 1 })
})
