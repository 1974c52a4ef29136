import { SETTINGS } from '@svc/contract/config'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../harness/client.ts'
import { drawTrace } from '../harness/collector.ts'
import { Browser, PORTAL_API } from '../harness/console.ts'
import { AS_MEERA } from '../harness/handed-over.ts'
import { ELSEWHERE, type Live, METRICS_TOKEN, openLive, RAIL_KEY } from '../harness/live.ts'
import { LONG } from '../harness/long.ts'
import { codeOf } from '../harness/one-time-codes.ts'
import { errorsIn, type ServiceProcess, startProcess } from '../harness/processes.ts'
import { REDIS } from '../harness/redis.ts'
import {
  administerCards,
  administerKeys,
  administerMerchants,
  administerOperators,
  administerPartners,
  administrationCommands,
  PASSWORD,
  proveAndRestore,
  RUN_ELSEWHERE,
} from './administration.ts'
import {
  followEvents,
  type LiveMerchant,
  loseStream,
  newMerchant,
  openStream,
  sellWithCodes,
  TRACE_ID,
} from './merchants.ts'
import { onboard } from './onboarding.ts'
import { awardCoins, issueCards, type LivePartner, newPartner, register, useCard } from './partners.ts'
import {
  adjustPayment,
  fundAboveLimit,
  importOpeningBalance,
  invoice,
  payOut,
  resolveSuspense,
} from './payouts.ts'

// The program that ships, as production runs it: live mode, separate logins, every setting given. One test builds on the other.
let live: Live
let service: ServiceProcess
let client: Client
let merchant: LiveMerchant
let partner: LivePartner
let cards: Awaited<ReturnType<typeof issueCards>>
const commands: string[] = ['admin migrate']

beforeAll(async () => {
  const opened = await openLive()
  live = {
    ...opened,
    svc: (args, ...rest) => {
      commands.push(args.join(' '))
      return opened.svc(args, ...rest)
    },
  }
  service = await startProcess({ ...live.settings, NODE_EXTRA_CA_CERTS: live.receiver.certificate })
  client = await Client.open(service.baseUrl)
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await live?.close()
})

const figures = async (): Promise<string> =>
  (await client.get('/metrics', { authorization: `Bearer ${METRICS_TOKEN}` })).text

test.each(Object.entries(SETTINGS).filter(([name]) => !(name in ELSEWHERE)))(
  'the setting %s is set, to a value that is read',
  (name, setting) => {
    expect(live.settings[name], `${name} has no value in test/harness/live.ts`).toBeDefined()
    setting.read(live.settings[name]!)
  },
)

test.skipIf(!REDIS)('requests are counted in the store of RATE_LIMIT_URL', async () => {
  await expect.poll(figures, { timeout: 30_000 }).toMatch(/^svc_rate_limit_shared 1$/m)
})

test('merchants accept payments by QR code: rail, refunds and disputes', async () => {
  // Money is moved in an operator's name.
  await administerOperators(live.svc, client)
  merchant = await newMerchant(live, client)
  await sellWithCodes(live, merchant)
})

test('a payment is one trace, from the rail’s notice to batch, statements and webhook, and exposes no secret', async () => {
  const { collector, receiver, server } = live
  const names = () => collector.ofTrace(TRACE_ID).map(({ name }) => name)
  await expect.poll(names, { timeout: 60_000 }).toContain('webhook delivery')
  await expect.poll(names, { timeout: 60_000 }).toContain('POST /rails/upi/credits')
  expect(drawTrace(collector.ofTrace(TRACE_ID))).toMatchInlineSnapshot(`
    [
      "POST /rails/upi/credits",
      "  directory_qr_codes",
      "  command acceptPayment",
      "    batch acceptPayment",
      "      qr_codes_to_pay_wait",
      "      directory_payments",
      "      ledger_accounts_lock_wait",
      "      batch_now",
      "      qr_codes_update",
      "      journals_save",
      "      payments_insert",
      "      outbox_save",
      "      COMMIT",
      "      webhook delivery",
    ]
  `)
  const [event] = await server.query<{ event_id: string }>(
    "select event_id from outbox where traceparent like '%' || $1 || '%'",
    [TRACE_ID],
  )
  const delivery = collector.ofTrace(TRACE_ID).find(({ name }) => name === 'webhook delivery')
  expect(receiver.traceparents.get(event!.event_id)).toBe(`00-${TRACE_ID}-${delivery!.spanId}-01`)
  expect([...collector.senders]).toEqual(['Basic dXNlcjpw+w== for svc live'])
  for (const secret of [merchant.apiKey, RAIL_KEY, 'payer@', 'corner.shop', '"Corner'])
    expect(collector.text).not.toContain(secret)
  expect(service.written()).toContain(`"traceId":"${TRACE_ID}"`)
})

test('events reach webhook endpoints and the feed, and a lost stream is resumed', async () => {
  await followEvents(live, merchant)
  await loseStream(live, merchant)
})

test('partners issue cards one by one and in bulk, search them, and award coins', async () => {
  partner = await newPartner(live, client)
  cards = await issueCards(partner)
  await register(partner)
  await useCard(live, partner, cards.inUse)
  await awardCoins(partner)
})

/** Reads what happened to each kind of object with the documented login of operators. */
async function readRecords(browser: Browser): Promise<void> {
  const { data } = (await browser.get('/payments')).json
  const [payment] = data
  expect((await browser.get('/payments/totals')).json.count).toBe(data.length)
  expect((await browser.get('/payments.csv')).text).toContain(payment.paymentId)
  const [refund] = (await browser.get('/refunds')).json.data
  const [{ svcCardId }] = (await browser.get('/cards')).json.data
  const paths = [`/payments/${payment.paymentId}`, `/refunds/${refund.refundId}`]
  for (const path of [...paths, `/history/${payment.qrCodeId}`, `/history/${svcCardId}`])
    expect((await browser.get(path)).json.history, path).not.toEqual([])
  expect((await browser.get(`/search?q=${payment.utr.toLowerCase()}`)).json.results).toHaveLength(1)
}

test('a member of the merchant joins the portal with a link from the command line, and sees its payments', async () => {
  const invite = ['admin', 'member', 'invite', merchant.merchantId, 'ravi@shop.example']
  const { approvalId: waits, link } = await live.svc(invite)
  await live.svc(['admin', 'operator', 'approve', waits], '', AS_MEERA)
  const member = new Browser({ client }, PORTAL_API)
  const token = link.split('#')[1]
  expect((await member.post('/link/password', { token, password: PASSWORD })).status).toBe(200)
  expect(member.cookie).toMatch(/^__Host-svc_portal=/)
  expect((await member.get('/payments')).json.payload.recordsCount).toBeGreaterThan(0)
  expect((await member.post('/qr-code', { multipleUse: true })).status).toBe(200)
  const { secret } = (await member.post('/session/second-factor')).json
  const setUp = await member.post('/session/second-factor/confirm', { code: codeOf(secret) })
  expect(setUp.json.recoveryCodes).toHaveLength(10)
  const [recovery] = setUp.json.recoveryCodes
  const proof = { password: PASSWORD, code: recovery }
  expect((await member.post('/session/step-up', proof)).json.secondFactorNeeded).toBe(false)
  const key = (await member.post('/credentials', { name: 'till', addresses: ['203.0.113.0/24'] })).json
  expect(key.secret).toMatch(/^svc_live_/)
  const requestFrom = (address: string) =>
    client.send('POST', '/api/v0/merchant/token', undefined, {
      'api-key': key.secret,
      'x-forwarded-for': address,
    })
  expect([(await requestFrom('203.0.113.7')).status, (await requestFrom('198.51.100.9')).error]).toEqual([
    200,
    'address_not_allowed',
  ])
  const limits = { addresses: [], scopes: ['payments:read'] }
  expect((await member.send('PUT', `/credentials/${key.credentialId}/limits`, limits)).json).toMatchObject(
    limits,
  )
  const reset = ['admin', 'member', 'reset-second-factor', merchant.merchantId, 'ravi@shop.example']
  const { approvalId } = await live.svc(reset)
  await live.svc(['admin', 'operator', 'approve', approvalId], '', AS_MEERA)
  expect(await live.svc(['admin', 'member', 'list', merchant.merchantId])).toContainEqual(
    expect.objectContaining({ name: 'ravi@shop.example', hasSecondFactor: false }),
  )
  const page = await fetch(`${service.baseUrl}/portal/`)
  expect([page.status, await page.text()]).toEqual([
    200,
    expect.stringContaining('<title>svc portal</title>'),
  ])
})

test('operators sign in to the console and see the history of each object', async () => {
  const browser = new Browser({ client })
  expect((await browser.signIn('asha', PASSWORD)).status).toBe(200)
  expect((await browser.get('/session')).json.operator).toMatchObject({ name: 'asha', role: 'admin' })
  // That of the invitation, too.
  expect((await browser.get('/sessions')).json.data).toMatchObject([
    { isCurrent: true },
    { isCurrent: false },
  ])
  await browser.send('DELETE', '/sessions')
  expect((await browser.get('/sessions')).json.data).toMatchObject([{ isCurrent: true }])
  expect((await browser.get('/merchants')).json.data).toHaveLength(1)
  await readRecords(browser)
  const [logged] = await live.server.query<{ request_id: string }>(
    'select request_id from request_log where trace_id = $1',
    [TRACE_ID],
  )
  expect((await browser.get(`/requests/${logged?.request_id}`)).json.traceId).toBe(TRACE_ID)
  const page = await fetch(`${service.baseUrl}/console/`)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')])
})

test('a partner is onboarded in the console, and issues a card with the credentials from the link', async () => {
  const browser = new Browser({ client })
  await browser.signIn('asha', PASSWORD)
  await onboard(live, client, browser)
})

test('a funding above the limit is posted by a second person, and reversed', async () => {
  await fundAboveLimit(live, partner)
})

test('credits in suspense are assigned to merchants and paid out: one operator prepares, another approves, the bank pays', async () => {
  await resolveSuspense(live, merchant)
  await importOpeningBalance(live, merchant)
  const ravi = new Browser({ client })
  await adjustPayment(live, merchant, ravi)
  await payOut(live, merchant, ravi)
  await invoice(live, merchant)
})

test('published documents are served', async () => {
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/jwks.json',
    '/.well-known/svc-interpretation.json',
    '/.well-known/webhook-keys.json',
    '/livez',
    '/readyz',
  ])
    expect([path, (await client.get(path)).status]).toEqual([path, 200])
  for (const path of ['/docs', '/docs/errors', '/docs/guides', '/docs/guides/operate', '/openapi.json']) {
    const response = await fetch(service.baseUrl + path)
    // A body that is not read keeps its request in progress while the service drains.
    await response.arrayBuffer()
    expect([path, response.status]).toEqual([path, 200])
  }
})

test('every operation of live mode was called', async () => {
  // A request for figures is in those of the next one.
  await figures()
  const succeeded = new Set(
    [...(await figures()).matchAll(/^svc_http_request_seconds_count\{(.*)\}/gm)]
      .filter(([, labels]) => labels!.includes('status="2'))
      .map(([, labels]) => /operation="([^"]+)"/.exec(labels!)![1]),
  )
  const wanted = OPERATIONS.filter(({ sandboxOnly }) => !sandboxOnly).map(({ id }) => id)
  expect(wanted.filter((id) => !succeeded.has(id))).toEqual([])
})

if (LONG)
  test('every administration command works with the documented logins', async () => {
    await Promise.all([
      administerMerchants(live.svc, merchant, live.receiver.url(merchant.merchantId)),
      administerPartners(live, partner),
      administerCards(live.svc, cards),
    ])
    await administerKeys(live.svc)
    await proveAndRestore(live)
    // The service notices the restored data and begins anew on it, with keys of its own: tokens of before are refused.
    const readyTwice = /the data was replaced by a restore.*"msg":"ready"/s
    await expect.poll(() => readyTwice.test(service.written()), { timeout: 60_000 }).toBe(true)
    const wasRun = (name: string) =>
      commands.some((command) => command === name || command.startsWith(`${name} `))
    expect(
      (await administrationCommands()).filter((name) => !wasRun(name) && !(name in RUN_ELSEWHERE)),
    ).toEqual([])
  })

test('a clean restart logs nothing at error level, with load balancer probes and an open stream', async () => {
  const streamEnded = await openStream(merchant)
  process.kill(service.pid, 'SIGTERM')
  const statuses = new Set<number>()
  for (let up = true; up; )
    up = await fetch(`${service.baseUrl}/readyz`).then(
      ({ status }) => (statuses.add(status), true),
      () => false,
    )
  expect(await service.ended).toEqual({ code: 0, signal: null })
  await streamEnded()
  expect([...statuses]).toContain(503)
  expect(errorsIn(service.written())).toEqual([])
})
