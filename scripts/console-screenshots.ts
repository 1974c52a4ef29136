// Pictures of the console for the documentation, of a sandbox that runs: `tsx scripts/console-screenshots.ts http://127.0.0.1:8080`
import { fileURLToPath } from 'node:url'
import { makeWorld } from '../test/console/world.ts'
import { newVisitor, openBrowser } from '../test/harness/browser.ts'

const NAMES: Readonly<Record<string, string>> = {
  merchant: 'Tea Corner',
  qrName: 'Order 1042',
  description: 'Two teas and a samosa',
  customer: 'Meera Iyer',
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

const [baseUrl] = process.argv.slice(2)
if (!baseUrl) {
  console.error('Say where the sandbox runs: tsx scripts/console-screenshots.ts http://127.0.0.1:8080')
  process.exit(2)
}
const world = await makeWorld(baseUrl, (field) => NAMES[field] ?? field)
const browser = await openBrowser()
try {
  const { page } = await newVisitor(browser, { baseUrl })
  await page.goto('/console/')
  await page.getByRole('button', { name: 'Enter the sandbox' }).click()
  for (const [name, path, seen] of [
    ['overview', '/', 'The books add up'],
    ['request', `/requests/${world.refusedSpendId}`, 'What it touched'],
    ['card', `/cards/${world.svcCardId}`, 'Ledger entries'],
  ] as const) {
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goto(`/console${path}`)
    await page.getByText(seen).waitFor()
    await page.waitForLoadState('networkidle')
    const file = fileURLToPath(new URL(`../docs/images/console-${name}.png`, import.meta.url))
    await page.screenshot({ path: file })
    console.log(file)
  }
} finally {
  await browser.close()
}
