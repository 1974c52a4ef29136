import { createSecretKey } from 'node:crypto'
import { findCardAccount, insertCardAccount } from '@svc/core/cards/account/card-account'
import { insertCompany } from '@svc/core/tenants/company'
import { issueSharedKey } from '@svc/core/tenants/jwe-keys'
import { createPartner, issueOAuthClient, revokeOAuthClient } from '@svc/core/tenants/partner'
import { insertUsers, newUserId } from '@svc/core/tenants/user'
import type { JweKey } from '@svc/jwe/keys'
import { paise } from '@svc/kernel/money'
import { fundCardAccount } from '../../test/harness/fund-card-account.ts'
import type { Tenant } from './callers.ts'
import { Tally } from './tally.ts'
import { ensure, type World } from './world.ts'

export interface Partner extends Tenant {
  readonly product: 'incentive' | 'employee_rewards'
  readonly companyId: string
  readonly cardAccountId: string
  readonly users: readonly string[]
  readonly sharedKey: JweKey
  /** What is left for cards. */
  readonly funds: Tally
  clients: { clientId: string; clientSecret: string }[]
}

const FUNDS_PAISE = 400_000_00n

/** A partner with a company, a card account with little money, and users. */
export async function newPartner(world: World, product: Partner['product']): Promise<Partner> {
  const { database, keyring, random, clock } = world.app.services
  const maker = { keyring, random, mode: 'test' as const }
  return database.operate(async (tx) => {
    const made = await createPartner(tx, maker, { name: `Partner ${product}`, products: [product] })
    const { partnerId } = made.partner
    const companyId = insertCompany(tx, random, partnerId, 'Acme Industries Limited')
    const cardAccountId = insertCardAccount(tx, random, {
      partnerId,
      companyId,
      product,
      accountType: product === 'incentive' ? 'GIFT' : 'EMPLOYEE_REWARDS',
      binType: 'GIFT',
      programme: 'Simulated',
      denominationPaise: 500_00n,
    })
    const funded = (await findCardAccount(tx, cardAccountId))!
    await fundCardAccount(tx, { random, timeZone: 'Asia/Kolkata' }, funded, paise(FUNDS_PAISE))
    const users = Array.from({ length: 5 }, () => newUserId(clock.now(), random))
    insertUsers(
      tx,
      users.map((userId, i) => ({
        userId,
        partnerId,
        companyId,
        profile: { firstName: `User${i}`, mobile: `900000000${i}` },
      })),
    )
    const { kid, alg, enc, k } = await issueSharedKey(tx, maker, partnerId)
    const funds = new Tally()
    funds.add(FUNDS_PAISE)
    const partner: Partner = {
      id: partnerId,
      token: undefined,
      product,
      companyId,
      cardAccountId,
      users,
      sharedKey: { kid, alg, enc, key: createSecretKey(Buffer.from(k.reveal(), 'base64url')) },
      funds,
      clients: [{ clientId: made.client.clientId, clientSecret: made.client.clientSecret.reveal() }],
      login: async ({ app }) => {
        const { clientId, clientSecret } = partner.clients.at(-1)!
        const response = await app.http.inject({
          method: 'POST',
          url: '/oauth/token',
          headers: { host: 'svc.example', 'content-type': 'application/x-www-form-urlencoded' },
          payload: `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`,
        })
        return {
          status: response.statusCode,
          text: response.body,
          json: response.json(),
          headers: response.headers,
        }
      },
      accept: ({ json, headers }, { process }) => {
        const text = json.access_token
        ensure(text, () => 'a partner got no token')
        partner.token = {
          text,
          // Whole seconds from the instant of issue, rounded down.
          expiresAtMs: (Math.floor(process.wallMs() / 1_000) + json.expires_in) * 1_000 - 120_000,
          issuedAtMs: process.wallMs(),
          dead: false,
          headers: {
            authorization: `Bearer ${text}`,
            partnerid: partnerId,
            cookie: String(headers['set-cookie']).split(';')[0]!,
          },
        }
      },
    }
    return partner
  })
}

/** The partner changes its client; tokens of the previous one end. */
export function changeClient(world: World, partner: Partner): () => Promise<void> {
  const { database, keyring, random } = world.app.services
  const { clientId } = partner.clients.at(-1)!
  return async () => {
    if (partner.token) partner.token.dead = true
    const issued = await database.operate(async (tx) => {
      const next = await issueOAuthClient(tx, { keyring, random, mode: 'test' }, partner.id, 'next client')
      await revokeOAuthClient(tx, clientId)
      return next
    })
    partner.clients.push({ clientId: issued.clientId, clientSecret: issued.clientSecret.reveal() })
  }
}
