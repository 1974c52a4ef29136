import { idFloor } from '@svc/contract/id-kinds'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { calendarDay } from '@svc/kernel/time'
import { expect, test } from 'vitest'
import { monthName } from '../../apps/console/src/words.ts'
import { makeMonthToClose } from '../harness/closed-month.ts'
import { signedIn } from '../harness/console.ts'
import { newDispute } from '../harness/disputes.ts'
import { payAt } from '../harness/invoices.ts'
import { operatorsOf } from '../harness/operators.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser } from '../harness/service.ts'
import type { Bed } from './bed.ts'
import { newShop, pay, strayCredit } from './money-world.ts'
import { at, fromOverview, type Person } from './person.ts'

const DAY_MS = 86_400_000
const dayOf = (daysLater: number): string =>
  calendarDay(new Date(Date.now() + daysLater * DAY_MS), 'Asia/Kolkata')

/** Drops a file, which is one action. */
async function drop(me: Person, name: string, lines: readonly string[]): Promise<void> {
  me.actions += 1
  const buffer = Buffer.from(`${lines.join('\n')}\n`)
  await me.page.getByLabel('Choose files of the bank').setInputFiles({ name, mimeType: 'text/csv', buffer })
}

/** A payment that the bank has not settled for days. */
const leaveUnsettled = ({ service, world }: Bed): Promise<unknown> =>
  asSuperuser(service.db.database, (db) => {
    const at = new Date(Date.now() - 6 * DAY_MS)
    return db.query(
      `insert into payments (payment_id, merchant_id, utr, tr, amount_paise, payer_vpa, status, created_at)
       values ($1, $2, $3, '', 4200, 'late@bank', 'ACCEPTED', $4)`,
      [idFloor('pay', at).padEnd(30, '0'), world.merchantId, newUtr(), at],
    )
  })

export function tasksOfBankFiles(bed: Bed): void {
  test('task 17: a settlement file is read, its five differences are handled where they stand, and it is posted', async () => {
    await leaveUnsettled(bed)
    const { tr } = await newShop(bed.service, 'Settled Stores')
    const lines: string[] = []
    for (const amount of [101, 102, 103, 104, 105]) {
      const credit = creditOf(tr, { utr: newUtr(), amount })
      await notifyCredit(bed.service.client, credit)
      lines.push(`TASKSUTR0017,${dayOf(0)},520.00,payment,${credit.utr},${amount + 1}.00,${dayOf(0)}`)
    }
    const me = await at(bed, 'finance')
    await me.click(me.link(/settlement files? missing/))
    const heading = 'batchUtr,valueDate,netAmount,kind,reference,amount,date'
    await drop(me, 'settlement-17.csv', [heading, ...lines])
    const take = me.page.getByRole('table', { name: 'Does not fit' }).getByRole('button', { name: /^Take ₹/ })
    await expect.poll(() => take.count()).toBe(5)
    const reading = me.took()
    for (let left = 4; left >= 0; left--) {
      await me.click(take.first())
      await me.click(me.inDialog('Correct the payment'))
      await expect.poll(() => take.count()).toBe(left)
    }
    expect(me.took()).toBeLessThanOrEqual(10)
    await me.click(me.button(/^Post ₹/))
    await me.click(me.inDialog('Post it'))
    await me.page.getByText('Posted: ₹520.00').waitFor()
    expect(reading + me.took()).toBeLessThanOrEqual(4)
  })
}

export function tasksOfPayouts(bed: Bed): void {
  test('task 18: payouts are prepared, approved by a second person, sent in a file, and paid by the bank’s response', async () => {
    const shop = await newShop(bed.service, 'Payday Stores')
    const utr = newUtr()
    await payAt(bed.service, shop, 1_234, `${dayOf(-1)}T10:00:00+05:30`, utr)
    const asha = await signedIn(bed.service, 'finance')
    const settled = `utr,amount,date\n${utr},1234.00,${dayOf(-1)}\n`
    expect((await asha.post('/settlements', Buffer.from(settled))).json).toMatchObject({ matched: 1 })
    const me = await at(bed, 'finance')
    await me.click(me.link('All payouts'))
    await me.click(me.button('Prepare payouts'))
    await me.click(me.inDialog('Prepare'))
    await me.click(
      me.page.getByRole('dialog', { name: 'Prepared' }).getByRole('link', { name: 'File for the bank' }),
    )
    const [payout] = await asSuperuser(bed.service.db.database, async (db) => {
      const { rows } = await db.query<{ id: string; amount: string }>(
        `select payout_id as id, (amount_paise / 100.0)::numeric(20, 2)::text as amount from payouts where merchant_id = $1`,
        [shop.merchantId],
      )
      return rows
    })
    const second = await at(bed, 'finance')
    await second.pasteAndEnter(payout!.id)
    await second.click(second.button('Approve'))
    await second.type(second.field(`Type ${payout!.amount} to confirm`), payout!.amount)
    await second.click(second.inDialog('Approve payout'))
    await second.page.getByRole('main').getByText('Approved', { exact: true }).first().waitFor()
    expect(second.took()).toBeLessThanOrEqual(5)
    const make = me.button(/^Make a file of ₹/)
    await make.waitFor()
    await me.click(make)
    const sent = await me.download(me.inDialog('Make it'))
    expect(sent.text).toContain(payout!.id)
    await drop(me, 'response-18.csv', ['payoutId,status,utr', `${payout!.id},PAID,TASKSUTR0018`])
    await me.click(me.button('Record 1 response'))
    await me.click(me.inDialog('Record'))
    await me.page.getByText('Recorded: 1 response').waitFor()
    expect(me.took()).toBeLessThanOrEqual(9)
    await me.pasteAndEnter(payout!.id)
    await me.page.getByRole('main').getByText('Paid', { exact: true }).first().waitFor()
  })
}

export function tasksOfUnmatched(bed: Bed): void {
  test('task 20: evidence of a dispute is sent to the bank', async () => {
    const shop = await shopWith(bed.service, 5_000)
    const disputeId = await newDispute(bed.service, shop.paymentId, { amount: 4_321 })
    const evidence = { evidence: 'Delivered, and signed for by the payer.' }
    expect((await shop.client.post(`/api/v0/disputes/${disputeId}/evidence`, evidence)).status).toBe(200)
    const me = await at(bed, 'finance')
    await me.click(me.link(/disputes? to send/))
    await me.click(me.page.getByRole('row', { name: '4,321.00' }).getByRole('link').first())
    await me.click(me.button('Send evidence to the bank…'))
    await me.download(me.inDialog('Mark as sent and download'))
    await me.page.getByText('Evidence sent: the network decides').waitFor()
    expect(me.took()).toBeLessThanOrEqual(4)
  })

  test('task 21: support finds a payment by its amount and hour', async () => {
    const { tr } = await newShop(bed.service, 'Hourly Stores')
    const early = await pay(bed.service, tr, 517.31)
    const now = await pay(bed.service, tr, 517.31)
    await asSuperuser(bed.service.db.database, (db) =>
      db.query(`update payments set created_at = created_at - interval '5 hours' where payment_id = $1`, [
        early,
      ]),
    )
    const me = await at(bed, 'support')
    const hour = (hoursBefore: number) =>
      new Date(Date.now() - hoursBefore * 3_600_000).toLocaleTimeString('en-US', {
        timeZone: 'Asia/Kolkata',
        hour: 'numeric',
        minute: '2-digit',
      })
    for (const [id, hoursBefore] of [
      [early, 5],
      [now, 0],
    ] as const) {
      await me.pasteAndEnter(`517.31 ${hour(hoursBefore)}`.replace(/\s/g, ' '))
      await me.page.waitForURL(`**/payments/${id}`)
      await me.page.getByRole('heading', { level: 1, name: /^Payment / }).waitFor()
      expect(me.took()).toBeLessThanOrEqual(3)
      await fromOverview(me)
    }
  })
}

export function tasksOfAssignments(bed: Bed): void {
  test('task 22: a credit that went to the wrong shop is taken back, and goes to the right one of those it may be of', async () => {
    const wrong = await newShop(bed.service, 'Wrong Stores')
    const merchant = await bed.service.newMerchant({ name: 'Right Stores' })
    await newCode(bed.service, await bed.service.as(merchant), { amount: 642.5 })
    const { paymentId, utr } = await strayCredit(bed.service, 642.5)
    await operatorsOf(bed.service.app.services.commands)
      .open(resolveSuspense)
      .run({ tenantId: 'house', paymentId, merchantId: wrong.merchantId, reason: 'by mistake' })
    const me = await at(bed, 'finance')
    await me.pasteAndEnter(utr)
    expect(me.took()).toBe(2)
    await me.click(me.button('Take the assignment back'))
    await me.type(me.field('Reason'), 'of another shop')
    await me.click(me.inDialog('Take it back'))
    const assign = me.button('Assign to a merchant')
    await assign.waitFor()
    expect(me.took()).toBeLessThanOrEqual(3)
    await me.click(assign)
    await me.click(me.field('Right Stores'))
    await me.type(me.field('Reason'), 'its code has this amount')
    await me.click(me.inDialog('Assign'))
    await me.page.getByRole('main').getByRole('link', { name: 'Right Stores' }).first().waitFor()
    expect(me.took()).toBeLessThanOrEqual(4)
  })
}

export function taskOfClosing(bed: Bed): void {
  test('task 19: a month is closed: two items are mended, two people sign despite a third, and it verifies', async () => {
    const { service } = bed
    const of = await makeMonthToClose(service)
    const asha = await signedIn(service, 'finance')
    await asha.post('/settlements', of.settlementFile)
    await asha.post(`/bank-accounts/${of.bankAccountId}/statements`, of.statementFile)
    const [line] = (await asha.get('/statement-lines?reference=CHEQUE000077')).json.data
    const { data } = (await asha.get(`/statement-lines/${line.lineId}/candidates`)).json
    const match = { documentId: data[0].documentId, reason: 'by letter of the bank' }
    await asha.post(`/statement-lines/${line.lineId}/match`, match)
    await asSuperuser(service.db.database, async (db) => {
      await db.query('update approval_limit set above_paise = 100000')
      await db.query(`update settlement_lines set recorded_at = now() - interval '8 days' where utr = $1`, [
        of.strayUtr,
      ])
    })
    const [me, second] = [await at(bed, 'finance'), await at(bed, 'finance')]
    const month = monthName(of.through)
    const signs = async (person: Person) => {
      await person.click(person.button(`Close ${month} all the same`))
      await person.type(person.field('Reason'), 'the bank looks for the line')
      await person.click(person.inDialog(`Close ${month}`))
    }
    await me.click(me.link(/months? to close/))
    await me.click(me.link(month))
    await me.click(me.button('Enter the fees'))
    await me.click(me.link('Issue invoices'))
    await me.click(me.button('Issue the invoices'))
    await me.click(me.inDialog(`Issue those of ${month}`))
    await me.page.getByRole('dialog').waitFor({ state: 'detached' })
    await me.click(me.page.getByRole('tab', { name: 'Checklist' }))
    await me.page.getByText('6 of 7 done').waitFor()
    await signs(me)
    await me.page.getByText('A second person is needed').first().waitFor()
    await second.click(second.link(/months? to close/))
    await second.click(second.link(month))
    await signs(second)
    await second.page.getByRole('heading', { level: 2, name: 'Closed' }).waitFor()
    expect(second.took()).toBeLessThanOrEqual(5)
    await me.click(me.page.getByRole('navigation', { name: 'Way back' }).getByRole('link', { name: 'Close' }))
    await me.click(me.button('Verify what was signed'))
    await me.page.getByText('The books are as they were signed').waitFor()
    expect(me.took()).toBeLessThanOrEqual(14)
  })
}
