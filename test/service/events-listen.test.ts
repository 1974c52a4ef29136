import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FeedStart } from '@svc/cli/feed-position'
import { listenToEvents } from '@svc/cli/listen-events'
import { TenantSession } from '@svc/cli/tenant-session'
import { UsageError } from '@svc/cli/usage-error'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Client, payloadOf } from '../harness/client.ts'
import { newCodes } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let tenant: Client
let dir: string
let last = 0
let positions = 0

beforeAll(async () => {
  service = await openService()
  dir = await mkdtemp(join(tmpdir(), 'svc-listen-'))
  merchant = await service.newMerchant()
  await writeFile(join(dir, 'sandbox.json'), JSON.stringify({ baseUrl: service.baseUrl, merchant }))
  tenant = await service.as(merchant)
  await happen(5)
})
afterAll(async () => {
  await service.close()
  await rm(dir, { recursive: true })
})

/** Makes as many events happen, and waits until they are numbered. */
async function happen(count: number): Promise<void> {
  last += count
  await newCodes(service, tenant, count)
  while (payloadOf(await tenant.get('/api/v0/events?limit=500')).data.length < last)
    await new Promise((resolve) => setTimeout(resolve, 50))
}
const newPosition = (): string => join(dir, `${++positions}.json`)
const argsOf = (position: string, ...more: string[]): string[] => [
  'listen',
  '--as',
  'merchant',
  '--position',
  position,
  ...more,
]

/** Ends a listener from what it prints. */
class Enough extends UsageError {}

/** The events that a listener prints until one more happens, which it must print, too. */
async function received(positionFile: string, start?: FeedStart): Promise<number[]> {
  const printed: number[] = []
  let next: Promise<void> | undefined
  const say = (line: string): void => {
    if (line.startsWith('Listening for events after #')) next = happen(1)
    const sequence = / {2}#(\d+) {2}/.exec(line)?.[1]
    if (sequence === undefined) return
    printed.push(Number(sequence))
    if (printed.at(-1) === last) throw new Enough()
  }
  const session = new TenantSession(service.baseUrl, { apiKey: merchant.apiKey })
  await expect(
    listenToEvents({ session, positionFile, forward: undefined, from: start, say }),
  ).rejects.toBeInstanceOf(Enough)
  await next
  return printed
}
const from = (first: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i)

test('svc listen begins with the next event, not with the history', async () => {
  const before = last
  expect(await received(newPosition())).toEqual([before + 1])
})

test('a restart continues at the stored position, repeats at most one event, and misses none', async () => {
  const position = newPosition()
  await received(position)
  const interrupted = last
  await happen(2)
  expect(await received(position)).toEqual(from(interrupted))
})

test('--from overrides the stored position', async () => {
  const position = newPosition()
  await received(position)
  expect(await received(position, 'start')).toEqual(from(1))
  const now = last
  await happen(1)
  expect(await received(position, 'now')).toEqual([now + 2])
})

test('--from start, a sequence number or a time begins there', async () => {
  expect(await received(newPosition(), 'start')).toEqual(from(1))
  expect(await received(newPosition(), 3)).toEqual(from(4))
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `with moved as (update outbox set created_at = created_at - interval '1 hour' where tenant_id = $1)
       update event_numbers set created_at = created_at - interval '1 hour' where tenant_id = $1`,
      [merchant.merchantId],
    ),
  )
  const earlier = last
  const at = new Date()
  await happen(3)
  expect(await received(newPosition(), at)).toEqual(from(earlier + 1))
  expect(await received(newPosition(), new Date(at.getTime() - 7_200_000))).toEqual(from(1))
})

test.each(['yesterday', '-1', '2026-04-01', '1.5', ''])(
  '--from %s is rejected, with what it accepts',
  async (text) => {
    const { code, stderr } = await runHere(argsOf(newPosition(), '--from', text), { DATA_DIR: dir })
    expect(code).toBe(1)
    expect(stderr).toContain('--from must be now, start, a sequence number or a time')
  },
)

test('a stored position that the feed has not reached ends the program with what to do', async () => {
  const position = newPosition()
  const settings = { DATA_DIR: dir }
  await writeFile(position, JSON.stringify({ after: last + 10, secret: 'whsec_c2VjcmV0' }))
  const { code, stdout, stderr } = await runHere(argsOf(position), settings)
  expect([code, stdout]).toEqual([1, `Listening for events after #${last + 10}\n`])
  expect(stderr).toBe(
    `The feed ends at number ${last}, before the position that was sent; continue with after=${last}. Start again with --from start or --from now.`,
  )
  expect(JSON.parse(await readFile(position, 'utf8'))).toMatchObject({ after: last + 10 })
})
