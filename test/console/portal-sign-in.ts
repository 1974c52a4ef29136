import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { Browser, PASSWORD, PORTAL_API } from '../harness/console.ts'
import { invite } from '../harness/portal.ts'
import { type Bed, look } from './bed.ts'
import { NOT_SIGNED_IN } from './people.ts'
import { goTo } from './portal.ts'

const NAME = 'many@tenant.example'
const OLDEST_PASSWORD = 'a pass phrase of the oldest shop'

export function memberOfManyMerchants(bed: Bed): void {
  test('a member of more merchants than a sign-in tries signs in to one by its id; a wrong id is rejected with what to check', async () => {
    const { service } = bed
    const join = async (password: string, name: string): Promise<string> => {
      const { merchantId } = await service.newMerchant({ name })
      const { token } = await invite(service, merchantId, 'viewer', { name: NAME })
      const joined = await new Browser(service, PORTAL_API).post('/link/password', { token, password })
      expect(joined.status).toBe(200)
      return merchantId
    }
    const oldest = await join(OLDEST_PASSWORD, 'Oldest Shop')
    for (let nth = 1; nth <= 8; nth++) await join(PASSWORD, `Shop ${nth}`)
    const { merchantId: foreign } = await service.newMerchant()

    const page = await bed.visit({ as: null, at: '/sign-in', expected: [...NOT_SIGNED_IN, /401 .*\/portal/] })
    await goTo(page, '/')
    const signIn = () => page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const id = page.getByLabel('Id of the merchant or partner')
    await page.getByLabel('Name', { exact: true }).fill(NAME)
    await page.getByLabel('Password', { exact: true }).fill(OLDEST_PASSWORD)
    await signIn()
    await page.getByRole('alert').getByText('wrong_password').waitFor({ state: 'attached' })
    expect(await id.count()).toBe(0)

    await page.getByRole('button', { name: 'Member of several merchants or partners?' }).click()
    for (const [size, colours] of [
      ['phone', 'dark'],
      ['desk', 'light'],
    ] as const) {
      await look(page, size, colours)
      expect(await accessibilityViolations(page)).toEqual([])
    }
    await id.fill('Oldest Shop')
    await signIn()
    await page.getByText('An id such as mer_… or par_…').waitFor()
    await id.fill(foreign)
    await signIn()
    await page.getByText(`you are not a member of ${foreign}`).waitFor()
    await id.fill(` ${oldest} `)
    await signIn()
    await page.getByRole('heading', { level: 1, name: 'Oldest Shop' }).waitFor()
  })
}
