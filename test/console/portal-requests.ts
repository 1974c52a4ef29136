import { expect, test } from 'vitest'
import { newOperator, PASSWORD } from '../harness/console.ts'
import type { Bed } from './bed.ts'
import { dialog, goTo, memberOf } from './portal.ts'
import { clean } from './second-factor.ts'

export function requestsOfMembers(bed: Bed): void {
  test('a member asks for a bank account in the portal, finance approves it in the console, and the portal says each step', async () => {
    const { merchantId } = await bed.service.newMerchant({ name: 'Asking Stores' })
    const member = await memberOf(bed, merchantId)
    await goTo(member, '/bank-account')
    await member.getByText('Nothing is paid out until the operator has approved your bank account').waitFor()
    await member.getByRole('button', { name: 'Give your bank account' }).click()
    await dialog(member).getByLabel('Holder').fill('Asking Stores LLP')
    await dialog(member).getByLabel('Account number').fill('999988887777')
    await dialog(member).getByLabel('IFSC').fill('HDFC0000001')
    await clean(member)
    await dialog(member).getByRole('button', { name: 'Ask the operator' }).click()
    const asked = 'Bank account ••7777 of Asking Stores LLP, HDFC0000001'
    await member.getByRole('row', { name: asked }).getByText('Pending').waitFor()
    await clean(member)
    expect(await member.getByRole('button', { name: 'Give your bank account' }).count()).toBe(0)

    const { name } = await newOperator(bed.service, 'finance')
    const finance = await bed.visit({ as: { name, password: PASSWORD }, at: '/' })
    await finance.getByRole('link', { name: /changes? that (?:a )?merchants? asks? for/ }).click()
    const row = finance.getByRole('row', { name: 'Asking Stores' })
    await row.getByText(asked).waitFor()
    await clean(finance)
    await row.getByRole('button', { name: 'Approve' }).click()
    await finance.getByRole('dialog').getByRole('button', { name: 'Approve for Asking Stores' }).click()
    await row.waitFor({ state: 'detached' })

    await goTo(member, '/bank-account')
    await member.getByRole('row', { name: asked }).getByText('Approved').waitFor()
    await member.getByText('••7777', { exact: true }).waitFor()
    await member.getByRole('button', { name: 'Ask for another account' }).waitFor()
  })
}
