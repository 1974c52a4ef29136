import { calendarDay } from '@svc/kernel/time'
import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { preparePayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'
import type { Bed } from './bed.ts'
import { newShop, pay } from './money-world.ts'
import { at, fromOverview, Person } from './person.ts'
import { memberOf } from './portal.ts'

export function tasksOfSupport(bed: Bed): void {
  test('tasks 1 to 4: support finds the cause of a failure, finds and locks a card, and reads one timeline', async () => {
    const { qrCodeId, refusedSpendId } = bed.world
    const me = await at(bed, 'support')
    await me.pasteAndEnter(refusedSpendId)
    await me.page.getByRole('alert').filter({ hasText: 'What helps: ' }).waitFor()
    expect(me.took()).toBeLessThanOrEqual(2)

    const partner = await newPartner(bed.service, {})
    const holder = { email: 'task.three@example.com', mobile: '9123409876', firstName: 'Task' }
    const card = payloadOf(await createCard(await asPartner(bed.service.client, partner), partner, holder))
    const number: string = card.maskedNumber
    for (const known of [number.slice(-4), '+91 91234 09876', holder.email]) {
      await fromOverview(me)
      await me.pasteAndEnter(known)
      await me.page.getByText(number).first().waitFor()
      expect(me.took()).toBeLessThanOrEqual(3)
    }
    await me.click(me.page.getByRole('table', { name: 'Cards' }).getByRole('link', { name: number }))
    await me.click(me.button('Lock'))
    await me.type(me.field('Reason'), 'the holder lost it')
    await me.click(me.inDialog('Lock card'))
    await me.button('Unlock').waitFor()
    expect(me.took()).toBeLessThanOrEqual(4)
    await me.click(me.page.getByRole('link', { name: 'Audit' }).last())
    await me.page.getByRole('row', { name: 'card.status_changed' }).getByText(`operator ${me.name}`).waitFor()
    expect(me.took()).toBeLessThanOrEqual(1)

    await fromOverview(me)
    await me.pasteAndEnter(qrCodeId)
    const inAll = me.page.locator('dl > div').filter({ hasText: 'In all' })
    await inAll.getByText('1 payment').waitFor()
    await me.page.getByText('Payment: Accepted in a day').waitFor()
    expect(me.took()).toBeLessThanOrEqual(2)
  })
}

const DAY_MS = 86_400_000
const dayOf = (daysLater: number): string =>
  calendarDay(new Date(Date.now() + daysLater * DAY_MS), 'Asia/Kolkata')

/** One payout of yesterday, beside those of today. */
async function settledYesterday({ service }: Bed) {
  const [first, second] = [await newShop(service, 'First Stores'), await newShop(service, 'Second Stores')]
  for (const { tr } of [first, second]) await pay(service, tr, 250)
  await preparePayoutOf(service, first.merchantId)
  const payoutId = await preparePayoutOf(service, second.merchantId)
  const yesterday = dayOf(-1)
  await asSuperuser(service.db.database, (db) =>
    db.query('update payouts set business_day = $1 where payout_id = $2', [yesterday, payoutId]),
  )
  return { payoutId, yesterday }
}

export function tasksOfFinance(bed: Bed): void {
  test('tasks 5 to 7: finance finds a payment, refunds half of it, and enters a pay-in once', async () => {
    const { accountName, utr } = bed.world
    const me = await at(bed, 'finance')
    await me.pasteAndEnter(utr.toLowerCase())
    await me.page.getByRole('heading', { level: 1, name: `Payment ${utr}` }).waitFor()
    expect(me.took()).toBeLessThanOrEqual(2)
    await me.click(me.button('Refund'))
    await me.type(me.field('Amount in rupees'), '49999.75')
    await me.page.getByText('forty-nine thousand nine hundred ninety-nine rupees', { exact: false }).waitFor()
    await me.type(me.field('Reason'), 'half of the goods came back')
    await me.click(me.inDialog('Refund'))
    await me.page
      .getByRole('row', { name: `${utr}-2` })
      .getByText('Refunded')
      .waitFor()
    expect(me.took()).toBeLessThanOrEqual(5)

    await fromOverview(me)
    await me.click(me.link('Card accounts'))
    const row = me.page.getByRole('row', { name: accountName })
    const enter = async (amount: string) => {
      await me.click(row.getByRole('button', { name: /^Fund/ }))
      await me.type(me.field('Amount in rupees'), amount)
      await me.type(me.field('Bank reference'), 'TASKS00000007')
      await me.type(me.field('Reason'), 'pay-in of the day')
      await me.click(me.inDialog('Enter the money'))
    }
    await enter('5000')
    await me.page.getByText(/^Entered\. The balance is/).waitFor()
    expect(me.took()).toBeLessThanOrEqual(6)
    await enter('5001')
    await me.page.getByRole('dialog').getByText('funding_reference_used').waitFor({ state: 'attached' })
  })

  test('task 8: a journal is reversed by two people', async () => {
    const { database } = bed.service.db
    const [me, second] = [await at(bed, 'finance'), await at(bed, 'finance')]
    await me.place('Cards', 'Card accounts')
    await me.click(
      me.page.getByRole('row', { name: bed.world.accountName }).getByRole('button', { name: /^Fund/ }),
    )
    await me.type(me.field('Amount in rupees'), '4321')
    await me.type(me.field('Bank reference'), 'TASKS00000008')
    await me.type(me.field('Reason'), 'for the wrong partner')
    await me.click(me.inDialog('Enter the money'))
    await me.page.getByText(/^Entered\. The balance is/).waitFor()
    const [journal] = await asSuperuser(database, async (db) => {
      await db.query(`update approval_limit set above_paise = 100000`)
      const { rows } = await db.query<{ id: string }>(
        `select journal_id as id from journals where kind = 'card_funding' and reference = 'TASKS00000008'`,
      )
      return rows
    })
    try {
      await fromOverview(me)
      await me.pasteAndEnter(journal!.id)
      await me.click(me.button('Reverse'))
      await me.type(me.field('Reason'), 'of another partner')
      await me.click(me.page.getByRole('dialog').getByRole('button').last())
      await me.page
        .getByText(/waits for a second person|approv/i)
        .first()
        .waitFor()
      expect(me.took()).toBeLessThanOrEqual(5)
      await fromOverview(second)
      await second.click(second.button('Approve').first())
      await second.page.getByText('(four thousand three hundred twenty-one rupees)').waitFor()
      await second.click(second.inDialog('Approve and post'))
      await second.page.getByText(/posted\.$/).waitFor()
      expect(second.took()).toBeLessThanOrEqual(2)
    } finally {
      await asSuperuser(database, (db) => db.query('update approval_limit set above_paise = null'))
    }
  })
}

export function tasksOfReports(bed: Bed): void {
  test('tasks 9 and 10: today against yesterday, the settlement as CSV and PDF, the trial balance of last month', async () => {
    const me = await at(bed, 'finance')
    await me.click(me.link('Status'))
    const compared = me.page.getByRole('table', { name: 'Compared' })
    for (const day of ['Today', 'Yesterday'])
      await compared.getByRole('columnheader', { name: day, exact: true }).waitFor()
    await compared.getByRole('row', { name: 'Amount of these payments' }).getByText('₹').first().waitFor()
    expect(me.took()).toBeLessThanOrEqual(1)
    const { payoutId, yesterday } = await settledYesterday(bed)
    await fromOverview(me)
    await me.click(me.link('All payouts'))
    const table = await me.download(me.page.getByRole('link', { name: 'Yesterday as CSV' }))
    expect(table.name).toBe(`payouts-${yesterday}.csv`)
    expect(table.text.trim().split('\n').slice(1)).toEqual([expect.stringContaining(payoutId)])
    const name = `Statement of ${yesterday} as PDF`
    const statement = await me.download(me.page.getByRole('link', { name }))
    expect(statement.name).toBe(`payout-${yesterday}.pdf`)
    expect(statement.text).toMatch(/^%PDF-/)
    expect(me.took()).toBeLessThanOrEqual(3)
    await fromOverview(me)
    await me.pasteAndEnter('Trial balance')
    await me.click(me.page.getByText('End of last month'))
    await me.page.getByRole('status').getByText('They are equal.').waitFor()
    const books = await me.download(me.link('CSV'))
    expect(books.name).toMatch(/^trial-balance-\d{4}-\d{2}-\d{2}\.csv$/)
    expect(books.text).toMatch(/^kind,unit,accounts,debit,credit\r\n/)
    expect(me.took()).toBeLessThanOrEqual(4)
  })
}

export function tasksOfOperations(bed: Bed): void {
  test('tasks 11 to 13: failed deliveries are sent again, the health is shown, a key is replaced', async () => {
    const merchant = await bed.service.newMerchant({ name: 'Task Stores' })
    const client = await bed.service.as(merchant)
    const receiver = await WebhookReceiver.open()
    try {
      receiver.response = (_, response) => void response.writeHead(503, { 'retry-after': '3600' }).end()
      const url = receiver.url('/tasks')
      await client.post('/api/v0/webhook-endpoints', { url })
      await newCode(bed.service, client)
      bed.service.app.services.credentialUses.loop.wake()
      await receiver.until(() => receiver.received.length === 1)
      receiver.response = (_, response) => void response.writeHead(204).end()
      const me = await at(bed, 'operations')
      await me.click(me.link(/webhook events? not delivered/))
      await me.click(me.page.getByRole('link', { name: url }))
      await me.page.getByText('Failed: 503').first().waitFor()
      await me.click(me.button('Resend failed'))
      await me.click(me.inDialog('Send them again'))
      await receiver.until(() => receiver.received.length === 2)
      await me.page.getByText('1 on their way.').waitFor()
      expect(me.took()).toBeLessThanOrEqual(4)

      await fromOverview(me)
      await me.click(me.link('Status'))
      await me.page.getByRole('row', { name: 'Failures of the service (5xx)' }).waitFor()
      for (const title of ['Latency of the last hour', 'What waits', 'Books and database'])
        await me.page.getByRole('heading', { name: title, exact: true }).waitFor()
      await me.page.getByText('Last backup', { exact: true }).waitFor()
      expect(me.took()).toBeLessThanOrEqual(1)

      await fromOverview(me)
      await me.place('Tenants')
      await me.click(me.page.getByRole('link', { name: 'Task Stores' }))
      const key = me.page.getByRole('row', { name: 'first key' })
      await key.waitFor()
      expect(await key.textContent()).not.toContain('Never')
      await me.click(key.getByRole('button', { name: 'Replace first key' }))
      await me.click(me.inDialog('Replace'))
      await me.page.getByTestId('secret').waitFor()
      expect(me.took()).toBeLessThanOrEqual(4)
    } finally {
      await receiver.close()
    }
  })
}

export function tasksOfOthers(bed: Bed): void {
  test('task 15: an auditor sees who revealed personal data and why, and verifies the chain', async () => {
    const support = await at(bed, 'support')
    await support.page.goto(`/console/users/${bed.world.userId}`)
    await support.button('Reveal personal data').click()
    await support.field('Reason').fill('asked for the week')
    await support.inDialog('Reveal for 15 minutes').click()
    await support.page.getByText('9876543210').waitFor()
    const me = await at(bed, 'auditor')
    await me.place('Approvals & risk', 'Reveals')
    await me.page
      .getByRole('row', { name: `operator ${support.name}` })
      .getByText('asked for the week')
      .waitFor()
    expect(me.took()).toBeLessThanOrEqual(3)
    await me.click(me.button('Verify the chain now'))
    await me.page.getByText('The chains are intact').waitFor()
    expect(me.took()).toBeLessThanOrEqual(1)
  })

  test('task 16: a merchant prints a code for the till, sees a payment arrive, and exports the payments', async () => {
    const merchant = await bed.service.newMerchant()
    const code = await newCode(bed.service, await bed.service.as(merchant), { multipleUse: true })
    const me = new Person(await memberOf(bed, merchant.merchantId))
    await me.page.evaluate('globalThis.print = () => { globalThis.printed = true }')
    await me.click(me.link('QR codes'))
    await me.click(me.page.getByRole('table').getByRole('link').first())
    await me.click(me.button('Print'))
    expect(await me.page.evaluate('globalThis.printed')).toBe(true)
    expect(me.took()).toBeLessThanOrEqual(3)
    const credit = creditOf(code.tr, { amount: 321.5 })
    await notifyCredit(bed.service.client, credit)
    await me.page.getByText('₹321.50').first().waitFor()
    expect(me.took()).toBe(0)
    await me.place('Payments')
    const requestSent = me.page.waitForRequest(/\/payments\?from=/)
    const { name, text } = await me.download(me.button('Last 7 days as CSV'))
    expect(name).toBe('payments.csv')
    expect(text).toContain('321.5')
    const from = Date.parse(new URL((await requestSent).url()).searchParams.get('from')!)
    expect(calendarDay(new Date(from), 'Asia/Kolkata')).toBe(dayOf(-6))
    expect(me.took()).toBeLessThanOrEqual(2)
  })
}
