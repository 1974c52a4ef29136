import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { closeAs, newDispute } from '../harness/disputes.ts'
import { type Shop, shopWith } from '../harness/refunds.ts'
import { type Bed, goTo, inBrowser, look, settled } from './bed.ts'
import { dialog, memberOf, goTo as openInPortal } from './portal.ts'

const pdf = (name: string) => ({
  name,
  mimeType: 'application/pdf',
  buffer: Buffer.from(`%PDF-1.7 ${name}`),
})
const PNG = { name: 'signature.png', mimeType: 'image/png', buffer: Buffer.from('89504e470d0a1a0a00', 'hex') }

/** Tall pages are hard to read, also on a phone. */
const HEIGHT_MAX = 6_000

async function lookWell(page: Page, what: string): Promise<void> {
  for (const size of ['desk', 'phone'] as const)
    for (const colours of ['light', 'dark'] as const) {
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

async function contest(page: Page, text: string, files: readonly object[]): Promise<void> {
  await page.getByRole('button', { name: /^(?:Submit|Add more) evidence/ }).click()
  await dialog(page).getByLabel('Evidence').fill(text)
  await dialog(page)
    .getByLabel('Choose files')
    .setInputFiles([...files] as never)
  await dialog(page).getByRole('button', { name: 'Submit evidence' }).click()
  await dialog(page).waitFor({ state: 'detached' })
}

const main = (page: Page) => page.getByRole('main')

async function downloadOf(page: Page, click: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()])
  const parts: Buffer[] = []
  for await (const part of await download.createReadStream()) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('latin1')
}

interface Case {
  readonly shop: Shop
  readonly disputeId: string
}

/** A member of the merchant submits evidence with two files; returns the window. */
async function byTheMerchant(bed: Bed, { shop, disputeId }: Case): Promise<Page> {
  const member = await memberOf(bed, shop.merchantId)
  await openInPortal(member, '/disputes')
  await lookWell(member, 'list, in the portal')
  await openInPortal(member, `/disputes/${disputeId}`)
  await member.getByText('Submit evidence, or accept the dispute').waitFor()
  await lookWell(member, 'open, in the portal')
  await contest(member, 'Two kilograms of sweets, signed for by the payer.', [pdf('delivery-note.pdf'), PNG])
  await member.getByText('Your evidence was not sent yet').waitFor()
  const note = main(member).getByRole('link', { name: 'delivery-note.pdf' })
  expect(await downloadOf(member, () => note.click())).toBe('%PDF-1.7 delivery-note.pdf')
  await lookWell(member, 'submitted, in the portal')
  return member
}

/** A person of the support asks the merchant for more, adds to it for the merchant, sends all of it and records the receipt; returns the window. */
async function bySupport(bed: Bed, { disputeId }: Case, member: Page): Promise<Page> {
  const { name } = await newOperator(bed.service, 'support')
  const page = await bed.visit({ as: { name, password: PASSWORD }, at: `/disputes/${disputeId}` })
  await page.getByRole('heading', { level: 1, name: /^₹4,999.00 disputed/ }).waitFor()
  await page.getByText('Evidence not sent yet').waitFor()
  expect(await page.getByRole('button', { name: 'Accept the dispute' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Ask for more evidence' }).click()
  await dialog(page).getByLabel('What is missing').fill('A letter of the customer')
  await dialog(page).getByRole('button', { name: 'Ask the merchant' }).click()
  await dialog(page).waitFor({ state: 'detached' })
  await page.getByText('was asked for more evidence and has not submitted any since').waitFor()
  await lookWell(page, 'asked for more, in the console')
  await openInPortal(member, '/')
  await main(member)
    .getByRole('link', { name: /^Dispute of .* send evidence$/ })
    .click()
  await member.getByRole('alert').getByText('A letter of the customer').waitFor()
  await member.getByRole('listitem').getByText('More evidence asked for').waitFor()
  await lookWell(member, 'asked for more, in the portal')
  await contest(page, 'And a letter of the customer.', [pdf('letter.pdf')])
  await main(page).getByRole('link', { name: 'letter.pdf' }).waitFor()
  await page.getByText('was asked for more evidence').waitFor({ state: 'detached' })
  await lookWell(page, 'submitted, in the console')
  await page.getByRole('button', { name: 'Send evidence to the bank…' }).click()
  const send = dialog(page).getByRole('button', { name: 'Mark as sent and download' })
  const archive = await downloadOf(page, () => send.click())
  for (const file of ['/1-delivery-note.pdf', '/2-signature.png', '/1-letter.pdf'])
    expect(archive).toContain(file)
  await page.getByText('Evidence sent: the network decides').waitFor()
  await page.getByRole('button', { name: 'Record the receipt' }).click()
  await dialog(page).getByLabel('Receipt').fill('NPCI26110004817')
  await dialog(page).getByRole('button', { name: 'Record the receipt' }).click()
  await dialog(page).waitFor({ state: 'detached' })
  await main(page).getByText('NPCI26110004817', { exact: true }).first().waitFor()
  await lookWell(page, 'sent, in the console')
  return page
}

function disputes(bed: Bed): void {
  test('a merchant submits evidence with two files, support sends it, and both read what became of it', {
    timeout: 120_000,
  }, async () => {
    const shop = await shopWith(bed.service, 5_000)
    const reason = 'Order was never delivered. Shop does not pick up the phone.'
    const disputeId = await newDispute(bed.service, shop.paymentId, { amount: 4_999, reason })
    const member = await byTheMerchant(bed, { shop, disputeId })
    const page = await bySupport(bed, { shop, disputeId }, member)
    await member.reload()
    await settled(member)
    await member.getByText('Your evidence was sent: the network decides').waitFor()
    await closeAs(bed.service, disputeId, 'WON')
    await goTo(page, `/disputes/${disputeId}`)
    await main(page).getByText('Given back to the merchant').waitFor()
    await lookWell(page, 'won, in the console')
    await member.reload()
    await settled(member)
    await member.getByText('Yours again: it is in your next payout').waitFor()
    await lookWell(member, 'won, in the portal')
  })
}

inBrowser('disputes', { empty: [disputes] })
