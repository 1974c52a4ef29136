import { payoutPdf } from '@svc/server/statements/payout-pdf'
import { extractText, getDocumentProxy } from 'unpdf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount, giveFee, preparePayoutOf } from '../harness/payouts.ts'
import { memberBrowser } from '../harness/portal.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService({ env: { GST_STATE: '29' } })
})
afterAll(() => service.close())

/** Every line of a PDF, as one text. */
async function textOf(bytes: Uint8Array): Promise<string> {
  const { text } = await extractText(await getDocumentProxy(bytes), { mergePages: true })
  return text
}

async function download(path: string, headers: Record<string, string>) {
  const response = await fetch(`${service.client.baseUrl}${path}`, { headers })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { status: response.status, type: response.headers.get('content-type'), bytes }
}

async function newPayout(name: string) {
  const merchant = await service.newMerchant({ name })
  const client = await service.as(merchant)
  const { tr } = await newCode(service, client, { multipleUse: true })
  await giveAccount(service, merchant.merchantId, '29')
  await giveFee(service, merchant.merchantId, { basisPoints: 100, fixedPaise: 50n })
  await notifyCredit(service.client, creditOf(tr, { amount: 62_500.25 }))
  const paid = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 62_500.25 })))
  const payoutId = await preparePayoutOf(service, merchant.merchantId)
  return { merchant, client, payoutId, paymentId: paid.paymentId as string }
}

test('the statement of a payout shows how it adds up, exact to the paisa, in API, portal and console alike', async () => {
  const { client, merchant, paymentId, payoutId } = await newPayout('अशोक Stores')
  const path = `/payouts/${payoutId}/statement.pdf`
  const { authorization } = client.headers as { authorization: string }
  const { bytes, status, type } = await download(`/api/v0${path}`, { authorization })
  expect([status, type, Buffer.from(bytes.subarray(0, 5)).toString()]).toEqual([
    200,
    'application/pdf',
    '%PDF-',
  ])
  const text = await textOf(bytes)
  for (const said of [
    'Payout statement',
    'अशोक',
    payoutId,
    paymentId,
    '₹1,25,000.50',
    '−₹1,251.00',
    '−₹112.60',
  ])
    expect(text).toContain(said)
  expect(text).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d Payment pay_/)
  const { amount } = payloadOf(await client.get(`/api/v0/payouts/${payoutId}`))
  expect(text).toContain(
    new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' }).format(amount),
  )

  const [member, viewer] = [
    await memberBrowser(service, merchant.merchantId, 'viewer'),
    await signedIn(service, 'viewer'),
  ]
  for (const [prefix, browser] of [
    ['/portal/api/v0', member],
    ['/console/api/v0', viewer],
  ] as const) {
    const seen = await download(`${prefix}${path}`, { cookie: browser.cookie! })
    expect([prefix, seen.status]).toEqual([prefix, 200])
    expect(await textOf(seen.bytes)).toContain(paymentId)
  }
  const audit = (await viewer.get(`/audit?action=statement.exported&target=${payoutId}`)).json.data
  expect(audit).toHaveLength(1)
})

test('the statement of a card has the balances and each movement with its merchant', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId, token } = payloadOf(await createCard(client, partner))
  const shop = { merchantName: 'Corner Shop', merchantPlace: 'Pune', rrn: '633412000001' }
  await new Terminal(service.client, token).capture(12.5, shop)
  const { authorization, partnerid, cookie } = client.headers as Record<string, string>
  const headers = { authorization: authorization!, partnerid: partnerid!, cookie: cookie! }
  const { bytes, type } = await download(`/api/v0/partner/svcCard/${svcCardId}/statement.pdf`, headers)
  expect(type).toBe('application/pdf')
  const text = await textOf(bytes)
  for (const said of ['Card statement', svcCardId, 'Corner Shop, Pune, 633412000001', '₹12.50', '₹487.50'])
    expect(text).toContain(said)
})

test('the statement of a card account has the balances and movements of the period', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: 2_500 }))
  const path = `/card-accounts/${partner.cardAccountId}/statement.pdf`
  const { authorization } = client.headers as { authorization: string }
  const { bytes, status } = await download(`/api/v0/partner${path}`, { authorization })
  expect(status).toBe(200)
  const text = await textOf(bytes)
  const { payload }: Json = (
    await client.get(`/api/v0/partner/card-accounts/${partner.cardAccountId}/statement`)
  ).json
  const rupees = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' })
  for (const said of [
    'Card account statement',
    svcCardId,
    '₹2,500.00',
    rupees.format(payload.closingBalance),
  ])
    expect(text).toContain(said)
  const empty = await download(`/api/v0/partner${path}?from=2020-01-01&to=2020-01-31`, { authorization })
  expect(await textOf(empty.bytes)).toContain('2020-01-01 to 2020-01-31')
  const viewer = await signedIn(service, 'viewer')
  const shown = await download(`/console/api/v0${path}`, { cookie: viewer.cookie! })
  expect(await textOf(shown.bytes)).toContain(svcCardId)
})

test('a statement of thousands of lines has them all on numbered pages, and other work continues meanwhile', async () => {
  const { merchant, payoutId } = await newPayout('Busy Stores')
  const { database } = service.app.services
  const { readPayoutStatement } = await import('@svc/server/statements/payout-statement')
  const found = await database.read([merchant.merchantId], (tx) =>
    readPayoutStatement(tx, merchant.merchantId, payoutId),
  )
  const [line] = found.lines
  const lines = Array.from({ length: 3_000 }, (_, i) => ({ ...line!, objectId: `pay_${i}_` }))
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  const pdf = payoutPdf({ ...found, lines, timeZone: 'Asia/Kolkata', now: new Date() })
  const chunks: Buffer[] = []
  for await (const chunk of pdf) chunks.push(chunk as Buffer)
  clearInterval(timer)
  const document = await getDocumentProxy(new Uint8Array(Buffer.concat(chunks)))
  const { text, totalPages } = await extractText(document, { mergePages: true })
  expect(text).toContain('pay_0_')
  expect(text).toContain('pay_2999_')
  expect(text).toContain(`Page ${totalPages}`)
  expect(turns).toBeGreaterThan(50)
})
