import { type IncomingMessage, request } from 'node:http'
import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import { issueOAuthClient, revokeOAuthClient } from '@svc/core/tenants/partner'
import { setTenantDisabled } from '@svc/core/tenants/tenant'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertManyCards, manyCardId } from '../harness/many-cards.ts'
import { asPartner, newPartner, SEARCH, type TestPartner } from '../harness/partner.ts'
import { newCode, newUtr } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestMerchant, type TestService, tokenOf } from '../harness/service.ts'

/** More than the buffers between the service and a reader hold. */
const CARDS = 20_000
const PAYMENTS = 50_000

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

/** A response whose reader stands still after the first bytes. */
interface Slow {
  /** Reads on to the end; returns the text, and how it ended. */
  rest(): Promise<{ readonly text: string; readonly how: string }>
}

interface StreamRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

async function begin({ method, path, headers, body }: StreamRequest): Promise<Slow> {
  const clientRequest = request(`${service.client.baseUrl}${path}`, { method, headers, agent: false }).end(
    body,
  )
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    clientRequest.once('response', resolve).once('error', reject),
  )
  expect(response.statusCode).toBe(200)
  response.pause()
  const chunks: Buffer[] = []
  const ended = new Promise<string>((resolve) => {
    response.once('end', () => resolve('ended'))
    response.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
  })
  return {
    async rest() {
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.resume()
      return { how: await ended, text: Buffer.concat(chunks).toString() }
    },
  }
}

/** A tenant who streams all of something with a credential of its own. */
interface Caller {
  readonly tenantId: string
  readonly kind: 'merchant' | 'partner'
  readonly requested: StreamRequest
  /** In the last line of the whole response. */
  readonly last: string
  revoke(): Promise<unknown>
}

let partner: TestPartner
let merchant: TestMerchant
beforeAll(async () => {
  partner = await newPartner(service, { products: ['employee_rewards'], fundsPaise: 10n ** 10n })
  merchant = await service.newMerchant()
  const { qrCodeId } = await newCode(service, await service.as(merchant), { multipleUse: true })
  await asSuperuser(service.db.database, async (admin) => {
    await insertManyCards(admin, partner, 1, CARDS)
    await admin.query(
      `insert into payments (payment_id, merchant_id, qr_code_id, utr, tr, amount_paise, payer_vpa, status, created_at)
       select 'pay_' || lpad(n::text, 26, '0'), $1, $2, $3 || n, 'x', n, 'p@bank', 'ACCEPTED', now() - n * interval '1 s'
       from generate_series(1, ${PAYMENTS}) n`,
      [merchant.merchantId, qrCodeId, newUtr()],
    )
  })
})

async function newSearcher(): Promise<Caller> {
  const { database, keyring, random } = service.app.services
  const { partnerId, companyId, cardAccountId } = partner
  const { clientId, clientSecret } = await database.operate((tx) =>
    issueOAuthClient(tx, { keyring, random, mode: 'test' }, partnerId, 'of a search'),
  )
  const client = { ...partner, clientId, clientSecret: clientSecret.reveal() }
  const { headers } = await asPartner(service.client, client)
  return {
    tenantId: partnerId,
    kind: 'partner',
    requested: {
      method: 'POST',
      path: SEARCH,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ companyId, cardAccountId }),
    },
    last: manyCardId(CARDS),
    revoke: () => database.operate((tx) => revokeOAuthClient(tx, clientId)),
  }
}

async function newExporter(): Promise<Caller> {
  const { database, keyring, random } = service.app.services
  const { merchantId } = merchant
  const { apiKeyId, secret } = await database.operate((tx) =>
    issueApiKey(tx, { keyring, random, mode: 'test' }, merchantId, 'of an export'),
  )
  const authorization = `Bearer ${await tokenOf(service.client, secret.reveal())}`
  return {
    tenantId: merchantId,
    kind: 'merchant',
    requested: { method: 'GET', path: '/api/v0/payments', headers: { authorization, accept: 'text/csv' } },
    last: `pay_${String(PAYMENTS).padStart(26, '0')}`,
    revoke: () => database.operate((tx) => revokeApiKey(tx, apiKeyId)),
  }
}

const disable = ({ tenantId, kind }: Caller, isDisabled: boolean) =>
  service.app.services.database.operate((tx) => setTenantDisabled(tx, tenantId, kind, isDisabled))

const statusOf = async ({ requested: { headers } }: Caller): Promise<number> => {
  const { authorization = '' } = headers
  return (await service.client.with({ authorization }).get('/api/v0/events')).status
}

describe.each([
  ['a search of a whole account', newSearcher],
  ['all payments as CSV', newExporter],
])('%s, read slowly,', (_, newCaller) => {
  /** How the response ends whose caller loses access after its first bytes. */
  async function endedBy(lose: (caller: Caller) => Promise<unknown>) {
    const caller = await newCaller()
    const slow = await begin(caller.requested)
    await lose(caller)
    await expect.poll(() => statusOf(caller), { timeout: 10_000 }).toBe(401)
    const { how, text } = await slow.rest()
    return [how, text.includes(caller.last)]
  }

  test('arrives whole while the credential is valid', async () => {
    const caller = await newCaller()
    const slow = await begin(caller.requested)
    const { how, text } = await slow.rest()
    expect([how, text.includes(caller.last)]).toEqual(['ended', true])
  })

  test('breaks off when its credential is revoked', async () => {
    expect(await endedBy((caller) => caller.revoke())).toEqual(['ECONNRESET', false])
  })

  test('breaks off when its tenant is disabled', async () => {
    const disabled: Caller[] = []
    const lose = (caller: Caller) => {
      disabled.push(caller)
      return disable(caller, true)
    }
    expect(await endedBy(lose)).toEqual(['ECONNRESET', false])
    for (const caller of disabled) await disable(caller, false)
  })

  test('breaks off when its token expires', async () => {
    const { TOKEN_TTL_SECONDS } = service.app.services.config
    const lose = async () => service.clock.advance(TOKEN_TTL_SECONDS * 1_000)
    expect(await endedBy(lose)).toEqual(['ECONNRESET', false])
  })
})
