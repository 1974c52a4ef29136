import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkInvariants } from '@svc/console-api/invariants'
import { forgetUsers } from '@svc/core/cards/user/forget-users'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import { asCoinPartner, COINS, newConfig } from '../harness/coins.ts'
import { signedIn } from '../harness/console.ts'
import { expectFailure } from '../harness/failure.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'
import { tablesWith } from '../harness/tables-with.ts'

const USERS = '/api/v0/partner/users'
const DAY_MS = 86_400_000

let service: TestService
let other: TestService
let partner: TestPartner
let client: Client
let elsewhere: Client
let dataDir: string
beforeAll(async () => {
  service = await openService()
  other = await openService({ db: service.db })
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
  elsewhere = await asPartner(other.client, partner)
  dataDir = await mkdtemp(join(tmpdir(), 'svc-data-'))
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => [name, violations])
  await other.close()
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
  expect(broken).toEqual([])
})

const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])
const cli = (...args: string[]) =>
  runHere(args, { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: dataDir })

const newUser = async (profile: object): Promise<string> =>
  payloadOf(await client.post(USERS, { companyId: partner.companyId, ...profile })).userId
const erase = (userId: string, by = client): Promise<ApiResponse> => by.post(`${USERS}/${userId}/erase`, {})
const cardOf = async (order: object): Promise<Json> =>
  payloadOf(await createCard(client, partner, { loadAmount: 500, ...order }))
const path = (svcCardId: string, rest: string) => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const spendAll = async (svcCardId: string, amount = 500) =>
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount, channel: 'pos' }))
const block = async (svcCardId: string, reason = 'lost') =>
  payloadOf(await client.patch(path(svcCardId, '/status'), { status: 'BL', reason }))

const MARK = 'qzxmarker'
const CONTACTS = { mobile: '9812398123', email: `${MARK}.mail@example.com` }
const HOLDER = {
  ...CONTACTS,
  title: `${MARK}-title`,
  firstName: `${MARK}-first`,
  middleName: `${MARK}-middle`,
  lastName: `${MARK}-last`,
  gender: `${MARK}-gender`,
  specialDate: `${MARK}-date`,
  ...Object.fromEntries(
    ['address', 'address2', 'city', 'state', 'country', 'pincode'].map((part) => [part, `${MARK}-${part}`]),
  ),
  physicalDeliveryAddressFlag: true,
  deliveryAddress: `${MARK}-delivery`,
  deliveryAddress2: `${MARK}-delivery2`,
  deliveryCity: `${MARK}-deliverycity`,
  deliveryState: `${MARK}-deliverystate`,
  deliveryCountry: `${MARK}-deliverycountry`,
  deliveryPincode: `${MARK}-deliverypincode`,
}
const PERSONAL = [MARK, CONTACTS.mobile, 'ABCDE1234F']

test('nothing of an erased user is left in any column of any table; ids, amounts, feed and audit stay', async () => {
  const ordered = await cardOf({ ...HOLDER, referenceNumber: 'order of a person' })
  const { userId } = ordered
  await sql(`update users set tax_pan = 'ABCDE1234F' where user_id = $1`, [userId])
  await client.patch(path(ordered.svcCardId, '/status'), { status: 'L', reason: `asked by ${MARK}` })
  await client.patch(path(ordered.svcCardId, '/status'), { status: 'UL', reason: `${MARK} called` })
  const { svcCardId } = payloadOf(await client.post(path(ordered.svcCardId, '/replace'), { reason: MARK }))
  await spendAll(svcCardId)
  await block(svcCardId, `${MARK} left`)
  const feed = async (): Promise<Json[]> => payloadOf(await client.get('/api/v0/events?limit=500')).data
  await expect
    .poll(async () => (await feed()).filter(({ type }) => type === 'card.status_changed'))
    .toHaveLength(4)
  const before = await feed()
  expect(await tablesWith(service, PERSONAL)).toEqual(['card_changes', 'cards', 'outbox', 'users'])

  const erased = payloadOf(await erase(userId))
  expect(erased).toEqual({
    userId,
    companyId: partner.companyId,
    createdOn: expect.any(String),
    erasedOn: expect.any(String),
  })
  expect(await tablesWith(service, PERSONAL)).toEqual([])

  expect(payloadOf(await erase(userId))).toEqual(erased)
  expect(payloadOf(await client.get(`${USERS}/${userId}`))).toEqual(erased)
  const record = payloadOf(await client.get(path(svcCardId, '')))
  expect(record).toMatchObject({ svcCardId, userId, firstName: '', email: '', pan: '', accountBalance: 0 })
  await expect.poll(async () => (await feed()).at(-1)?.type).toBe('user.erased')
  const after = await feed()
  expect(after.filter(({ type }) => type === 'user.erased')).toHaveLength(1)
  const bare = ({ sequence, id, type, createdOn }: Json) => ({ sequence, id, type, createdOn })
  expect(after.slice(0, before.length).map(bare)).toEqual(before.map(bare))
  expect(after.find(({ type }) => type === 'card.created')?.data).toMatchObject({
    loadAmount: '500',
    firstName: '',
  })
  expect((await cli('admin', 'audit', 'verify', '--json')).code).toBe(0)
})

test('a user with a card in use, money, a hold or coins is not erased, and the error lists what is left', async () => {
  const userId = await newUser({ firstName: 'Ravi', mobile: '9000000001' })
  const { svcCardId, token } = await cardOf({ userId })
  const refused = async (left: string): Promise<void> => {
    const response = await erase(userId)
    expectFailure(response, 'user_in_use')
    expect(response.json.errorResponse.errorMessage).toContain(left)
  }
  await refused(`card ${svcCardId} in use`)
  const terminal = new Terminal(service.client, token)
  await terminal.authorize(200)
  await block(svcCardId)
  await refused(`500.00 rupees on card ${svcCardId}`)
  await refused(`200.00 rupees held on card ${svcCardId}`)
  await sql(`update card_authorizations set expires_at = now() where svc_card_id = $1`, [svcCardId])
  const coins = await asCoinPartner(service.client, partner)
  const { event } = await newConfig(coins, { amount: 30 })
  const award = { requestId: 'award.1', event, userId, companyId: partner.companyId }
  payloadOf(await coins.post(`${COINS}/allocate`, award))
  await refused('30 coins')
  expect(payloadOf(await client.get(`${USERS}/${userId}`))).toMatchObject({ firstName: 'Ravi' })
})

test('an erased user gets no card, no coins and no data; the same person can be registered again', async () => {
  const profile = { firstName: 'Meena', mobile: '9000000002', email: 'meena@example.com' }
  const userId = await newUser(profile)
  payloadOf(await erase(userId))
  expectFailure(await createCard(client, partner, { userId, loadAmount: 100 }), 'user_erased')
  expectFailure(await client.patch(`${USERS}/${userId}`, { firstName: 'Meena' }), 'user_erased')
  const coins = await asCoinPartner(service.client, partner)
  const { event } = await newConfig(coins)
  const award = { requestId: 'award.2', event, userId, companyId: partner.companyId }
  expectFailure(await coins.post(`${COINS}/allocate`, award), 'user_not_found')
  expect(await newUser(profile)).not.toBe(userId)
})

test('orders concurrent with an erasure in another process: an erased user has no holder on any card', async () => {
  for (let round = 0; round < 15; round++) {
    const userId = await newUser({ firstName: 'Race', lastName: `R${round}` })
    const [ordered, erased] = await Promise.all([
      createCard(client, partner, { userId, firstName: 'Race', loadAmount: 1 }),
      erase(userId, elsewhere),
    ])
    expect([ordered.status, erased.status].sort()).toEqual([200, 409])
  }
  expect(
    await sql(
      `select c.svc_card_id from cards c join users u using (partner_id, user_id)
       where u.erased_at is not null and c.holder <> '{}'`,
    ),
  ).toEqual([])
})

test('an award that waits behind an erasure is rejected: no erased user has coins', async () => {
  const coins = await asCoinPartner(service.client, partner)
  const { event } = await newConfig(coins, { amount: 5 })
  const userId = await newUser({ firstName: 'Late' })
  const award = (requestId: string) =>
    coins.post(`${COINS}/allocate`, { requestId, event, userId, companyId: partner.companyId })
  payloadOf(await award('late.1'))
  payloadOf(await coins.post(`${COINS}/redeem`, { requestId: 'late.2', userId, amount: 5 }))
  const awarded = await asSuperuser(service.db.database, async (outsider) => {
    await outsider.query('begin')
    await outsider.query('update users set erased_at = now(), first_name = null where user_id = $1', [userId])
    const awarding = award('late.3')
    await onceAwaited(outsider, 'commit')
    return awarding
  })
  expectFailure(awarded, 'user_not_found')
})

test('the service’s login cannot erase a holder of a user who is not erased', async () => {
  const { svcCardId } = await cardOf({ firstName: 'Kept' })
  await expect(
    service.app.services.database.write([partner.partnerId], (tx) =>
      tx.query({ name: 'try', text: 'select erase_holders($1, $2, $3, $3, $2)' } as never, [
        partner.partnerId,
        [svcCardId],
        [''],
      ]),
    ),
  ).rejects.toThrow('only the cards of erased users lose their holder')
})

test('after USER_RETENTION_DAYS a user without money or coins is erased automatically, once, and this is audited', async () => {
  const keeping = await openService({ db: service.db, env: { USER_RETENTION_DAYS: '30' }, background: false })
  try {
    const { svcCardId, userId } = await cardOf({ firstName: 'Long gone' })
    const rich = await cardOf({ firstName: 'With money' })
    const still = await cardOf({ firstName: 'In use' })
    await spendAll(svcCardId)
    await spendAll(still.svcCardId)
    await block(svcCardId)
    await block(rich.svcCardId)
    keeping.clock.advance(29 * DAY_MS)
    await forgetUsers(keeping.app.services)
    const isErased = async (id: string) =>
      payloadOf(await client.get(`${USERS}/${id}`)).erasedOn !== undefined
    expect(await isErased(userId)).toBe(false)
    keeping.clock.advance(2 * DAY_MS)
    expect(await forgetUsers(keeping.app.services)).toBeGreaterThan(0)
    expect(await isErased(userId)).toBe(true)
    expect(await isErased(rich.userId)).toBe(false)
    expect(await isErased(still.userId)).toBe(false)
    expect(await forgetUsers(keeping.app.services)).toBe(0)
    const [entry] = await sql<Json>(`select actor, action, content from audit_log where target = $1`, [
      userId,
    ])
    expect(entry).toMatchObject({ actor: 'service', action: 'user.erased' })
    expect(await forgetUsers(service.app.services)).toBe(0)
  } finally {
    await keeping.close()
  }
})

test('an administrator erases a user in the console and on the command line, with a reason that is audited', async () => {
  const [first, second] = [await newUser({ firstName: 'One' }), await newUser({ firstName: 'Two' })]
  const url = (id: string) => `/users/${id}/erase`
  const operator = await signedIn(service, 'operator')
  expect((await operator.send('POST', url(first), { reason: 'asked' })).status).toBe(403)
  const admin = await signedIn(service, 'admin')
  const erased = await admin.send('POST', url(first), { reason: 'asked by letter' })
  expect(erased.json).toMatchObject({ userId: first, erasedOn: expect.any(String) })
  expect(erased.json.firstName).toBeUndefined()
  const done = await cli('admin', 'user', 'erase', second, '--reason', 'asked by mail', '--json')
  expect(done.code, done.stderr).toBe(0)
  const entries = await sql<{ content: string }>(
    `select content from audit_log where action = 'user.erased' and target = any ($1) order by sequence`,
    [[first, second]],
  )
  expect(entries.map(({ content }) => JSON.parse(content).details.reason)).toEqual([
    'asked by letter',
    'asked by mail',
  ])
})

test('the reasons for voiding allocations of an erased user are erased, in the history and in events; pending coins prevent the erasure', async () => {
  const userId = await newUser({ firstName: 'Latha' })
  const { event } = await newConfig(client, { activation: 'CONFIRMATION' })
  const award = { requestId: 'erased-1', event, userId, companyId: partner.companyId }
  const { allocationId } = payloadOf(await client.post(`${COINS}/allocate`, award))
  expect(await erase(userId)).toMatchObject({
    error: 'user_in_use',
    errorDescription: expect.stringContaining('10 coins'),
  })
  const request = { requestId: 'erased-2', reason: 'voidmarker asked for it' }
  payloadOf(await client.post(`${COINS}/allocations/${allocationId}/void`, request))
  expect(await tablesWith(service, ['voidmarker'])).toEqual(['coin_voids', 'outbox'])
  payloadOf(await erase(userId))
  expect(await tablesWith(service, ['voidmarker'])).toEqual([])
  const voids = await sql('select lot_id, amount, reason from coin_voids where user_id = $1', [userId])
  expect(voids).toEqual([{ lot_id: allocationId, amount: '10', reason: '' }])
})
