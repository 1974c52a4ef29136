// Pictures for the documentation, of a new sandbox that runs, light and dark: `npx tsx scripts/screenshots.ts http://127.0.0.1:8080`
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { makeWorld } from '../test/console/world.ts'
import { newVisitor, openBrowser, type Scheme } from '../test/harness/browser.ts'

const NAMES: Readonly<Record<string, string>> = {
  merchant: 'Tea Corner',
  qrName: 'Order 1042',
  description: 'Two teas and a samosa',
  customer: 'Meera Iyer',
  key: 'table',
  param: '7',
  reference: 'return-1042',
  why: 'Part of the order was returned',
  hook: 'Till and kitchen',
  answer: 'Try again later',
  partner: 'Gift House',
  company: 'Acme Industries',
  programme: 'Diwali gifts',
  reason: 'Paid in on 3 November',
  first: 'Asha',
  last: 'Rao',
  address: '12 Lake Road',
  state: 'Maharashtra',
  shop: 'Book World',
  lock: 'The holder could not find it',
  title: 'Referral',
  about: 'For bringing a colleague',
}
const PAYERS = ['asha', 'ravi', 'meena', 'vikram', 'zoya', 'imran', 'lata', 'noor']
const TILLS = ['Counter 1', 'Counter 2', 'Terrace', 'Takeaway']
const PAYMENTS = 60
/** Also on a machine that does much else. */
const PATIENCE_MS = 120_000

const [baseUrl] = process.argv.slice(2)
if (!baseUrl) {
  console.error('Say where the sandbox runs: npx tsx scripts/screenshots.ts http://127.0.0.1:8080')
  process.exit(2)
}

interface Created {
  readonly qrCodeId: string
  readonly companyId: string
  readonly partner: { readonly partnerId: string }
}

/** Enters the sandbox as an administrator; calls the console's own operations. */
async function openConsole() {
  const entered = await fetch(`${baseUrl}/console/api/v0/session/sandbox`, {
    method: 'POST',
    headers: { 'x-svc-console': '1' },
  })
  const cookie = entered.headers.getSetCookie()[0]!.split(';')[0]!
  return async (path: string, body: object): Promise<Created> => {
    const response = await fetch(`${baseUrl}/console/api/v0${path}`, {
      method: 'POST',
      headers: { cookie, 'x-svc-console': '1', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as Created
  }
}

/** A day at the shop: payments of all sizes at its tills, the same in every run. */
async function makeBusyDay(merchantId: string): Promise<void> {
  const operate = await openConsole()
  const codes: string[] = []
  for (const qrName of TILLS)
    codes.push((await operate('/qr-codes', { merchantId, qrCode: { qrName, multipleUse: true } })).qrCodeId)
  for (let i = 0; i < PAYMENTS; i++)
    await operate(`/qr-codes/${codes[(i * 7) % codes.length]}/pay`, {
      amount: 40 + ((i * 137) % 960) + (i % 4) * 0.25,
      payerVpa: `${PAYERS[(i * 3) % PAYERS.length]}@bank`,
    })
}

/** A partner whose set-up has come to its funding. */
async function makeNewPartner(): Promise<string> {
  const operate = await openConsole()
  const newPartner = { name: 'Ananda Gifts', products: ['incentive'], firstClient: false }
  const { partnerId } = (await operate('/partners', newPartner)).partner
  const { companyId } = await operate('/companies', { partnerId, name: 'Ananda Mills' })
  const plan = { product: 'incentive', accountType: 'GIFT', binType: 'GIFT', cardProgramme: 'Gift cards' }
  await operate('/card-accounts', { companyId, ...plan, denomination: 500 })
  return partnerId
}

const world = await makeWorld(baseUrl, (field) => NAMES[field] ?? field)
await makeBusyDay(world.merchantId)
const newPartnerId = await makeNewPartner()

/** Name of the picture, page, and a text that is there once the page is complete. */
const CONSOLE = [
  ['overview', '/', 'The books add up'],
  ['payments', `/payments?merchantId=${world.merchantId}`, 'in all'],
  ['payment', `/payments/${world.paymentId}`, 'What happened'],
  ['card', `/cards/${world.svcCardId}`, 'Ledger entries'],
  ['request', `/requests/${world.refusedSpendId}`, 'What it touched'],
  ['onboarding', `/partners/${newPartnerId}/set-up?key=shared`, 'Bank reference'],
] as const
const PORTAL = [
  ['overview', '/', 'For your programs'],
  ['payments', '/payments', 'Accepted'],
  ['qr-code', `/qr-codes/${world.qrCodeId}`, 'To be scanned'],
] as const

type Pages = readonly (readonly [name: string, path: string, seen: string])[]

async function takeAll(page: Page, app: 'console' | 'portal', scheme: Scheme, pages: Pages): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const [name, path, seen] of pages) {
    await page.goto(`/${app}${path}`)
    await page.getByRole('main').getByText(seen).first().waitFor()
    await page.waitForLoadState('networkidle')
    const file = `${app}-${name}${scheme === 'dark' ? '-dark' : ''}.png`
    await page.screenshot({ path: fileURLToPath(new URL(`../docs/images/${file}`, import.meta.url)) })
    console.log(file)
  }
}

const browser = await openBrowser()
try {
  for (const scheme of ['light', 'dark'] as const) {
    const { page, close } = await newVisitor(browser, { baseUrl, scheme })
    page.setDefaultTimeout(PATIENCE_MS)
    await page.goto('/console/')
    await page.getByRole('button', { name: 'Enter the sandbox' }).click()
    await takeAll(page, 'console', scheme, CONSOLE)
    await page.goto('/portal/')
    await page.getByRole('combobox', { name: 'Merchant or partner' }).fill('Tea Corner')
    await page.getByRole('option', { name: 'Tea Corner (merchant)' }).first().click()
    await page.getByRole('button', { name: 'Enter the portal' }).click()
    await takeAll(page, 'portal', scheme, PORTAL)
    await close()
  }
} finally {
  await browser.close()
}
