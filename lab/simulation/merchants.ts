import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import { createMerchant, setMerchantDisabled } from '@svc/core/tenants/merchant'
import type { Tenant } from './callers.ts'
import type { QrCode } from './qr-code.ts'
import { ensure, type World } from './world.ts'

export interface Merchant extends Tenant {
  readonly apiKeys: { apiKeyId: string; apiKey: string }[]
  disabledNow: boolean
  disabledEver: boolean
  readonly codes: QrCode[]
}

/** A merchant without codes; `n` makes its name and address its own. */
export async function newMerchant(world: World, n: number): Promise<Merchant> {
  const { database, keyring, random } = world.app.services
  const made = await database.operate((tx) =>
    createMerchant(
      tx,
      { keyring, random, mode: 'test' },
      { name: `Shop ${n}`, mcc: '5411', vpa: `shop${n}@bank` },
    ),
  )
  const merchant: Merchant = {
    id: made.merchant.merchantId,
    token: undefined,
    apiKeys: [{ apiKeyId: made.apiKey.apiKeyId, apiKey: made.apiKey.secret.reveal() }],
    disabledNow: false,
    disabledEver: false,
    codes: [],
    login: async ({ app }) => {
      const response = await app.http.inject({
        method: 'POST',
        url: '/api/v0/merchant/token',
        headers: { host: 'svc.example', 'api-key': merchant.apiKeys.at(-1)!.apiKey },
      })
      return {
        status: response.statusCode,
        text: response.body,
        json: response.json(),
        headers: response.headers,
      }
    },
    accept: ({ json }, { process }) => {
      ensure(!merchant.disabledNow, () => 'a disabled merchant got a token')
      const { token: text, expiry: expiresAtMs } = json
      merchant.token = {
        text,
        expiresAtMs,
        issuedAtMs: process.wallMs(),
        dead: false,
        headers: { authorization: `Bearer ${text}` },
      }
    },
  }
  return merchant
}

/** What the operator does to a merchant while it is at work: rolls its API key, or disables or enables it. */
export function changeMerchant(world: World, merchant: Merchant): () => Promise<void> {
  if (world.chance.happens(0.5)) return () => rollApiKey(world, merchant)
  const disabled = !merchant.disabledNow
  merchant.disabledEver = true
  return async () => {
    if (merchant.token) merchant.token.dead = true
    await setDisabled(world, merchant, disabled)
  }
}

async function rollApiKey({ app }: World, merchant: Merchant): Promise<void> {
  const { database, keyring, random } = app.services
  const { apiKeyId } = merchant.apiKeys.at(-1)!
  // Tokens of the key may be refused from here on.
  if (merchant.token) merchant.token.dead = true
  const issued = await database.operate(async (tx) => {
    const next = await issueApiKey(tx, { keyring, random, mode: 'test' }, merchant.id, 'next key')
    await revokeApiKey(tx, apiKeyId)
    return next
  })
  merchant.apiKeys.push({ apiKeyId: issued.apiKeyId, apiKey: issued.secret.reveal() })
}

async function setDisabled({ app }: World, merchant: Merchant, disabled: boolean): Promise<void> {
  await app.services.database.operate((tx) => setMerchantDisabled(tx, merchant.id, disabled))
  merchant.disabledNow = disabled
}

/** Enables all merchants again, one after the other. */
export async function enableMerchants(world: World, merchants: readonly Merchant[]): Promise<void> {
  for (const merchant of merchants.filter(({ disabledNow }) => disabledNow))
    await world.carryOut([() => setDisabled(world, merchant, false)])
}
