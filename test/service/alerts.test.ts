import { watchAlerts } from '@svc/console-api/alerts/watch-alerts'
import { ROLES } from '@svc/console-api/identity/permissions'
import { readConfig } from '@svc/contract/config'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { creditOf, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, newDatabase, openService, type TestService } from '../harness/service.ts'
import { verifyDelivery, WebhookReceiver } from '../harness/webhook-receiver.ts'

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

// Two processes on one database, whose watches run when the test says so.
let receiver: WebhookReceiver
let services: [TestService, TestService]
let operator: Browser
beforeAll(async () => {
  receiver = await WebhookReceiver.open()
  const db = await newDatabase()
  const env = { ALERT_WEBHOOK_URL: receiver.url('/alerts'), ALERT_WEBHOOK_SECRET: SECRET }
  services = [await openService({ db, env }), await openService({ db, env })]
  operator = await signedIn(services[0], 'operator')
})
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()))
  await receiver.close()
})

const sql = (text: string, values: unknown[] = []) =>
  asSuperuser(services[0].db.database, (db) => db.query(text, values))

/** As when the process that watched has died: the lease is over, and both processes look. */
async function watch(): Promise<boolean[]> {
  await sql(`update alert_watch set until = '-infinity'`)
  return Promise.all(services.map(({ app }, i) => watchAlerts(app.services, `alp_${i}_${Math.random()}`)))
}
const alertsOf = async (kind: string, query = ''): Promise<Json[]> =>
  (await operator.get(`/alerts?kind=${kind}${query}`)).json.data
const messagesOf = (alertId: string): Json[] =>
  receiver.received.flatMap(({ event }) => (event.data.alertId === alertId ? [event] : []))
const typesOf = (alertId: string): string[] => messagesOf(alertId).map(({ type }) => type)
const delivered = (alertId: string, type: string) => receiver.until(() => typesOf(alertId).includes(type))

const endpoint = async (status: string): Promise<string> => {
  const { merchantId } = await services[0].newMerchant()
  const created = await operator.post('/webhooks', {
    tenantId: merchantId,
    endpoint: { url: receiver.url() },
  })
  const { endpointId } = created.json
  if (status === 'gone')
    await sql(
      `update webhook_endpoints set enabled = false, disabled_reason = 'gone' where endpoint_id = $1`,
      [endpointId],
    )
  return endpointId
}

test('two processes that check at the same moment open one alert, and send one signed message', async () => {
  const endpointId = await endpoint('gone')
  for (let round = 0; round < 5; round++) {
    const watched = await watch()
    // The loop of a service may have been first: then both have left it alone.
    const [lease] = (await sql('select holder from alert_watch where until > clock_timestamp()')).rows
    expect(lease, 'one of them has looked').toBeDefined()
    const held = ['alp_0_', 'alp_1_'].filter((prefix) => lease!.holder.startsWith(prefix))
    expect(watched.filter(Boolean)).toHaveLength(held.length)
  }
  const alerts = await alertsOf('webhook_endpoint_disabled', `&q=${endpointId}`)
  expect(alerts).toMatchObject([
    { objectId: endpointId, pageId: endpointId, status: 'open', severity: 'warning' },
  ])
  const { alertId } = alerts[0]
  await delivered(alertId, 'alert.opened')
  const received = receiver.at('/alerts').find(({ event }) => event.data.alertId === alertId)
  expect(verifyDelivery(received!, SECRET)).toMatchObject({
    type: 'alert.opened',
    id: received!.headers['webhook-id'],
    data: { kind: 'webhook_endpoint_disabled', status: 'open', url: expect.stringContaining(alertId) },
  })
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  expect(() => verifyDelivery(received!, other)).toThrow('No matching signature')
  const { rows } = await sql('select count(*)::int as count from alert_messages where alert_id = $1', [
    alertId,
  ])
  expect(rows[0].count).toBe(1)
  expect(typesOf(alertId)).toEqual(['alert.opened'])
})

test('an alert closes automatically when its condition ends, and a new one opens when the condition returns', async () => {
  const endpointId = await endpoint('gone')
  await watch()
  await operator.send('PATCH', `/webhooks/${endpointId}`, { enabled: true })
  await watch()
  const [closed] = await alertsOf('webhook_endpoint_disabled', `&q=${endpointId}`)
  expect(closed).toMatchObject({ status: 'closed', closedOn: expect.any(String) })
  await delivered(closed.alertId, 'alert.closed')
  expect(typesOf(closed.alertId)).toEqual(['alert.opened', 'alert.closed'])
  expect((await operator.post(`/alerts/${closed.alertId}/acknowledge`, { note: 'late' })).error).toBe(
    'alert_closed',
  )
  await sql(`update webhook_endpoints set enabled = false, disabled_reason = 'gone' where endpoint_id = $1`, [
    endpointId,
  ])
  await watch()
  const again = await alertsOf('webhook_endpoint_disabled', `&q=${endpointId}`)
  expect(again.map(({ status }) => status)).toEqual(['open', 'closed'])
})

test('an alert stays open while its condition lasts, however many more cases of its kind there are', async () => {
  const endpointId = await endpoint('gone')
  await watch()
  // By their ids they come before it.
  await sql(
    `insert into webhook_endpoints
     select (jsonb_populate_record(e, jsonb_build_object('endpoint_id', 'whe_00_' || n))).*
     from webhook_endpoints e cross join generate_series(1, 150) n where e.endpoint_id = $1`,
    [endpointId],
  )
  await watch()
  expect(await alertsOf('webhook_endpoint_disabled', `&q=${endpointId}`)).toMatchObject([{ status: 'open' }])
  const open = `select from alerts where kind = 'webhook_endpoint_disabled' and closed_at is null`
  expect((await sql(open)).rowCount).toBe(100)
  await sql(`delete from webhook_endpoints where endpoint_id like 'whe_00_%'`)
})

test('an acknowledgement records who and why, is audited once, and ends when the condition gets worse', async () => {
  const stray = () => notifyCredit(services[0].client, creditOf('NOSUCHCODE', { amount: 3 }))
  const age = () =>
    sql(`update payments set created_at = now() - interval '2 days' where status = 'SUSPENSE'`)
  await stray()
  await age()
  await watch()
  const [{ alertId }] = await alertsOf('suspense_old')
  const path = `/alerts/${alertId}/acknowledge`
  const [first, second] = await Promise.all([
    operator.post(path, { note: ' asked the bank ' }),
    operator.post(path, { note: 'me too' }),
  ])
  expect([first.status, second.status]).toEqual([200, 200])
  // Whoever came first is the one who takes care; the other one sees who that is.
  expect(second.json).toEqual(first.json)
  const { name } = (await operator.get('/session')).json.operator
  expect(first.json).toMatchObject({ status: 'acknowledged', acknowledgedBy: `operator ${name}` })
  expect(['asked the bank', 'me too']).toContain(first.json.note)
  const entries = (await operator.get(`/audit?target=${alertId}`)).json.data
  expect(entries).toMatchObject([{ action: 'alert.acknowledged', actor: `operator ${name}` }])
  await watch()
  expect((await alertsOf('suspense_old'))[0].status).toBe('acknowledged')
  await stray()
  await age()
  await watch()
  expect((await alertsOf('suspense_old'))[0]).toMatchObject({ alertId, status: 'open', value: 2 })
  await delivered(alertId, 'alert.worsened')
  expect(typesOf(alertId)).toEqual(['alert.opened', 'alert.acknowledged', 'alert.worsened'])
})

test('every role that may act can acknowledge alerts, a role that may only view cannot', async () => {
  const may = new Set(['support', 'finance', 'operations', 'operator', 'admin'])
  for (const role of ROLES) {
    const objectId = await endpoint('gone')
    await watch()
    const browser = await signedIn(services[1], role)
    const [{ alertId }] = (await browser.get(`/alerts?q=${objectId}`)).json.data
    const { error, status } = await browser.post(`/alerts/${alertId}/acknowledge`, { note: 'seen' })
    expect([role, status, error]).toEqual(
      may.has(role) ? [role, 200, undefined] : [role, 403, 'role_too_low'],
    )
  }
  expect((await operator.post('/alerts/alr_none/acknowledge', { note: 'x' })).error).toBe('alert_not_found')
  expect((await operator.post('/alerts/alr_none/acknowledge', { note: ' ' })).status).toBe(400)
})

test('a message that is not accepted is sent again, and later ones of its alert wait for it', async () => {
  const endpointId = await endpoint('gone')
  let refusals = 0
  receiver.response = ({ event }, response) => {
    const isOfIt = event?.type === 'alert.opened' && JSON.stringify(event).includes(endpointId)
    response.writeHead(isOfIt && refusals++ === 0 ? 503 : 204).end()
  }
  await watch()
  const [{ alertId }] = await alertsOf('webhook_endpoint_disabled', `&q=${endpointId}`)
  await receiver.until(() => typesOf(alertId).length === 1)
  await operator.post(`/alerts/${alertId}/acknowledge`, { note: 'on it' })
  await expect
    .poll(
      async () =>
        (
          await sql('select failure from alert_messages where alert_id = $1 and failure is not null', [
            alertId,
          ])
        ).rows,
      { timeout: 30_000 },
    )
    .toEqual([{ failure: 'status 503' }])
  expect(typesOf(alertId)).toEqual(['alert.opened'])
  await sql(`update alert_messages set due_at = now() where alert_id = $1 and attempts > 0`, [alertId])
  await delivered(alertId, 'alert.acknowledged')
  expect(typesOf(alertId)).toEqual(['alert.opened', 'alert.opened', 'alert.acknowledged'])
  const [one, two] = messagesOf(alertId)
  expect(two).toEqual(one)
})

const since = (hours: number) => `now() - interval '${hours} hours'`

test.each([
  [
    'books_differ',
    `insert into console_checks (kind, started_at, started_by, finished_at, result) values ('ledger', now(), 'x', now(), '{"ok": false, "checks": [{"ok": false}, {"ok": true}]}')`,
    'critical',
  ],
  [
    'books_unchecked',
    `update console_checks set started_at = ${since(30)} where kind = 'ledger'; update tenants set created_at = ${since(40)} where tenant_id = 'house'`,
    'warning',
  ],
  [
    'audit_chain_broken',
    `insert into console_checks (kind, started_at, started_by, finished_at, result) values ('audit', now(), 'x', now(), '{"whole": false, "number": 3}')`,
    'critical',
  ],
  [
    'rail_signature_rejected',
    `insert into minute_sums (minute, what, count, amount) values (date_trunc('minute', now()), 'failure invalid_signature', 7, 0) on conflict (minute, what) do update set count = 7`,
    'critical',
  ],
])('%s opens an alert', async (kind, damage, severity) => {
  await sql(damage)
  await watch()
  expect(await alertsOf(kind)).toMatchObject([{ kind, severity, status: 'open' }])
})

test('a quarantined notice of the bank opens an alert', async () => {
  await notifyCredit(services[0].client, { ...creditOf('NOSUCHCODE'), utr: '' })
  await watch()
  expect(await alertsOf('notices_in_quarantine')).toMatchObject([{ status: 'open', value: 1 }])
})

test('the command line lists alerts and acknowledges one', async () => {
  const objectId = await endpoint('gone')
  await watch()
  const env = { DATABASE_URL: services[0].db.url, SVC_MASTER_KEY: MASTER_KEY, ALERT_WEBHOOK_SECRET: SECRET }
  const svc = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await runHere(['admin', 'alerts', ...args, '--json'], env)
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const { alertId } = (await svc('list')).find((alert: Json) => alert.objectId === objectId)
  expect(await svc('acknowledge', alertId, '--note', 'ticket 1042')).toMatchObject({
    status: 'acknowledged',
    note: 'ticket 1042',
    acknowledgedBy: expect.stringMatching(/^cli /),
  })
  const again = await runHere(['admin', 'alerts', 'acknowledge', 'alr_none', '--note', 'x'], env)
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Alert not found. List: svc admin alerts list'),
  })
})

test('an address in a private network is not called unless the setting allows it', async () => {
  const db = await newDatabase()
  const env = {
    ALERT_WEBHOOK_URL: `http://10.255.255.1:${receiver.port}/alerts`,
    ALERT_WEBHOOK_SECRET: SECRET,
  }
  const service = await openService({ db, env })
  try {
    await asSuperuser(db.database, (client) =>
      client.query(
        `insert into console_checks (kind, started_at, started_by, finished_at, result) values ('audit', now(), 'x', now(), '{"whole": false}')`,
      ),
    )
    await asSuperuser(db.database, (client) => client.query(`update alert_watch set until = '-infinity'`))
    await watchAlerts(service.app.services, 'alp_test')
    const failure = () =>
      asSuperuser(
        db.database,
        async (client) => (await client.query('select failure from alert_messages')).rows,
      )
    await expect.poll(failure, { timeout: 20_000 }).toEqual([{ failure: 'the address is not public' }])
  } finally {
    await service.close()
  }
})

test('an address for alerts requires a secret, and TLS in live mode', () => {
  const errorsOf = (env: Record<string, string>): string => {
    try {
      readConfig(env)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(errorsOf({ ALERT_WEBHOOK_URL: 'https://alerts.example' })).toContain(
    'ALERT_WEBHOOK_SECRET is needed with ALERT_WEBHOOK_URL',
  )
  expect(errorsOf({ ALERT_WEBHOOK_SECRET: 'whsec_short' })).toContain('ALERT_WEBHOOK_SECRET must be whsec_')
  expect(
    errorsOf({ SVC_MODE: 'live', ALERT_WEBHOOK_URL: 'http://alerts.example', ALERT_WEBHOOK_SECRET: SECRET }),
  ).toContain('ALERT_WEBHOOK_URL must begin with https: in live mode')
})
