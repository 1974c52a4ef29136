import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { notifyTransfer, numberOf, transferTo } from '../harness/bank-rail.ts'
import { payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { newDispute } from '../harness/disputes.ts'
import { newPartner } from '../harness/partner.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser } from '../harness/service.ts'
import { type Bed, goTo } from './bed.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const badge = (page: Page, text: string) => page.getByRole('main').getByText(text, { exact: true }).first()

/** What the bank and the network say of refunds and disputes, entered by hand. */
export function outcomes(bed: Bed): void {
  test('the bank’s outcome of a refund is recorded: paid with its reference, or failed with a reason', async () => {
    const { operator, viewer } = bed.world
    const shop = await shopWith(bed.service, 1_000)
    // The simulated bank leaves refunds of such amounts alone.
    const refund = async (amount: number) =>
      payloadOf(await shop.client.post(shop.path, { amount, referenceNumber: `outcome-${amount}` })).refundId
    const paid = await refund(10.96)
    const page = await bed.visit({ as: operator, at: `/refunds/${paid}` })
    await page.getByRole('button', { name: 'Mark as refunded' }).click()
    await dialog(page).getByText('(ten rupees and ninety-six paise)').waitFor()
    await dialog(page).getByRole('button', { name: 'Record as refunded' }).click()
    await dialog(page).getByText('The bank’s reference: at least 6 characters').waitFor()
    await dialog(page).getByLabel('UTR').fill('consolerefund0001')
    await dialog(page).getByRole('button', { name: 'Record as refunded' }).click()
    await badge(page, 'Refunded').waitFor()
    await badge(page, 'CONSOLEREFUND0001').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Mark/ }).count()).toBe(0)

    const failed = await refund(20.96)
    await goTo(page, `/refunds/${failed}`)
    await page.getByRole('button', { name: 'Mark as failed' }).click()
    await dialog(page).getByRole('button', { name: 'Record as failed' }).click()
    await dialog(page).getByText('Required').waitFor()
    await dialog(page).getByLabel('Reason').fill('account closed')
    await dialog(page).getByRole('button', { name: 'Record as failed' }).click()
    await badge(page, 'Failed').waitFor()
    await badge(page, 'account closed').waitFor()

    const other = await bed.visit({ as: viewer, at: `/refunds/${await refund(30.96)}` })
    expect(await other.getByRole('button', { name: /^Mark/ }).count()).toBe(0)
  })

  test('the network’s decision on a dispute is recorded by operators who may move money', async () => {
    const { operator, viewer } = bed.world
    const shop = await shopWith(bed.service, 10)
    const disputeId = await newDispute(bed.service, shop.paymentId)
    const other = await bed.visit({ as: viewer, at: `/disputes?q=${disputeId}` })
    await other.getByText('1 in all', { exact: true }).waitFor()
    expect(await other.getByRole('button', { name: /^Close/ }).count()).toBe(0)
    const page = await bed.visit({ as: operator, at: `/disputes?q=${disputeId}` })
    await page.getByRole('button', { name: /^Close/ }).click()
    await dialog(page).getByText('(one rupee)').waitFor()
    await dialog(page).getByRole('button', { name: 'Record the decision' }).click()
    await dialog(page).getByText('Required').waitFor()
    await dialog(page).getByLabel('The network’s decision').click()
    await page.getByRole('option', { name: /^Won/ }).click()
    await dialog(page).getByRole('button', { name: 'Record the decision' }).click()
    await page.getByRole('row').getByText('Won', { exact: true }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Close/ }).count()).toBe(0)
  })
}

/** The limit for one person is 1,000 rupees meanwhile. */
export function approvals(bed: Bed): void {
  test('an approver sees what a posting changes and its journal, and is shown where nothing was posted', async () => {
    const { db } = bed.service
    const limit = (paise: number | null) =>
      asSuperuser(db.database, (client) =>
        client.query('update approval_limit set above_paise = $1', [paise]),
      )
    const asha = await signedIn(bed.service, 'operator')
    const [shop, partner] = [
      await shopWith(bed.service, 5_000),
      await newPartner(bed.service, { fundsPaise: 0n }),
    ]
    const [amount, reference] = ['4000.00', 'CONSOLEBEFORE1']
    const funds = `/card-accounts/${partner.cardAccountId}/funds`
    await limit(100_000)
    try {
      const correction = { amount: 2_000, reference: 'CONSOLELETTER1', reason: 'letter of the bank' }
      expect((await asha.post(`/payments/${shop.paymentId}/adjustments`, correction)).status).toBe(202)
      expect((await asha.post(funds, { amount, reference, reason: 'float' })).status).toBe(202)
      const transfer = transferTo(await numberOf(bed.service, partner), { amount: 4_000, utr: reference })
      payloadOf(await notifyTransfer(bed.service.client, transfer))

      const page = await bed.visit({ as: bed.world.operator, at: '/approvals' })
      const row = page.getByRole('row', { name: correction.reference })
      const change = 'From ₹5,000.00 to ₹2,000.00: ₹3,000.00 less for the merchant'
      await row.getByText(change).waitFor()
      await row.locator(`a[title="${shop.merchantId}"]`).filter({ hasNotText: '_' }).waitFor()
      await row.getByRole('button', { name: 'Approve' }).click()
      await dialog(page).getByText(change).waitFor()
      await dialog(page).getByRole('button', { name: 'Approve and post' }).click()
      await page.getByText('₹3,000.00 posted.').waitFor()
      await page.getByRole('row', { name: reference }).getByRole('button', { name: 'Approve' }).click()
      await dialog(page).getByRole('button', { name: 'Approve and post' }).click()
      await page.getByText('It was entered before: nothing was posted, and the request has ended.').waitFor()
      await page.getByText('Nothing waits for approval').waitFor()
      await goTo(page, '/approvals?status=ALL')
      await page.getByRole('row', { name: reference }).getByText('Rejected').waitFor()
      await row.getByRole('link', { name: / journal$/ }).click()
      await page.getByRole('heading', { level: 1, name: /^Journal: / }).waitFor()
    } finally {
      await limit(null)
    }
  })
}

/** The limit for one person is 1,000 rupees meanwhile. */
export function outcomeApprovals(bed: Bed): void {
  test('a failed refund and a won dispute wait for a second person, who sees what becomes payable', async () => {
    const { db } = bed.service
    const limit = (paise: number | null) =>
      asSuperuser(db.database, (client) =>
        client.query('update approval_limit set above_paise = $1', [paise]),
      )
    const asha = await signedIn(bed.service, 'operator')
    const shop = await shopWith(bed.service, 5_000)
    const request = { amount: 1_500.96, referenceNumber: 'outcome-large' }
    const { refundId } = payloadOf(await shop.client.post(shop.path, request))
    const disputeId = await newDispute(bed.service, shop.paymentId, { amount: 1_200 })
    await limit(100_000)
    try {
      const page = await bed.visit({ as: bed.world.operator, at: `/refunds/${refundId}` })
      await page.getByRole('button', { name: 'Mark as failed' }).click()
      await dialog(page).getByLabel('Reason').fill('account closed')
      await dialog(page).getByRole('button', { name: 'Record as failed' }).click()
      await page.getByText('₹1,500.96 waits for a second person, under Approvals.').waitFor()
      await goTo(page, `/disputes?q=${disputeId}`)
      await page.getByRole('button', { name: /^Close/ }).click()
      await dialog(page).getByLabel('The network’s decision').click()
      await page.getByRole('option', { name: /^Won/ }).click()
      await dialog(page).getByRole('button', { name: 'Record the decision' }).click()
      await page.getByText('₹1,200.00 waits for a second person, under Approvals.').waitFor()
      await goTo(page, '/approvals')
      const failed = page.getByRole('row', { name: /Refund that failed/ })
      await failed.getByText('Another operator approves it').waitFor()
      await failed.getByRole('link', { name: /^Refund / }).waitFor()
      await page.getByRole('row', { name: /Dispute that was won: payable to the merchant again/ }).waitFor()
      const { data } = (await asha.get('/approvals')).json
      for (const { approvalId } of data)
        expect((await asha.post(`/approvals/${approvalId}/approve`, {})).json.status).toBe('POSTED')
      await goTo(page, `/refunds/${refundId}`)
      await badge(page, 'Failed').waitFor()
    } finally {
      await limit(null)
    }
  })
}
