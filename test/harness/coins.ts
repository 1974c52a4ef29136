import { COIN_CHECKS } from '@svc/core/coins/reconcile-coins'
import { reconcile } from '@svc/core/ledger/reconcile'
import { createCompany } from '@svc/core/tenants/create-company'
import { insertUsers, newUserId } from '@svc/core/tenants/user'
import { type ApiResponse, type Client, type Json, payloadOf } from './client.ts'
import { newPartner, partnerToken, type TestPartner } from './partner.ts'
import { asSuperuser, type TestService } from './service.ts'

export const COINS = '/api/v0/svc-coins'

/** A client that sends a fresh token of the partner, and nothing else. */
export async function asCoinPartner(client: Client, partner: TestPartner): Promise<Client> {
  const { access_token: token } = (await partnerToken(client, partner)).json
  return client.with({ authorization: `Bearer ${token}` })
}

export async function newCoinPartner(
  service: TestService,
): Promise<{ partner: TestPartner; client: Client }> {
  const partner = await newPartner(service, { fundsPaise: 0n })
  return { partner, client: await asCoinPartner(service.client, partner) }
}

export const newCompany = ({ app }: TestService, { partnerId }: TestPartner): Promise<string> =>
  app.services.commands
    .open(createCompany)
    .run({ partnerId, name: 'Second Company Limited' })
    .then(({ companyId }) => companyId)

/** Users of the partner, in its first company or in another one. */
export async function newUsers(
  { app }: TestService,
  { partnerId, companyId: first }: TestPartner,
  count: number,
  companyId = first,
): Promise<string[]> {
  const { database, random } = app.services
  const users = Array.from({ length: count }, () => ({
    userId: newUserId(Date.now(), random),
    partnerId,
    companyId,
    profile: { firstName: 'Ravi' },
  }))
  await database.operate(async (tx) => insertUsers(tx, users))
  return users.map(({ userId }) => userId)
}

let events = 0
/** An event that no configuration of any test has yet. */
export const newEvent = (): string => `event.${events++}`

export async function newConfig(client: Client, request: object = {}): Promise<Json> {
  return payloadOf(
    await client.post(COINS, { event: newEvent(), amount: 10, title: 'Thank you', ...request }),
  )
}

export const ifMatch = (revision: number): Record<string, string> => ({ 'if-match': `"${revision}"` })

export async function balanceOf(client: Client, userId: string): Promise<Json> {
  return payloadOf(await client.get(`${COINS}/users/${userId}/balance`))
}

/** The whole history, oldest first. */
export async function historyOf(client: Client, userId: string): Promise<Json[]> {
  const entries: Json[] = []
  let after = ''
  for (;;) {
    const { data, next } = payloadOf(await client.get(`${COINS}/users/${userId}/history?limit=100${after}`))
    entries.push(...data)
    if (next === undefined) return entries.reverse()
    after = `&after=${next}`
  }
}

/** What the books of coins and the ledger say against themselves: nothing, one hopes. */
export async function differencesOf({ app }: TestService): Promise<unknown[]> {
  const { checks } = await reconcile(app.services.database, COIN_CHECKS)
  return checks.filter(({ ok }) => !ok)
}

/** What events of a type say of a user, oldest first. */
export async function eventsOf({ db }: TestService, type: string, userId: string): Promise<Json[]> {
  const text = 'select payload from outbox where type = $1 and object_id = $2 order by event_id'
  const { rows } = await asSuperuser(db.database, (admin) =>
    admin.query<{ payload: Json }>(text, [type, userId]),
  )
  return rows.map(({ payload }) => payload)
}

/** The answer less what differs between any two answers: request id and time. */
export const withoutRequest = ({ text, headers }: ApiResponse): string =>
  text.replaceAll(String(headers['x-request-id']), '').replace(/"timestamp":"[^"]+"/, '')

/** An award that waits for confirmation, is confirmed and voided. */
export async function voidConfirmedCoins(service: TestService, partner: TestPartner): Promise<void> {
  const client = await asCoinPartner(service.client, partner)
  const { event } = await newConfig(client, { activation: 'CONFIRMATION' })
  const [userId] = await newUsers(service, partner, 1)
  const { companyId } = partner
  const { allocationId } = payloadOf(
    await client.post(`${COINS}/allocate`, { requestId: 'p', event, userId, companyId }),
  )
  const path = `${COINS}/allocations/${allocationId}`
  payloadOf(await client.post(`${path}/confirm`, {}))
  payloadOf(await client.post(`${path}/void`, { requestId: 'v', reason: 'returned' }))
}
