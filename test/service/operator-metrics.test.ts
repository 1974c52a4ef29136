import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { CommitQueue } from '@svc/platform/db/commit-queue'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

/** How many times each operation was carried out, and the names of the commit queues. */
async function measured() {
  const { text } = await service.client.get('/metrics')
  const lines = text.split('\n')
  const counts = new Map<string, number>()
  for (const line of lines) {
    const [, operation, count] =
      /^svc_http_request_seconds_count\{operation="([^"]+)",status="200"\} (\d+)$/.exec(line) ?? []
    if (operation) counts.set(operation, Number(count))
  }
  const queues = lines.flatMap((line) => /^svc_queued_commands\{queue="([^"]+)"\}/.exec(line)?.[1] ?? [])
  return { counts, queues }
}

test('requests of the console and of the API are counted separately; their commands wait in one queue', async () => {
  const partner = await newPartner(service)
  const caller = await asPartner(service.client, partner)
  const { svcCardId } = (await createCard(caller, partner)).json.payload
  const operator = await signedIn(service, 'operator')
  const lock = { status: 'L', reason: 'lost' }
  expect((await operator.post(`/cards/${svcCardId}/status`, lock)).status).toBe(200)
  expect((await caller.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, lock)).status).toBe(200)
  const { counts, queues } = await measured()
  expect(counts.get('changeCardStatus')).toBe(1)
  expect(counts.get('console.changeCardStatus')).toBe(1)
  expect(queues.filter((name) => name.endsWith('changeCardStatus'))).toEqual(['changeCardStatus'])
  const names = [...service.app.services.queues.open].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

test('a second queue with a name in use is a programming error, detected when it is opened', () => {
  const { queues } = service.app.services
  const [taken] = queues.open
  const spec = { name: taken!.name } as ConstructorParameters<typeof CommitQueue>[0]
  expect(() => new CommitQueue(spec, queues)).toThrow(`a second queue ${taken!.name}`)
})

test('internal errors of every operation are counted from zero, so that the first one is an increase', async () => {
  await signedIn(service, 'operator')
  const { text } = await service.client.get('/metrics')
  const zero = [...text.matchAll(/^svc_failures_total\{operation="([^"]+)",error="internal_error"\} 0$/gm)]
  const operations = [...OPERATIONS, ...CONSOLE_OPERATIONS].map(({ id }) => id)
  expect(zero.map(([, id]) => id)).toEqual(expect.arrayContaining([...operations, 'none']))
})

test('every background loop of a service has its metrics before its first failure', async () => {
  const { text } = await service.client.get('/metrics')
  const loops = text
    .split('\n')
    .flatMap((line) => /^svc_loop_failures_total\{loop="([^"]+)"\} \d+$/.exec(line)?.[1] ?? [])
  expect(loops.sort()).toEqual([
    'accrue_fees',
    'audit_anchors',
    'bulk_jobs',
    'close_tenants',
    'credential_refusals',
    'credential_uses',
    'deliver_webhooks',
    'end_cards',
    'epoch',
    'erase_attachments',
    'event_backlog',
    'expire_card_holds',
    'expire_coins',
    'expire_disputes',
    'expire_qr_codes',
    'failed_sign_ins',
    'forget_users',
    'grow_feed_trees',
    'issue_invoices',
    'keyring_refresh',
    'match_late_lines',
    'match_statements',
    'move_addresses',
    'number_events',
    'partitions',
    'prepare_scheduled_payouts',
    'prove_funds',
    'purge_expired',
    'reference_examples',
    'request_log',
    'sandbox_upi_switch',
    'send_alerts',
    'send_evidence',
    'test_clocks',
    'watch_alerts',
    'webhook_retention',
  ])
})
