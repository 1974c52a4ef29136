import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { type Bed, goTo } from './bed.ts'
import { unreadableNotice } from './money-world.ts'

const dialog = (page: Page) => page.getByRole('dialog')

export function exceptions(bed: Bed): void {
  test('a card rail exception is found by its reason, and shows what to do and the message as it was signed', async () => {
    const { exceptionId, operator, viewer } = bed.world
    const page = await bed.visit({ as: operator, at: '/card-exceptions?reason=unknown_card' })
    await page.getByText('1 in all', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Unknown card' }).click()
    const note = page.getByRole('note').filter({ hasText: 'What to do' })
    await note.getByText('Check the card’s token with the network.').waitFor()
    await page.getByText('"token":"crd_nobodys"').waitFor()
    await page.getByText(exceptionId, { exact: true }).waitFor()
    await goTo(page, '/card-exceptions?reason=over_capture')
    await page.getByText('Nothing fits these filters.').waitFor()
    const other = await bed.visit({ as: viewer })
    expect(await other.getByRole('link', { name: /Card exceptions|Bank notices/ }).count()).toBe(0)
  })

  test('the payment of a quarantined notice is entered from the notice’s page, and the notice links to it', async () => {
    const { operator } = bed.world
    const noticeId = await unreadableNotice(bed.service, 61.25)
    const page = await bed.visit({ as: operator, at: `/notices?q=${noticeId}&status=QUARANTINED` })
    await page.getByRole('link', { name: 'Reference not readable' }).click()
    await page.getByText('"amount":61.25').waitFor()
    await page.getByRole('button', { name: 'Enter the payment' }).click()
    await dialog(page).getByRole('button', { name: 'Record payment' }).click()
    await dialog(page).getByText('At least one paisa').waitFor()
    await dialog(page).getByLabel('UTR').fill('axisn0000061250')
    await dialog(page).getByLabel('Amount in rupees').fill('61.25')
    await dialog(page).getByRole('button', { name: 'Record payment' }).click()
    await page.getByText('Nothing: it is assigned.').waitFor()
    await page.getByText(`operator ${operator.name}`).waitFor()
    expect(await page.getByRole('button', { name: 'Enter the payment' }).count()).toBe(0)
    await page.getByRole('main').getByRole('link', { name: /^UTR / }).click()
    await page.getByRole('heading', { level: 1, name: 'Payment AXISN0000061250' }).waitFor()
  })

  test('a notice that reports nothing to record is dismissed with a reason, and reopened if that was a mistake', async () => {
    const { operator } = bed.world
    const noticeId = await unreadableNotice(bed.service, 77.75)
    const page = await bed.visit({ as: operator, at: `/notices/${noticeId}` })
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await dialog(page).getByLabel('Reason').fill('the bank tests the connection')
    await dialog(page).getByRole('button', { name: 'Dismiss' }).click()
    await page.getByText('Nothing: it is dismissed. If that was a mistake, reopen it.').waitFor()
    await page.getByText('the bank tests the connection').waitFor()
    expect(await page.getByRole('button', { name: /Dismiss|Enter the payment/ }).count()).toBe(0)
    await goTo(page, `/notices?q=${noticeId}&status=DISMISSED`)
    await page.getByRole('row', { name: 'Dismissed' }).waitFor()
    await goTo(page, `/notices/${noticeId}`)
    await page.getByRole('button', { name: 'Reopen' }).click()
    await dialog(page).getByLabel('Reason').fill('the bank confirms the credit')
    await dialog(page).getByRole('button', { name: 'Reopen' }).click()
    await page.getByRole('button', { name: 'Enter the payment' }).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).waitFor()
    expect(await page.getByRole('button', { name: 'Reopen' }).count()).toBe(0)
  })
}

/** What ends outside, entered on its ledger account. */
export function settledAccounts(bed: Bed): void {
  test('the network’s settlement of exceptions is entered on their account, by operators who may move money', async () => {
    const { operator, viewer } = bed.world
    const partner = await newPartner(bed.service)
    const { token } = payloadOf(await createCard(await asPartner(bed.service.client, partner), partner))
    await new Terminal(bed.service.client, token).advise('forced_post', 580)
    const at = `/ledger/accounts/card_exceptions:${partner.partnerId}`
    const other = await bed.visit({ as: viewer, at })
    await other.getByText('₹80.00').first().waitFor()
    expect(await other.getByRole('button', { name: 'Settle' }).count()).toBe(0)
    const page = await bed.visit({ as: operator, at })
    const enter = async (amount: string, reference: string, outcome: RegExp) => {
      await page.getByRole('button', { name: 'Settle' }).click()
      await dialog(page).getByLabel('What ended it').click()
      await page.getByRole('option', { name: outcome }).click()
      await dialog(page).getByLabel('Amount in rupees').fill(amount)
      await dialog(page).getByLabel('Bank reference').fill(reference)
      await dialog(page).getByLabel('Reason').fill('file of the network')
      await dialog(page).getByRole('button', { name: 'Enter it' }).click()
    }
    await enter('50', 'CONSOLENWF001', /^The network/)
    await page.getByText('Entered. ₹30.00 are open now.').waitFor()
    await page.getByRole('row', { name: 'CONSOLENWF001' }).waitFor()
    await enter('30', 'CONSOLEMEMO01', /written off/)
    await page.getByText('Entered. ₹0.00 are open now.').waitFor()
    const writtenOff = page.getByRole('row', { name: 'CONSOLEMEMO01' })
    await writtenOff.getByRole('link', { name: 'Exception written off' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Settle' }).count()).toBe(0)
  })
}
