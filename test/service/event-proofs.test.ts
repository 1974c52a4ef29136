import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { saveProfile } from '@svc/cli/profile-store'
import { forgetEvents } from '@svc/core/webhooks/feed-horizon'
import { compareHeads, notesOf, publishedHeads } from '@svc/core/webhooks/publish-heads'
import { beginRotation } from '@svc/platform/crypto/key-rotation'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FeedVerification, Merchant, Partner, RememberedHead } from '../../packages/sdk/src/index.ts'
import { runHere } from '../harness/cli.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { blocksOf, works } from '../harness/guides.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { creditOf, newCode, newCodes, notifyCredit } from '../harness/qr-codes.ts'
import { merchantClient, partnerClient } from '../harness/sdk.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  type TestMerchant,
  type TestService,
  tokenOf,
} from '../harness/service.ts'

// Promise N13: what a superuser changes, the tenant's own verification finds, in TypeScript and in the guide's Python.
const python = ['/usr/bin/python3', 'python3'].find((name) => works(name, '-c', 'import cryptography'))
const LINES_MAX = 60
const EVENTS = 5

let service: TestService
let folder: string
let program: string
beforeAll(async () => {
  service = await openService({ env: { EVENTS_DAYS: '10' } })
  folder = await mkdtemp(join(tmpdir(), 'svc-feed-'))
  const [{ code } = { code: '' }] = await blocksOf('guides/verify-the-feed.md', 'python')
  expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(LINES_MAX)
  program = join(folder, 'verify.py')
  await writeFile(program, code)
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])

/** A tenant with the two verifiers, and what each remembers. */
class Reader {
  readonly client: Merchant | Partner
  readonly token: string
  readonly #file: string
  remembered: RememberedHead | undefined

  constructor(name: string, client: Merchant | Partner, token: string) {
    this.client = client
    this.token = token
    this.#file = join(folder, `${name}.json`)
  }

  async verify(published?: string): Promise<FeedVerification> {
    const found = await this.client.events.verify({ remembered: this.remembered, published })
    if (found.problems.length === 0) this.remembered = found.head
    return found
  }

  /** What the guide's program prints, or why it fails. */
  async python(): Promise<string> {
    const args = [program, service.baseUrl, this.token, this.#file]
    return promisify(execFile)(python ?? '', args).then(
      ({ stdout }) => stdout,
      (error: { readonly stderr: string }) => `FAILED ${error.stderr}`,
    )
  }

  async expectWhole(): Promise<FeedVerification> {
    const found = await this.verify()
    expect(found.problems).toEqual([])
    if (python) expect(await this.python()).toBe(`${found.head.size} events are as they were signed\n`)
    return found
  }

  async expectChanged(problem: string): Promise<void> {
    const { problems } = await this.verify()
    expect(problems.join('; ')).toMatch(new RegExp(problem))
    if (python) expect(await this.python()).toMatch(/^FAILED (?:event|the)/)
  }
}

/** The head, once the tree has so many events. */
async function headOf(tenant: Client, size: number): Promise<Json> {
  for (;;) {
    const head = payloadOf(await tenant.get('/api/v0/events/head'))
    if (head.size >= size) return head
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Waits until the tree has every event of the feed, and no other. */
async function settled(tenant: Client): Promise<void> {
  await expect
    .poll(async () => payloadOf(await tenant.get('/api/v0/events/head')).size, { timeout: 30_000 })
    .toBe(payloadOf(await tenant.get('/api/v0/events?after=latest')).next)
}

interface Shop {
  readonly merchant: TestMerchant
  readonly tenant: Client
  readonly reader: Reader
}

/** A merchant with some events and a payment, whose feed was verified once. */
async function shopWith(name: string): Promise<Shop> {
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  const code = await newCode(service, tenant, { multipleUse: true, customParams: { 10: 'a', 9: 'ü“' } })
  payloadOf(await notifyCredit(service.client, creditOf(code.tr)))
  await newCodes(service, tenant, EVENTS - 2)
  await headOf(tenant, EVENTS)
  const token = await tokenOf(service.client, merchant.apiKey)
  const reader = new Reader(name, merchantClient(service, merchant), token)
  await reader.expectWhole()
  return { merchant, tenant, reader }
}

const EVENT = (number: number) =>
  `(select event_id from event_numbers where tenant_id = $1 and sequence = ${number})`
const MOVE = (from: string, to: string) =>
  `update event_numbers set sequence = ${to} where tenant_id = $1 and sequence ${from}`
/** The tree is made again of what the database has now: an operator who hides the traces. */
const REBUILD = [
  'delete from feed_tiles where tenant_id = $1',
  'delete from feed_commitments where tenant_id = $1',
  'update event_counters set proven_sequence = 0 where tenant_id = $1',
]
const EDIT = `update outbox set payload = payload || '{"amount": 99}' where tenant_id = $1 and event_id = ${EVENT(2)}`
const CUT = [
  `delete from outbox where tenant_id = $1 and event_id = ${EVENT(EVENTS)}`,
  `delete from event_numbers where tenant_id = $1 and sequence = ${EVENTS}`,
  `update event_counters set last_sequence = ${EVENTS - 1} where tenant_id = $1`,
]
const INSERT = [
  MOVE('>= 3', 'sequence + 100'),
  MOVE('> 100', 'sequence - 99'),
  `insert into outbox select 'evt_forged', tenant_id, type, object_id, payload, created_at from outbox
   where tenant_id = $1 and event_id = ${EVENT(2)}`,
  `insert into event_numbers select tenant_id, 3, position, created_at, 'evt_forged', type from event_numbers
   where tenant_id = $1 and sequence = 2`,
  'update event_counters set last_sequence = last_sequence + 1 where tenant_id = $1',
]
const BALANCE = `update ledger_accounts set balance = balance + 100 where tenant_id = $1 and kind = 'payable'`

/** What a superuser does, and what the tenant reads of it. */
const CHANGES: readonly [what: string, statements: readonly string[], problem: string][] = [
  ['edits an event', [EDIT], 'event 2 .* was changed'],
  [
    'edits the time of an event',
    [
      `update outbox set created_at = created_at - interval '1 day' where tenant_id = $1 and event_id = ${EVENT(2)}`,
    ],
    'event 2 .* was changed',
  ],
  [
    'deletes an event',
    [`delete from outbox where tenant_id = $1 and event_id = ${EVENT(2)}`],
    'event 2 is missing',
  ],
  [
    'deletes an event with its number',
    [`delete from event_numbers where tenant_id = $1 and sequence = 1`],
    'event 1 is missing',
  ],
  [
    'lets two events change their places',
    [MOVE('= 2', '102'), MOVE('= 3', '2'), MOVE('= 102', '3')],
    'event 2 .* was changed; event 3 .* was changed',
  ],
  ['puts an event between others', INSERT, 'event 3 .* was changed'],
  ['edits an event and makes the tree again', [EDIT, ...REBUILD], 'others than those of the remembered head'],
  ['cuts off the end and makes the tree again', [...CUT, ...REBUILD], 'the feed ends at 4'],
  ['edits a balance', [BALANCE], 'the balance of payable is 11.00 INR, its entries add up to 10.00'],
  [
    'edits a balance and its entry',
    [BALANCE, 'update ledger_transfers set amount = amount + 100 where tenant_id = $1'],
    'the balance of payable changed from 10.00 to 11.00 INR without an entry',
  ],
  [
    'removes an entry with its balance',
    [
      'delete from ledger_transfers where tenant_id = $1',
      'update ledger_accounts set balance = 0 where tenant_id = $1',
    ],
    'payable has fewer entries than before: 0 of 1',
  ],
]

/** As a superuser can: without triggers and foreign keys. */
const tamper = (work: (db: pg.Client) => Promise<void>): Promise<void> =>
  asSuperuser(service.db.database, async (db) => {
    await db.query('begin; set local session_replication_role = replica')
    await work(db)
    await db.query('commit')
  })

for (const [what, statements, problem] of CHANGES)
  test(`a superuser who ${what} is detected`, async () => {
    const { merchant, reader, tenant } = await shopWith(what.replaceAll(' ', '-'))
    await tamper(async (db) => {
      for (const text of statements) await db.query(text, text.includes('$1') ? [merchant.merchantId] : [])
    })
    await settled(tenant)
    await reader.expectChanged(problem)
    // The head stays as it was, so the next run finds the same.
    await reader.expectChanged(problem)
  })

test('two readers of one feed who are served two histories detect it by each other’s heads, and so does the operator', async () => {
  const { merchant, reader, tenant } = await shopWith('fork')
  const { database, keyring } = service.app.services
  const notes: string[] = []
  for await (const note of publishedHeads(database, keyring)) notes.push(note)
  const file = notes.join('\n')
  expect(notesOf(file)).toEqual(notes)
  expect(file).not.toContain('balance')
  expect((await reader.verify(file)).problems).toEqual([])
  await tamper(async (db) => {
    for (const text of [EDIT, ...REBUILD]) await db.query(text, [merchant.merchantId])
  })
  await settled(tenant)
  const other = new Reader('other', merchantClient(service, merchant), reader.token)
  expect((await other.client.events.verify()).problems).toEqual([])
  for (const published of [file, reader.remembered!.checkpoint])
    expect((await other.client.events.verify({ published })).problems).toEqual([
      `the first ${EVENTS} events are others than those of a published head: a fork`,
    ])
  const own = notes.filter((note) => note.includes(merchant.merchantId))
  expect(await compareHeads(database, keyring, own)).toEqual({
    heads: 1,
    problems: [
      `${merchant.merchantId}: the first ${EVENTS} events are others than those that were published: a fork`,
    ],
  })
  const forged = own[0]!.replace(`\n${EVENTS}\n`, `\n${EVENTS - 1}\n`)
  expect((await compareHeads(database, keyring, [forged])).problems).toEqual([
    'head 1 of the file is not signed by a key of this installation',
  ])
})

test('after events, a rotation of the key and retention an unchanged feed verifies with the head from before', async () => {
  const { merchant, tenant, reader } = await shopWith('unchanged')
  const { database, keyring } = service.app.services
  await beginRotation(database, keyring, 'receipt_signing')
  await newCodes(service, tenant, 3)
  await headOf(tenant, EVENTS + 3)
  const keyOf = (head: Json) => head.checkpoint.split(' ').at(-1).slice(0, 5)
  const before = keyOf(await headOf(tenant, 0))
  await expect.poll(async () => keyOf(await headOf(tenant, 0)), { timeout: 60_000 }).not.toBe(before)
  expect((await reader.expectWhole()).changes).toEqual(['3 new events'])
  // Nothing is new to one who reads only what is.
  const { remembered } = reader
  const again = await reader.client.events.verify({ remembered, newOnly: true })
  expect(again).toMatchObject({ problems: [], changes: [], events: 0 })
  expect(again.head.peaks).toEqual(remembered!.peaks)
  expect(merchant.merchantId).toBe(again.head.origin.split('/')[1])
}, 120_000)

test('events that are no longer kept leave their leaves behind', async () => {
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  // No tree grows until the events are as old as they are to be.
  await asSuperuser(service.db.database, async (db) => {
    await db.query(`select pg_advisory_lock(hashtext('svc feed trees'))`)
    await newCodes(service, tenant, 3)
    await expect.poll(async () => payloadOf(await tenant.get('/api/v0/events?after=latest')).next).toBe(3)
    for (const name of ['outbox', 'event_numbers'])
      await db.query(`update ${name} set created_at = created_at - interval '15 days' where tenant_id = $1`, [
        merchant.merchantId,
      ])
  })
  await newCodes(service, tenant, 2)
  const head = await headOf(tenant, 5)
  const reader = new Reader(
    'kept',
    merchantClient(service, merchant),
    await tokenOf(service.client, merchant.apiKey),
  )
  expect((await reader.expectWhole()).events).toBe(5)
  await forgetEvents(service.app.services)
  const found = await reader.expectWhole()
  expect(found).toMatchObject({ changes: ['events up to 3 are no longer kept'], events: 2 })
  expect(found.head.root).toBe(head.root)
})

test('an erased person leaves proofs whole and no salt; what is shown again is detected', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId, userId } = payloadOf(
    await createCard(client, partner, { loadAmount: 500, firstName: 'Qzx', mobile: '9812398123' }),
  )
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 500, channel: 'pos' }))
  payloadOf(
    await client.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'BL', reason: 'lost' }),
  )
  const size = 3
  await headOf(client, size)
  const token = client.headers['authorization']!.slice('Bearer '.length)
  const reader = new Reader('erased', partnerClient(service, partner), token)
  expect((await reader.expectWhole()).erased).toBe(0)
  const created = payloadOf(await client.get('/api/v0/events?type=card.created')).data[0]
  const proof = async () => payloadOf(await client.get(`/api/v0/events/${created.id}/proof?size=${size}`))
  const before = await proof()
  expect(before.personal).toMatchObject({ salt: expect.stringMatching(/^[0-9a-f]{32}$/) })

  payloadOf(await client.post(`/api/v0/partner/users/${userId}/erase`, {}))
  await headOf(client, size + 1)
  expect((await reader.expectWhole()).erased).toBe(2)
  const { salt: _, ...personal } = before.personal
  expect(await proof()).toEqual({ ...before, personal })
  expect(
    await sql('select 1 from feed_commitments where salt is not null and tenant_id = $1', [
      partner.partnerId,
    ]),
  ).toEqual([])

  await tamper(async (db) => {
    await db.query(`update outbox set payload = payload || '{"firstName": "Qzx"}' where event_id = $1`, [
      created.id,
    ])
  })
  await reader.expectChanged('has personal data that was erased')
})

test('proofs of inclusion and consistency are those of RFC 6962; a tenant has those of its own feed alone', async () => {
  const { tenant, reader } = await shopWith('proofs')
  const { tenant: other } = await shopWith('another')
  const [first] = payloadOf(await tenant.get('/api/v0/events?limit=1')).data
  const inclusion = payloadOf(await tenant.get(`/api/v0/events/${first.id}/proof`))
  const { data } = payloadOf(await tenant.get('/api/v0/events/leaves'))
  expect(inclusion).toMatchObject({
    sequence: 1,
    size: EVENTS,
    root: reader.remembered!.root,
    hash: data[0].hash,
  })
  // Section 2.1.1: of five leaves three hashes, the last of which is the fifth leaf.
  expect([inclusion.hashes.length, inclusion.hashes[0], inclusion.hashes[2]]).toEqual([
    3,
    data[1].hash,
    data[4].hash,
  ])
  expect(payloadOf(await tenant.get('/api/v0/events/consistency?from=4')).hashes).toEqual([data[4].hash])
  expectFailure(await other.get(`/api/v0/events/${first.id}/proof`), 'event_not_found')
  expectFailure(await tenant.get(`/api/v0/events/${first.id}/proof?size=6`), 'events_ahead')
  expectFailure(await tenant.get('/api/v0/events/consistency?from=6'), 'events_ahead')
  expectFailure(await tenant.get('/api/v0/events/consistency?from=5&to=4'), 'events_ahead')
  expectFailure(await tenant.get('/api/v0/events/leaves?after=6'), 'events_ahead')
})

test('a tenant without events has the empty tree; the checkpoint is the head as text', async () => {
  const tenant = await service.as(await service.newMerchant())
  const head = payloadOf(await tenant.get('/api/v0/events/head'))
  expect(head).toMatchObject({ size: 0, root: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' })
  const { headers, text } = await tenant.get('/api/v0/events/head', { accept: 'text/plain' })
  expect(headers['content-type']).toContain('text/plain')
  expect(text.split('\n').slice(0, 3)).toEqual([head.origin, '0', head.root])
})

test('svc events verify keeps the head and ends with 1 when something was changed; svc admin events publishes heads', async () => {
  const { merchant, tenant } = await shopWith('cli')
  const env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
  }
  const svc = (...args: string[]) => runHere(args, env)
  await saveProfile(env, 'shop', { baseUrl: service.baseUrl, credentials: { apiKey: merchant.apiKey } })
  expect(await svc('events', 'verify')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`The feed is whole: ${EVENTS} events`),
  })
  const file = join(folder, 'heads.txt')
  expect(await svc('admin', 'events', 'heads', file)).toMatchObject({ code: 0 })
  expect(await readFile(file, 'utf8')).toContain(`svc/${merchant.merchantId}\n${EVENTS}\n`)
  await newCodes(service, tenant, 1)
  await headOf(tenant, EVENTS + 1)
  expect(await svc('events', 'verify', '--heads', file, '--json')).toMatchObject({ code: 0, stderr: '' })
  await tamper(async (db) => {
    await db.query(EDIT, [merchant.merchantId])
  })
  expect(await svc('events', 'verify')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^CHANGED {2}event 2 .* was changed/),
  })
})
