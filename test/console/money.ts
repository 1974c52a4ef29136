import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { type Bed, goTo } from './bed.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const badge = (page: Page, text: string) => page.getByRole('main').getByText(text, { exact: true }).first()

export function payments(bed: Bed): void {
  test('a QR code is created, paid in the sandbox, shown as paid, and cancelled', async () => {
    const page = await bed.visit({ at: '/qr-codes' })
    await page.getByRole('button', { name: 'Create QR code' }).click()
    await dialog(page).getByLabel('Merchant', { exact: true }).fill(bed.world.merchantName)
    await page.getByRole('option', { name: bed.world.merchantName }).click()
    await dialog(page).getByLabel('Name', { exact: true }).fill('Order 1042')
    await dialog(page).getByLabel('Amount in rupees').fill('249.50')
    await dialog(page).getByLabel('May be paid many times').check()
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Order 1042' }).waitFor()
    await page.getByRole('img', { name: 'UPI QR code Order 1042' }).waitFor()
    await page.getByText('am=249.50').waitFor()

    await page.getByRole('button', { name: 'Pay this code' }).click()
    await dialog(page).getByLabel('Payer').fill('asha@bank')
    await dialog(page).getByRole('button', { name: 'Pay', exact: true }).click()
    await page.getByRole('row', { name: 'a•••@bank' }).getByText('Accepted').waitFor()
    await page.getByText('Payment: Accepted in a day').waitFor()

    await page.getByRole('button', { name: 'Cancel code' }).click()
    await dialog(page).getByRole('button', { name: 'Cancel it for good' }).click()
    await badge(page, 'Cancelled').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Cancel code' }).count()).toBe(0)
  })

  test('the ledger links from an account to its transfers, and one click reconciles the books', async () => {
    const page = await bed.visit({ at: '/ledger' })
    await page.getByLabel('Search').fill(`card:${bed.world.svcCardId}`)
    await page.getByText('1 in all', { exact: true }).waitFor()
    await page.getByRole('row').getByRole('link').first().click()
    await page.getByText('−₹149.50').waitFor()
    await goTo(page, '/ledger/reconciliation')
    await page.getByRole('button', { name: 'Reconcile now' }).click()
    await page.getByText('operator sandbox').waitFor()
    await page.getByText('The books add up').waitFor()
  })

  homePage(bed)
}

/** What the home page says of the money, and what waits there. */
function homePage(bed: Bed): void {
  test('the home page shows rupees of each period, as columns and as a table, and its figures open their lists', async () => {
    const page = await bed.visit()
    const chart = page.getByRole('table', { name: 'Volume by hour' })
    await expect.poll(() => chart.getByRole('row').count()).toBe(25)
    for (const [period, days] of [
      ['7 days', 7],
      ['Month', 28],
      ['Quarter', 90],
    ] as const) {
      await page.getByText(period, { exact: true }).click()
      const table = page.getByRole('table', { name: 'Volume by day' })
      await expect.poll(() => table.getByRole('row').count()).toBeGreaterThan(days)
    }
    await page.getByRole('img', { name: /^Volume by day/ }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('main').getByRole('status').filter({ hasText: 'Accepted ₹' }).waitFor()
    const payments = page.locator('dt:has-text("Payments accepted") + dd').getByRole('link')
    const many = await payments.innerText()
    expect(Number(many)).toBeGreaterThan(0)
    await payments.click()
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor()
    await page.getByText(`${many} in all`).waitFor()
  })

  test('what waits for a person is named with its rupees, and leads to where it is done', async () => {
    const page = await bed.visit()
    const suspense = page.getByRole('listitem').filter({ hasText: 'unmatched credit' })
    await suspense.getByText(/₹/).first().waitFor()
    await suspense.getByRole('link').first().click()
    await page.getByRole('heading', { level: 1, name: 'Suspense' }).waitFor()
  })

  test('a role sees on its home page what it may act on, and no income', async () => {
    const page = await bed.visit({ as: bed.world.viewer })
    await page.getByText('Nothing waits.').waitFor()
    await page.getByText('Gross volume').waitFor()
    expect(await page.getByText('Fees earned').count()).toBe(0)
  })
}

export function cards(bed: Bed): void {
  test('a card is spent from and refunded, locked, unlocked and permanently blocked, each with its reason', async () => {
    const page = await bed.visit({ at: `/cards/${bed.world.otherCardId}`, as: bed.world.operator })
    await page.getByRole('button', { name: 'Spend' }).click()
    await dialog(page).getByLabel('Amount in rupees').fill('100')
    await dialog(page).getByRole('button', { name: 'Spend', exact: true }).click()
    await page.getByRole('row', { name: 'Card spend' }).getByText('−₹100.00').waitFor()
    await page.getByRole('button', { name: 'Refund' }).click()
    await dialog(page).getByLabel('Amount in rupees').fill('40.25')
    await dialog(page).getByRole('button', { name: 'Refund', exact: true }).click()
    await page.getByText('₹2,440.25').waitFor()

    for (const [label, confirm, state] of [
      ['Lock', 'Lock card', 'Locked'],
      ['Unlock', 'Unlock card', 'Unlocked'],
    ] as const) {
      await page.getByRole('button', { name: label, exact: true }).click()
      expect(await dialog(page).getByRole('button', { name: confirm }).isDisabled()).toBe(true)
      await dialog(page).getByLabel('Reason').fill(`asked by phone to ${label.toLowerCase()}`)
      await dialog(page).getByRole('button', { name: confirm }).click()
      await badge(page, state).waitFor()
    }
    // What a reason says may name a person.
    await page.getByText('an operator: •••').nth(1).waitFor()
    await page.getByRole('button', { name: 'Reveal personal data' }).click()
    await dialog(page).getByLabel('Reason').fill('the holder asks why')
    await dialog(page).getByRole('button', { name: 'Reveal for 15 minutes' }).click()
    for (const to of ['lock', 'unlock'])
      await page.getByText(`an operator: asked by phone to ${to}`).waitFor()
    await page.getByRole('button', { name: 'Block', exact: true }).click()
    await dialog(page).getByLabel('Reason').fill('stolen')
    expect(await dialog(page).getByRole('button', { name: 'Block for good' }).isDisabled()).toBe(true)
    const number = (await page.getByRole('heading', { level: 1 }).textContent())!
    await dialog(page)
      .getByLabel(/^Type \d{4} to confirm$/)
      .fill(number.slice(-4))
    await dialog(page).getByRole('button', { name: 'Block for good' }).click()
    await page.getByText('Blocked for good').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^(Unlock|Lock|Block|Spend)$/ }).count()).toBe(0)

    await page.getByRole('link', { name: 'Audit' }).last().click()
    await page.getByRole('row', { name: 'status: BL' }).getByText(bed.world.operator.name).waitFor()
    expect(await page.getByText('stolen').count()).toBe(0)
  })

  test('cards are found by status, and a dry run shows what an event would award and why', async () => {
    const page = await bed.visit({ at: '/cards?status=BL' })
    await page.getByText('1 in all', { exact: true }).waitFor()
    await page.getByRole('link', { name: /^999912/ }).click()
    await badge(page, 'Blocked').waitFor()
    await goTo(page, '/coins')
    await page.getByLabel('User id').fill(bed.world.userId)
    await page.getByLabel('Event').first().fill('referral')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('75 coins; the balance would be 150.').waitFor()
    await page.getByText('applies', { exact: true }).waitFor()
    await goTo(page, `/users/${bed.world.userId}`)
    await page.getByRole('row', { name: 'Allocated for referral' }).getByText('+75').waitFor()
  })
}

/** After `cards`: the only allocation of the user is voided. */
export function coinVoids(bed: Bed): void {
  test('the liability is valued in rupees; an allocation is voided with a reason, which history and audit record', async () => {
    const page = await bed.visit({ at: '/coins' })
    await page.getByLabel('Rupees per coin').fill('0.25')
    const liability = page.getByRole('table', { name: 'Coins that users hold, by partner' })
    await liability
      .getByText(/18\.75/)
      .first()
      .waitFor()
    await goTo(page, `/users/${bed.world.userId}`)
    await page.getByRole('button', { name: 'Void', exact: true }).click()
    await dialog(page).getByLabel('Reason').fill('order returned')
    await dialog(page).getByRole('button', { name: 'Void allocation' }).click()
    await page.getByRole('row', { name: 'Voided •••' }).getByText('−75').waitFor()
    await page.getByRole('button', { name: 'Reveal personal data' }).click()
    await dialog(page).getByLabel('Reason').fill('the user asks why')
    await dialog(page).getByRole('button', { name: 'Reveal for 15 minutes' }).click()
    await page.getByRole('row', { name: 'Voided order returned' }).getByText('−75').waitFor()
    expect(await page.getByRole('button', { name: 'Void', exact: true }).count()).toBe(0)
    await goTo(page, '/audit')
    await page.getByRole('row', { name: 'coins.voided' }).getByText('operator sandbox').waitFor()
  })
}

export function cardAccountMoney(bed: Bed): void {
  test('a card account shows where to transfer money and the transfer with its remitter masked, and is paid back', async () => {
    const page = await bed.visit({ at: `/card-accounts/${bed.world.cardAccountId}` })
    await page.getByRole('button', { name: 'Copy account number' }).waitFor()
    const text = await page.getByRole('main').innerText()
    const virtualAccountNumber = /SVCP\d{12}/.exec(text)?.[0]
    const transfer = { virtualAccountNumber, amount: 75, utr: 'NEFTCONSOLE1' }
    payloadOf(await bed.service.client.post('/sandbox/bank/transfers', transfer))
    await page.reload()
    await page.getByRole('row', { name: /NEFTCONSOLE1 A••• I••• ••••2333/ }).waitFor()
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await dialog(page).getByLabel('Amount in rupees').fill('75')
    await dialog(page).getByLabel('Bank reference').fill('AXISRCONSOLE1')
    await dialog(page).getByLabel('Reason').fill('paid in twice')
    await dialog(page).getByRole('button', { name: 'Enter the withdrawal' }).click()
    await page.getByText(/Entered\. The balance is/).waitFor()
    await page.getByText('Card withdrawal').first().waitFor()
  })
}

export function cardLoads(bed: Bed): void {
  test('an operator loads a card and takes money back, and the card and its account list both; the account has what its partner’s card records say', async () => {
    const { service } = bed
    const partner = await newPartner(service, { accountType: 'MEAL' })
    const issuer = await asPartner(service.client, partner)
    const account = `/api/v0/partner/card-accounts/${partner.cardAccountId}`
    payloadOf(await issuer.patch(account, { unallocateFundAllowed: true }))
    const { svcCardId } = payloadOf(await createCard(issuer, partner, { loadAmount: 100 }))
    const page = await bed.visit({ at: `/cards/${svcCardId}` })
    const move = async (label: string, send: string, amount: string, reference: string) => {
      await page.getByRole('button', { name: label, exact: true }).click()
      await dialog(page).getByLabel('Amount in rupees').fill(amount)
      await dialog(page).getByLabel('Reference').fill(reference)
      await dialog(page).getByLabel('Reason').fill('asked by the partner')
      await dialog(page).getByRole('button', { name: send, exact: true }).click()
    }
    await move('Load', 'Load the card', '250.50', 'april-1')
    await page.getByText('Loaded. The card has ₹350.50 now.').waitFor()
    await move('Unload', 'Take it back', '50.25', 'april-1-back')
    await page.getByText('Taken back. The card has ₹300.25 now.').waitFor()
    const loads = page.getByRole('table', { name: 'The latest 10 loads and unloads' })
    await loads.getByRole('row', { name: 'april-1-back' }).getByText('−₹50.25').waitFor()
    await loads.getByRole('row', { name: 'First load' }).waitFor()
    await goTo(page, `/card-accounts/${partner.cardAccountId}`)
    await loads.getByRole('row', { name: 'april-1-back' }).getByText('₹300.25').waitFor()
    await goTo(page, `/partners/${partner.partnerId}?tab=cards`)
    await page.getByRole('button', { name: 'Change card records' }).click()
    await dialog(page).getByLabel('Entity').fill('ACME-MEALS')
    await dialog(page).getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('main').getByText('ACME-MEALS').waitFor()
    await goTo(page, `/card-accounts/${partner.cardAccountId}`)
    await page.getByText('Of the partner', { exact: true }).waitFor()
  })
}
