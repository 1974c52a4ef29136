import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { payloadOf } from '../harness/client.ts'
import { newDispute } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { preparePayoutOf } from '../harness/payouts.ts'
import { type Bed, look } from './bed.ts'
import { newShop, pay } from './money-world.ts'
import { Person } from './person.ts'
import { memberOf } from './portal.ts'

const HEIGHT_MAX = 6_000

async function lookWell({ page }: Person, what: string): Promise<void> {
  for (const [size, colours] of [
    ['desk', 'light'],
    ['phone', 'dark'],
  ] as const) {
    await look(page, size, colours)
    expect(await accessibilityViolations(page), `${what} ${size} ${colours}`).toEqual([])
    const { height, width } = await page.evaluate(() => ({
      height: document.documentElement.scrollHeight,
      width: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    }))
    expect(height, `${what} ${size}`).toBeLessThan(HEIGHT_MAX)
    expect(width, `${what} ${size}: nothing beside the screen`).toBe(0)
  }
  await look(page, 'desk', 'light')
}

export function tasksOfMerchants(bed: Bed): void {
  test('tasks 24 and 25: a merchant sees what arrives and why down to one payment, and sends two files for a dispute', async () => {
    const { merchantId, tr } = await newShop(bed.service, 'Corner Sweets')
    await pay(bed.service, tr, 999.5)
    await preparePayoutOf(bed.service, merchantId)
    const paymentId = await pay(bed.service, tr, 2_500.25)
    await newDispute(bed.service, paymentId, { amount: 300 })
    const me = new Person(await memberOf(bed, merchantId))
    await me.page.getByTestId('next-payout').waitFor()
    const parts = me.page.getByRole('table', { name: 'How the next payout adds up' })
    await parts.getByRole('row', { name: '1 payment' }).getByText('₹2,500.25').waitFor()
    await me.page.getByRole('table', { name: 'Gross by day' }).waitFor({ state: 'attached' })
    await lookWell(me, 'home of a merchant')
    const before = me.page.getByRole('table', { name: 'Payouts before' })
    await me.click(before.getByRole('link').first())
    const lines = me.page.getByRole('table', { name: 'Lines of the payout' })
    await me.click(lines.getByRole('link').first())
    await me.page.getByRole('heading', { level: 1, name: /^UTR/ }).waitFor()
    await me.page.getByText('₹999.50').first().waitFor()
    await me.page.getByText('Arrives, after fee and GST').waitFor()
    await me.page.getByRole('link', { name: /^Payout of \d/ }).waitFor()
    await lookWell(me, 'one payment')
    expect(me.took()).toBeLessThanOrEqual(2)

    await me.place('Home')
    me.took()
    await me.click(me.page.getByRole('link', { name: 'Dispute of ₹300.00: send evidence' }))
    await me.click(me.button('Submit evidence'))
    await me.type(me.field('Evidence'), 'Signed for by the payer.')
    me.actions += 1
    const pdf = (name: string) => ({ name, mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') })
    await me.field('Choose files').setInputFiles([pdf('note.pdf'), pdf('receipt.pdf')])
    await me.click(me.inDialog('Submit evidence'))
    await me.page.getByText('Your evidence was not sent yet').waitFor()
    expect(me.took()).toBeLessThanOrEqual(5)
  })
}

export function tasksOfPartners(bed: Bed): void {
  test('task 26: a partner replaces its encryption key, and issues cards by form and by file', async () => {
    const partner = await newPartner(bed.service, { fundsPaise: 5_000_00n })
    const me = new Person(await memberOf(bed, partner.partnerId))
    await lookWell(me, 'home of a partner')
    await me.click(me.link('Encryption keys'))
    await me.click(me.button('Create key').first())
    await me.click(me.inDialog('Create the key'))
    expect(await me.page.getByTestId('secret').textContent()).toContain('"kty": "oct"')
    await me.click(me.button('I have kept it'))
    expect(me.took()).toBeLessThanOrEqual(4)
    await me.page.getByRole('button', { name: 'End' }).first().waitFor()

    await me.place('Home')
    me.took()
    await me.place('Cards')
    await me.click(me.button('Issue card'))
    await me.type(me.field('E-mail of the holder'), 'first.holder@example.com')
    await me.type(me.field('Load in rupees'), '500')
    await me.click(me.inDialog('Issue'))
    await me.page.getByText(/^Card .* is issued\.$/).waitFor()
    expect(me.took()).toBeLessThanOrEqual(7)
    await lookWell(me, 'a card')
    await me.button('Lock').click()
    await me.field('Reason').fill('lost')
    await me.inDialog('Lock card').click()
    await me.page.getByText('by you or your programs: lost').waitFor()

    await me.page.goto(`/portal/card-accounts/${partner.cardAccountId}`)
    await me.button('Issue by file').click()
    const file = (text: string) => ({ name: 'cards.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    const input = me.page.locator('input[type="file"]')
    await input.setInputFiles(file('email,loadAmount\nright@example.com,200\nnobody,300\n'))
    await me.page.getByText('1 line cannot be issued', { exact: false }).waitFor()
    await lookWell(me, 'the dry run')
    await input.setInputFiles(file('email,loadAmount\nright@example.com,200\nleft@example.com,300\n'))
    await me.page.getByText('2 cards for ₹500.00, of ₹4,500.00 on the account.').waitFor()
    await me.inDialog('Issue 2 cards').click()
    await me.page.getByText('2 cards issued.').waitFor()
  })
}

export function cardsOfPartners(bed: Bed): void {
  test('a partner registers a company, opens a card account for it, and finds its cards by last four digits, status and holder', async () => {
    const partner = await newPartner(bed.service, { fundsPaise: 5_000_00n })
    const client = await asPartner(bed.service.client, partner)
    const card = payloadOf(
      await createCard(client, partner, { firstName: 'Imran', email: 'imran@example.com' }),
    )
    const other = payloadOf(await createCard(client, partner, { firstName: 'Meera' }))
    const number: string = card.maskedNumber
    const me = new Person(await memberOf(bed, partner.partnerId))
    await me.place('Cards', 'Companies')
    await me.button('Register company').first().click()
    await me.field('Name').fill('Ananda Mills')
    await me.inDialog('Register').click()
    await me.page.getByRole('link', { name: 'Ananda Mills' }).click()
    await me.button('Create card account').click()
    await me.field('Programme').fill('Diwali')
    await me.inDialog('Create').click()
    await me.page.getByRole('link', { name: 'Diwali' }).click()
    await me.page.getByText('₹0.00').first().waitFor()
    await lookWell(me, 'a card account')

    await me.place('Cards')
    const cards = me.page.getByRole('table', { name: 'Cards' })
    await cards.getByRole('link', { name: other.maskedNumber }).waitFor()
    await lookWell(me, 'cards')
    await me.page.getByLabel('Search').fill(number.slice(-4))
    await cards.getByRole('link', { name: other.maskedNumber }).waitFor({ state: 'detached' })
    await cards.getByRole('link', { name: 'Imran' }).click()
    await me.page.getByRole('heading', { level: 1, name: 'Imran' }).waitFor()
    await cards.getByRole('link', { name: number }).waitFor()
    await lookWell(me, 'a holder')
    await me.page.keyboard.press('/')
    const find = me.page.getByRole('dialog', { name: 'Find' })
    await find.getByRole('searchbox').fill('imran@example.com')
    await find.getByRole('link', { name: /^I•••/ }).waitFor()
  })
}
