import { createPublicKey, createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { type AccountType, findCardAccount, insertCardAccount } from '@svc/core/cards/account/card-account'
import { insertCompany } from '@svc/core/tenants/company'
import { issueSharedKey, type SharedKey } from '@svc/core/tenants/jwe-keys'
import { createPartner, type Product } from '@svc/core/tenants/partner'
import { insertUsers, newUserId } from '@svc/core/tenants/user'
import { encrypt } from '@svc/jwe/jwe'
import type { JweKey } from '@svc/jwe/keys'
import { paise } from '@svc/kernel/money'
import type { ApiResponse, Client, Json } from './client.ts'
import { fundCardAccount } from './fund-card-account.ts'
import { asSuperuser, type TestService } from './service.ts'

export interface TestPartner {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly sharedKey: JweKey
  readonly companyId: string
  readonly companyName: string
  readonly cardAccountId: string
  readonly userId: string
}

interface PartnerPlan {
  readonly products?: readonly Product[]
  readonly fundsPaise?: bigint
  readonly accountProduct?: Product
  readonly accountType?: AccountType
}

/** A partner with a company, a funded card account of denomination 500 rupees and a user. */
export async function newPartner(service: TestService, plan: PartnerPlan = {}): Promise<TestPartner> {
  const { products = ['incentive'], fundsPaise = 1_000_000_00n, accountProduct = products[0]! } = plan
  const { accountType = accountProduct === 'incentive' ? 'GIFT' : 'EMPLOYEE_REWARDS' } = plan
  const { database, keyring, random } = service.app.services
  const companyName = 'Acme Industries Private Limited'
  return database.operate(async (tx) => {
    const maker = { keyring, random, mode: 'test' as const }
    const { partner, client } = await createPartner(tx, maker, {
      name: `Partner ${randomBytes(3).toString('hex')}`,
      products,
    })
    const { partnerId } = partner
    const companyId = insertCompany(tx, random, partnerId, companyName)
    const cardAccountId = insertCardAccount(tx, random, {
      partnerId,
      companyId,
      product: accountProduct,
      accountType,
      binType: accountProduct === 'incentive' ? 'GIFT' : 'REWARD',
      programme: 'Test programme',
      denominationPaise: 500_00n,
    })
    if (fundsPaise > 0n)
      await fundCardAccount(
        tx,
        { random, timeZone: service.app.services.config.BUSINESS_TIME_ZONE },
        (await findCardAccount(tx, cardAccountId))!,
        paise(fundsPaise),
      )
    const userId = newUserId(Date.now(), random)
    insertUsers(tx, [
      {
        userId,
        partnerId,
        companyId,
        profile: { firstName: 'Asha', lastName: 'Rao', email: 'asha@example.com' },
      },
    ])
    const sharedKey = sharedJweKey(await issueSharedKey(tx, maker, partnerId))
    const clientSecret = client.clientSecret.reveal()
    return {
      partnerId,
      clientId: client.clientId,
      clientSecret,
      sharedKey,
      companyId,
      companyName,
      cardAccountId,
      userId,
    }
  })
}

export const sharedJweKey = ({ kid, alg, enc, k }: SharedKey): JweKey => ({
  kid,
  alg,
  enc,
  key: createSecretKey(Buffer.from(k.reveal(), 'base64url')),
})

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

export const partnerToken = (
  client: Client,
  { clientId, clientSecret }: Pick<TestPartner, 'clientId' | 'clientSecret'>,
): Promise<ApiResponse> =>
  client.send(
    'POST',
    '/oauth/token',
    new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    }).toString(),
    FORM,
  )

/** A client that sends a fresh token, the partner id and the session cookie. */
export async function asPartner(client: Client, partner: TestPartner): Promise<Client> {
  const response = await partnerToken(client, partner)
  const cookie = String(response.headers['set-cookie']).split(';')[0]!
  return client.with({
    authorization: `Bearer ${response.json.access_token}`,
    partnerid: partner.partnerId,
    cookie,
  })
}

export const encryptFor = (
  partner: TestPartner,
  body: unknown,
  key: JweKey = partner.sharedKey,
): Promise<string> => encrypt(Buffer.from(JSON.stringify(body)), key)

/** The service's published key of a curve or type, as any partner finds it. */
export async function publishedKey(client: Client, kind: 'P-256' | 'X25519' | 'RSA'): Promise<JweKey> {
  const { keys } = (await client.get('/.well-known/jwks.json')).json
  const jwk = keys.find((key: Json) => key.use === 'enc' && (key.crv ?? key.kty) === kind)
  return { kid: jwk.kid, alg: jwk.alg, enc: 'A256GCM', key: createPublicKey({ key: jwk, format: 'jwk' }) }
}

export const CREATE = '/api/v0/partner/svcCard'
export const SEARCH = '/api/v0/partner/svcCard/search'
export const JOSE = { 'content-type': 'application/jose' }

/** How many rows each table holds that issuing cards writes to. */
export async function countRows(database: string): Promise<Record<string, number>> {
  const tables = 'cards users ledger_accounts ledger_transfers outbox idempotency_keys batches'.split(' ')
  const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`)
  const { rows } = await asSuperuser(database, (db) =>
    db.query<Record<string, number>>(`select ${counts.join(', ')}`),
  )
  return rows[0]!
}

/** Orders a card as the specification has it: encrypted with the shared key, as a JSON string. */
export async function orderCard(
  client: Client,
  partner: TestPartner,
  order: object = {},
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  const { companyId, cardAccountId } = partner
  return client.post(CREATE, await encryptFor(partner, { companyId, cardAccountId, ...order }), headers)
}

/** Issues a card of its own, also where an equal one was issued just before: the order has a key (decision C22). */
export const createCard: typeof orderCard = (client, partner, order, headers) =>
  orderCard(client, partner, order, { 'idempotency-key': randomUUID(), ...headers })
