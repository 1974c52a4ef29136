import { mkdirSync, readFileSync } from 'node:fs'
import { openBrowser, newVisitor, accessibilityFaults, overflowPx, type Size, type Scheme } from '../harness/browser.ts'
const base = 'http://127.0.0.1:18080'
const w = JSON.parse(readFileSync('/tmp/world.json', 'utf8'))
const out = '/tmp/shots'
mkdirSync(out, { recursive: true })
const PAGES: Record<string, string> = {
  overview: '/', requests: '/requests', request: `/requests/${w.badSealRequestId}`, request2: `/requests/${w.refusedSpendId}`,
  merchants: '/merchants', merchant: `/merchants/${w.merchantId}`, qrcodes: '/qr-codes', qrcode: `/qr-codes/${w.qrCodeId}`,
  partners: '/partners', partner: `/partners/${w.partnerId}`, companies: '/companies', company: `/companies/${w.companyId}`,
  accounts: '/card-accounts', account: `/card-accounts/${w.cardAccountId}`, users: '/users', user: `/users/${w.userId}`,
  cards: '/cards', card: `/cards/${w.svcCardId}`, coins: '/coins', coin: `/coins/${w.coinConfigId}`, ledger: '/ledger',
  ledgeraccount: `/ledger/accounts/${encodeURIComponent('card:' + w.svcCardId)}`, recon: '/ledger/reconciliation', audit: '/audit', operators: '/operators', me: '/account',
}
const only = process.argv[2] && process.argv[2] !== 'all' ? process.argv[2].split(',') : Object.keys(PAGES)
const combos = (process.argv[3] ?? 'desk-light,phone-dark').split(',')
const b = await openBrowser()
for (const combo of combos) {
  const [size, scheme] = combo.split('-') as [Size, Scheme]
  const v = await newVisitor(b, { baseUrl: base, size, scheme })
  await v.page.goto('/console/')
  await v.page.getByRole('button', { name: 'Enter the sandbox' }).waitFor()
  if (only.includes('signin') || only.length > 20) await v.page.screenshot({ path: `${out}/signin-${combo}.png` })
  await v.page.getByRole('button', { name: 'Enter the sandbox' }).click()
  await v.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  let n = 0
  for (const name of only) {
    if (!PAGES[name]) continue
    await v.page.goto('/console' + PAGES[name])
    await v.page.getByRole('heading', { level: 1 }).waitFor()
    await v.page.waitForLoadState('networkidle').catch(() => {})
    await v.page.waitForTimeout(name === 'overview' ? 900 : 250)
    await v.page.screenshot({ path: `${out}/${name}-${combo}.png`, fullPage: size === 'phone' ? false : true })
    const px = await overflowPx(v.page)
    if (px > 0) console.log(combo, name, 'overflow', px)
    for (const f of process.argv[4] === 'axe' ? await accessibilityFaults(v.page) : []) console.log(combo, name, f)
    for (; n < v.trouble.length; n++) console.log(combo, name, 'TROUBLE', v.trouble[n])
  }
  await v.close()
}
await b.close()
