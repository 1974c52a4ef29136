import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monthBefore } from '@svc/console-api/issue-invoices'
import { financialYear } from '@svc/core/payments/fees/gst'
import { moveOwnFunds } from '@svc/core/payments/own-funds/move-own-funds'
import { takeBackOwnFunds } from '@svc/core/payments/own-funds/take-back-own-funds'
import { formatRupees, paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newReference, openApprovers, sqlOn } from '../harness/approvals.ts'
import { adminCli } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { issueMonth, newBilled, SUPPLIER } from '../harness/invoices.ts'
import { operatorsOf } from '../harness/operators.ts'
import { chargedBy, earnedBy, stateLines } from '../harness/own-funds.ts'
import { brokenIn } from '../harness/refunds.ts'
import type { TestService } from '../harness/service.ts'

/** More than what one person moves here. */
const LIMIT = { APPROVAL_ABOVE_RUPEES: '20000' }
const today = calendarDay(new Date(), 'Asia/Kolkata')
const month = monthBefore(today)

let service: TestService
let other: TestService
let ravi: Browser
let folder: string
beforeAll(async () => {
  ;({ service, other, ravi } = await openApprovers({ ...SUPPLIER, ...LIMIT }))
  folder = await mkdtemp(join(tmpdir(), 'svc-own-funds-back-'))
})
afterAll(async () => {
  await other?.close()
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const sql = <T = Json>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const { svc, done } = adminCli(() => service, { ...SUPPLIER, ...LIMIT })
const why = ['--reason', 'by letter']
const enter = (args: readonly string[], reference: string) => svc(...args, '--reference', reference, ...why)
const undo = (reference: string) => svc('books', 'undo', reference, '--reason', 'entered wrongly')
const owner = (amount: string, ...more: string[]) => ['books', 'pay', 'owner', '--amount', amount, ...more]

/** Every account that has something, of all tenants. */
const accounts = () =>
  sql('select account_id as id, balance::text from ledger_accounts where balance <> 0 order by 1')
async function ok(run: ReturnType<typeof svc>): Promise<Json> {
  const { code, out, stderr } = await run
  expect(code, stderr).toBe(0)
  return out
}
async function refused(reference: string, code: string, saying = ''): Promise<void> {
  const before = await accounts()
  const { code: exit, stderr } = await undo(reference)
  expect(exit).not.toBe(0)
  expect(stderr).toContain(code)
  expect(stderr).toContain(saying)
  expect(await accounts()).toEqual(before)
}

test('what a movement brought that is not there any more is not taken back before what moved it on', async () => {
  const [capital, drawing] = [newReference(), newReference()]
  await ok(enter(owner('100.00', '--capital'), capital))
  await ok(enter(owner('60.00'), drawing))
  await refused(capital, 'own_funds_spent', 'has 40.00, and this takes 100.00 out of it')
  await ok(undo(drawing))
  await ok(undo(capital))
  const escrow = newReference()
  await ok(enter(['books', 'pay', 'escrow', '--amount', '5.00'], escrow))
  await chargedBy(service, today)
  await refused(escrow, 'own_funds_spent', 'has 3.82, and this takes 5.00 out of it')
  await refused('UNKNOWN00001', 'own_funds_not_found')
  expect(await brokenIn(service)).toEqual([])
})

test('each kind of movement that was taken back has moved nothing in any books, and its reference enters it again', async () => {
  await ok(enter(owner('500.00', '--capital'), newReference()))
  const near = await newBilled(service, '29')
  await earnedBy(service, near, 1_000, month, today)
  await earnedBy(service, await newBilled(service, '07'), 500, month, today)
  await issueMonth(service, month, undefined, new Date())
  const quarter = ['--quarter', `20${financialYear(month)}-Q1`, '--amount', '2.00', '--date', today]
  await done('tax', 'tds', near.merchantId, '--certificate', 'QWERTYA', ...quarter, ...why)
  const [due] = await sql<Record<string, string>>(
    'select sum(cgst_paise) as cgst, sum(sgst_paise) as sgst, sum(igst_paise) as igst from tax_documents',
  )
  const taxes = Object.entries(due!).flatMap(([name, amount]) => {
    const credit = name === 'cgst' ? 18n : 0n
    return [`--${name}`, `${formatRupees(BigInt(amount) - credit)}+${formatRupees(credit)}`]
  })
  const kinds: Record<string, readonly string[]> = {
    SWEEP: ['books', 'sweep', '--through', today],
    GST: ['books', 'pay', 'gst', '--month', month, ...taxes],
    OWNER: owner('20.00'),
    CAPITAL: owner('30.00', '--capital'),
    ESCROW: ['books', 'pay', 'escrow', '--amount', '4.00'],
    TDS: ['tax', 'tds-refund', '--amount', '1.50'],
  }
  for (const [kind, args] of Object.entries(kinds)) {
    const reference = newReference()
    const before = await accounts()
    const first = await ok(enter(args, reference))
    expect(first).toMatchObject({ kind, reversedBy: null, isRepeat: false })
    const moved = await accounts()
    expect(moved, kind).not.toEqual(before)
    const taken = await ok(undo(reference))
    expect(taken).toMatchObject({ kind, movementId: first.movementId, reference, isRepeat: false })
    expect(await accounts(), kind).toEqual(before)
    expect(await ok(undo(reference))).toEqual({ ...taken, isRepeat: true })
    const again = await ok(enter(args, reference))
    expect(again).toMatchObject({ kind, ownFunds: first.ownFunds, escrow: first.escrow, isRepeat: false })
    expect(again.shares).toEqual(first.shares)
    expect(again.movementId).not.toBe(first.movementId)
    expect(await accounts(), kind).toEqual(moved)
    const journals = await sql(
      `select j.journal_id as id, j.reference, j.reverses, j.effective_date::text as day from journals j
       where j.tenant_id = 'house' and j.kind not like '%shared' and (j.reference like $1 or j.journal_id = $2) order by j.at`,
      [`${reference}%`, taken.reversedBy],
    )
    expect(journals).toEqual([
      { id: first.journalId, reference, reverses: null, day: today },
      { id: taken.reversedBy, reference: null, reverses: first.journalId, day: today },
      { id: again.journalId, reference: `${reference}~2`, reverses: null, day: today },
    ])
    expect(await brokenIn(service), kind).toEqual([])
  }
})

test('taken back at the same time by several processes, a movement is taken back once', async () => {
  const reference = newReference()
  await ok(enter(owner('10.00', '--capital'), reference))
  const before = await accounts()
  const outcomes = await Promise.allSettled(
    [service, other, service, other].map((on) =>
      operatorsOf(on.app.services.commands).open(takeBackOwnFunds).run({ reference, reason: 'twice' }),
    ),
  )
  const taken = outcomes.flatMap((each) =>
    each.status === 'fulfilled' && 'journals' in each.value ? each.value.journals : [],
  )
  expect(taken).toHaveLength(1)
  for (const each of outcomes) if (each.status === 'rejected') throw each.reason
  expect(await accounts()).not.toEqual(before)
  // What is reckoned meanwhile is reckoned again.
  const run = () =>
    operatorsOf(other.app.services.commands)
      .open(moveOwnFunds)
      .run({ kind: 'CAPITAL', reference, amountPaise: paise(1_000n), reason: 'again' })
  const entered = await Promise.allSettled([run(), run()])
  expect(entered.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
  expect(await accounts()).toEqual(before)
  expect(await brokenIn(service)).toEqual([])
})

test('a movement that a bank statement shows stays until its line has no match, and no line is matched with one taken back', async () => {
  const reference = newReference()
  const capital = owner('70.00', '--capital')
  const first = await ok(enter(capital, reference))
  const lines = [{ date: today, reference, paise: 7_000 }]
  expect(await stateLines(done, folder, { purpose: 'own_funds', from: today, lines })).toMatchObject({
    matched: 1,
  })
  const [line] = await sql<{ id: string }>(
    'select line_id as id from statement_lines where document_id = $1',
    [first.movementId],
  )
  await refused(reference, 'own_funds_confirmed', `svc admin statement unmatch ${line!.id}`)
  await done('statement', 'unmatch', line!.id, ...why)
  await ok(undo(reference))
  const match = (id: string) => svc('statement', 'match', line!.id, '--to', id, ...why)
  for (const id of [first.movementId, first.journalId])
    expect((await match(id)).stderr).toContain('movement_not_found')
  const again = await ok(enter(capital, reference))
  expect(await ok(match(again.movementId))).toMatchObject({ status: 'MATCHED' })
  expect(await brokenIn(service)).toEqual([])
})

test('a movement with shares in the books of tenants of another cell stays', async () => {
  const reference = newReference()
  const { movementId } = await ok(enter(owner('10.00', '--capital'), reference))
  const move = (amount: number) =>
    sql('update own_funds_movements set moved_paise = $2 where movement_id = $1', [movementId, amount])
  await move(1)
  await refused(reference, 'own_funds_elsewhere')
  await move(0)
  await ok(undo(reference))
})

test('above the limit a second person approves that a movement is taken back, and the database asks for all of it', async () => {
  const reference = newReference()
  const capital = owner('50000.00', '--capital')
  const asked = await ok(enter(capital, reference))
  expect((await ravi.post(`/approvals/${asked.approvalId}/approve`, {})).status).toBe(200)
  const { journalId } = await ok(enter(capital, reference))
  const before = await accounts()
  const waiting = await ok(undo(reference))
  expect(waiting).toMatchObject({ kind: 'own_funds_taken_back', status: 'PENDING', amount: '50000.00' })
  expect(await accounts()).toEqual(before)
  expect((await ravi.post(`/approvals/${waiting.approvalId}/approve`, {})).status).toBe(200)
  expect(await ok(undo(reference))).toMatchObject({ kind: 'CAPITAL', reference, isRepeat: true })
  expect(await accounts()).not.toEqual(before)
  const again = await ok(enter(capital, reference))
  expect(again).toMatchObject({ kind: 'owner_paid', status: 'PENDING', reference })
  expect((await ravi.post(`/approvals/${again.approvalId}/approve`, {})).status).toBe(200)
  expect(await accounts()).toEqual(before)
  const forged = `with j as (
      insert into svc.journals (tenant_id, journal_id, kind, effective_date, reverses, legs, at)
      select 'house', 'jrn_forged', 'own_funds_taken_back', current_date, m.journal_id, 1, clock_timestamp()
      from svc.own_funds_movements m where m.reversed_by is null limit 1 returning 1)
    insert into svc.ledger_transfers select 'trf_forged', 'house', 'jrn_forged', 1, 'own_funds_taken_back', 'owner_equity:house',
      'own_funds:house', 1, 'INR', 'ofm_forged', clock_timestamp() from j`
  await expect(
    service.app.services.database.operate((tx) => tx.query(statement('forged_taking_back', forged))),
  ).rejects.toMatchObject({ constraint: expect.stringMatching(/postings_are_counted|own_funds_are_/) })
  const reversed = await done('journal', 'reverse', journalId, '--reason', 'no')
  expect(reversed).toMatchObject({ kind: 'own_funds_taken_back', reverses: journalId })
  expect(await brokenIn(service)).toEqual([])
})
