import { type ClosePeriod, closePeriod, endOfPeriod } from '@svc/core/ledger/closing'
import { hashOf } from '@svc/core/ledger/closing-statement'
import { calendarDay } from '@svc/kernel/time'
import { signed } from '@svc/platform/crypto/signed'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const DAY_MS = 86_400_000
const ZONE = 'Asia/Kolkata'

let service: TestService
beforeAll(async () => {
  service = await openService({ background: false, env: { APPROVAL_ABOVE_RUPEES: '1000' } })
})
afterAll(() => service.close())

const start = Date.now()
/** The same for all tests: a day may end between two. */
const daysAgo = (days: number) => calendarDay(new Date(start - days * DAY_MS), ZONE)

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query<Row>(text, values)).rows)

const books = async (...args: string[]) => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, APPROVAL_ABOVE_RUPEES: '1000' }
  const { code, stdout, stderr } = await runHere(['admin', 'books', ...args, '--json'], env)
  return { code, stderr, out: stdout === '' ? undefined : JSON.parse(stdout) }
}

/** A payment that is effective so many days ago; `entered`: also entered then, else now. */
async function pay(amount: number, days: number, entered = days): Promise<string> {
  const tenant = await service.as(await service.newMerchant())
  const { tr } = await newCode(service, tenant, { multipleUse: true })
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount })))
  const [row] = await sql<{ journal_id: string }>(
    `update ledger_transfers set created_at = now() - $2 * interval '1 day' where object_id = $1 returning journal_id`,
    [paymentId, entered],
  )
  await sql('update journals set effective_date = $2 where journal_id = $1', [row!.journal_id, daysAgo(days)])
  return row!.journal_id
}

const statedIn = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString('utf8'))
const results = async () =>
  (await books('verify')).out.map(({ problem }: { problem?: string }) => problem ?? 'as signed') as string[]
const clearing = (totals: { kind: string; debit: string }[]) =>
  totals.find(({ kind }) => kind === 'upi_clearing')?.debit

test('what was signed by the first version of the text still verifies, and the next closing names it', async () => {
  const { database, keyring } = service.app.services
  const through = daysAgo(9)
  const until = endOfPeriod(through, ZONE)
  const text = signed(keyring, 'svc-closing', {
    through,
    until: until.toISOString(),
    totals: [],
    entries: '0',
  })
  await database.operate((tx) =>
    tx.query(
      {
        name: 'first_version',
        text: `insert into book_closings (through, until, closed_at, closed_by, signed) values ($1, $2, now(), 'asha', $3)`,
      },
      [through, until, text],
    ),
  )
  await pay(100, 6)
  const { code, stderr } = await books('close', '--through', daysAgo(5))
  expect(code, stderr).toBe(0)
  const [closed] = (await books('closings')).out
  expect(statedIn(closed.signed)).toMatchObject({
    version: 2,
    previous: hashOf(text),
    entries: '1',
    despite: null,
  })
  expect(await results()).toEqual(['as signed', 'as signed'])
})

test('later entries of a closed period are listed, and with them today’s books by effective date are what was signed', async () => {
  const [closing] = (await books('closings')).out
  const { effective, entered } = statedIn(closing.signed)
  expect([clearing(entered), clearing(effective)]).toEqual(['10000', '10000'])
  const late = await pay(25, 6, 0)
  await pay(7, 1, 0)
  expect((await books('prior-period', '--through', daysAgo(5))).out).toMatchObject([
    { journalId: late, kind: 'upi_credit', effectiveDate: daysAgo(6), amount: '25.00' },
  ])
  const { out } = await books('trial-balance', '--effective-through', daysAgo(5))
  expect(clearing(out)).toBe('125.00')
  expect(await results()).toEqual(['as signed', 'as signed'])
  expect(await books('prior-period', '--through', daysAgo(8))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/"code":"book_closing_not_found","message":"No period ends/),
  })
})

test('an entry that is moved into or out of a closed period by its effective date is detected', async () => {
  const moved = (from: number, to: number) =>
    sql('update journals set effective_date = $2 where effective_date = $1', [daysAgo(from), daysAgo(to)])
  await moved(6, 0)
  expect((await results())[0]).toContain('by effective date the total of')
  await moved(0, 6)
  expect(await results()).toEqual(['as signed', 'as signed'])
})

test('what is not in order is named; it is closed for a reason and, where postings need two people, by two', async () => {
  await sql(
    `insert into settlement_batches (tenant_id, batch_id, rail, batch_utr, value_date, net_paise, is_awaited, status,
       created_at) values ('house', 'stb_1', 'upi', 'HDFCN1', $1, null, true, 'INCOMPLETE', now())`,
    [daysAgo(4)],
  )
  const through = daysAgo(3)
  const check = await books('close', '--through', through, '--check')
  expect(check.code).toBe(1)
  expect(check.out.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([
    { item: 'batches', ok: false, count: 1, detail: expect.stringContaining('1 batch is incomplete') },
  ])
  expect(check.out.map(({ item }: { item: string }) => item)).toEqual(
    expect.arrayContaining(['accrued', 'batches', 'statements', 'proof', 'old_lines', 'reconciled']),
  )
  expect((await books('close', '--through', through)).stderr).toContain('batches')
  const { database, keyring } = service.app.services
  const close = (by: string, despite: string) => {
    const requested: ClosePeriod = { through, by, despite, open: ['batches'], timeZone: ZONE }
    return database.operate((tx) => closePeriod(tx, keyring, requested))
  }
  const first = { through, requestedBy: 'operator asha', isRequested: true }
  expect(await close('operator asha', 'the bank is late')).toEqual(first)
  expect(await close('operator asha', 'the bank is late')).toEqual(first)
  await expect(close('operator ravi', 'something else')).rejects.toMatchObject({ code: 'period_not_ready' })
  const alone = sql(
    `insert into book_closings (through, until, closed_at, closed_by, despite, requested_by, signed)
     values ($1, $2, now(), 'operator asha', 'the bank is late', 'operator asha', 'x')`,
    [through, endOfPeriod(through, ZONE)],
  )
  await expect(alone).rejects.toMatchObject({ constraint: 'closings_despite_are_approved' })
  const closed = await close('operator ravi', 'the bank is late')
  expect(closed).toMatchObject({ closedBy: 'operator ravi', requestedBy: 'operator asha' })
  expect(statedIn((closed as { signed: string }).signed)).toMatchObject({ despite: 'the bank is late' })
  expect(await results()).toEqual(['as signed', 'as signed', 'as signed'])
})

test('of two closed periods, what was signed by effective date with the later entries of each is what the books say today', async () => {
  const late = [await pay(40, 7, 0), await pay(11, 4, 0)]
  const { out: closings } = await books('closings')
  const listed: number[] = []
  for (const through of [daysAgo(5), daysAgo(3)]) {
    const { signed: text } = closings.find((closing: { through: string }) => closing.through === through)
    const { out: items } = await books('prior-period', '--through', through)
    const ids: string[] = items.map(({ journalId }: { journalId: string }) => journalId)
    const moved = await sql<Total>(
      `select split_part(s.account, ':', 1) as kind, sum(s.debit)::text as debit, '0' as credit
       from ledger_transfers t cross join lateral (values (t.debit_account_id, t.amount), (t.credit_account_id, - t.amount)) s (account, debit)
       where t.journal_id = any ($1) group by 1`,
      [ids],
    )
    const { out: today } = await books('trial-balance', '--effective-through', through)
    expect(netOf([...statedIn(text).effective, ...moved])).toEqual(netOf(today.map(inPaise)))
    listed.push(late.filter((id) => ids.includes(id)).length)
  }
  expect(listed).toEqual([1, 2])
  expect(await results()).toEqual(['as signed', 'as signed', 'as signed'])
})

interface Total {
  readonly kind: string
  readonly debit: string
  readonly credit: string
}
const inPaise = ({ kind, debit, credit }: Total): Total => ({
  kind,
  debit: String(Math.round(Number(debit) * 100)),
  credit: String(Math.round(Number(credit) * 100)),
})
/** By kind of account, debits less credits; without what is nothing. */
function netOf(totals: readonly Total[]): Record<string, number> {
  const net: Record<string, number> = {}
  for (const { kind, debit, credit } of totals) net[kind] = (net[kind] ?? 0) + Number(debit) - Number(credit)
  return Object.fromEntries(Object.entries(net).filter(([, amount]) => amount !== 0))
}
