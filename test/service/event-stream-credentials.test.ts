import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import { issueOAuthClient, revokeOAuthClient } from '@svc/core/tenants/partner'
import { setTenantDisabled } from '@svc/core/tenants/tenant'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newConfig } from '../harness/coins.ts'
import { newPartner, partnerToken } from '../harness/partner.ts'
import { newCode } from '../harness/qr-codes.ts'
import { openService, type TestService, tokenOf } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

/** An open event stream: what it said so far, and its end. */
interface Stream {
  readonly received: () => string
  /** Resolves once it has said this. */
  until(text: string): Promise<void>
  /** Resolves when the service ends it in an orderly way. */
  readonly ended: Promise<void>
}

async function openStream(token: string): Promise<Stream> {
  const { statusCode, body } = await request(`${service.client.baseUrl}/api/v0/events/stream`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(statusCode).toBe(200)
  let received = ''
  let wake: () => void = () => undefined
  const ended = new Promise<void>((resolve, reject) => {
    body.on('data', (part: Buffer) => {
      received += part.toString()
      wake()
    })
    body.on('end', resolve).on('error', reject)
  })
  return {
    received: () => received,
    ended,
    async until(text) {
      while (!received.includes(text)) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

/** A tenant with two credentials, and a token of each. */
interface Tenant {
  readonly tenantId: string
  readonly kind: 'merchant' | 'partner'
  readonly tokens: readonly [string, string]
  /** Revokes the credential of the first token. */
  revoke(): Promise<unknown>
  /** Makes an event, with the second token; answers what the stream says of it. */
  happen(): Promise<string>
}

async function newMerchantTenant(): Promise<Tenant> {
  const merchant = await service.newMerchant()
  const { database, keyring, random } = service.app.services
  const { secret } = await database.operate((tx) =>
    issueApiKey(tx, { keyring, random, mode: 'test' }, merchant.merchantId, 'second'),
  )
  const tokens = [
    await tokenOf(service.client, merchant.apiKey),
    await tokenOf(service.client, secret.reveal()),
  ] as const
  return {
    tenantId: merchant.merchantId,
    kind: 'merchant',
    tokens,
    revoke: () => database.operate((tx) => revokeApiKey(tx, merchant.apiKeyId)),
    happen: async () =>
      (await newCode(service, service.client.with({ authorization: `Bearer ${tokens[1]}` }))).qrCodeId,
  }
}

async function newPartnerTenant(): Promise<Tenant> {
  const partner = await newPartner(service)
  const { database, keyring, random } = service.app.services
  const second = await database.operate((tx) =>
    issueOAuthClient(tx, { keyring, random, mode: 'test' }, partner.partnerId, 'second'),
  )
  const { clientId, clientSecret } = second
  const token = async (client: { clientId: string; clientSecret: string }) =>
    (await partnerToken(service.client, client)).json.access_token as string
  const tokens = [
    await token(partner),
    await token({ clientId, clientSecret: clientSecret.reveal() }),
  ] as const
  return {
    tenantId: partner.partnerId,
    kind: 'partner',
    tokens,
    revoke: () => database.operate((tx) => revokeOAuthClient(tx, partner.clientId)),
    happen: async () =>
      (await newConfig(service.client.with({ authorization: `Bearer ${tokens[1]}` }))).coinConfigId,
  }
}

test('the measured duration of a stream request is the time until the stream began, however long it lasted', async () => {
  const tenant = await newMerchantTenant()
  const measured = async () => {
    const { text } = await service.client.get('/metrics')
    const of = (name: string) =>
      Number(
        new RegExp(
          `^svc_http_request_seconds_${name}\\{operation="streamEvents",status="200"\\} (\\S+)$`,
          'm',
        ).exec(text)?.[1] ?? 0,
      )
    return { count: of('count'), seconds: of('sum') }
  }
  const before = await measured()
  const startMs = performance.now()
  const stream = await openStream(tenant.tokens[0])
  const beganSeconds = (performance.now() - startMs) / 1_000
  await stream.until(await tenant.happen())
  await tenant.revoke()
  await stream.ended
  const counted = async () => (await measured()).count - before.count
  await expect.poll(counted).toBe(1)
  expect((await measured()).seconds - before.seconds).toBeLessThanOrEqual(beganSeconds)
})

describe.each([
  ['merchant', newMerchantTenant],
  ['partner', newPartnerTenant],
])('an open event stream of a %s', (_, newTenant) => {
  test('ends when its credential is revoked and sends nothing more, while that of another credential continues', async () => {
    const tenant = await newTenant()
    const [mine, other] = await Promise.all(tenant.tokens.map(openStream))
    const before = await tenant.happen()
    await Promise.all([mine!.until(before), other!.until(before)])
    await tenant.revoke()
    await mine!.ended
    const after = await tenant.happen()
    await other!.until(after)
    expect(mine!.received()).not.toContain(after)
  })

  test('ends when its tenant is disabled', async () => {
    const tenant = await newTenant()
    const stream = await openStream(tenant.tokens[0])
    await stream.until(await tenant.happen())
    await service.app.services.database.operate((tx) =>
      setTenantDisabled(tx, tenant.tenantId, tenant.kind, true),
    )
    await stream.ended
  })

  test('ends when its token expires, although its credential stays valid', async () => {
    const tenant = await newTenant()
    const stream = await openStream(tenant.tokens[0])
    await stream.until(await tenant.happen())
    service.clock.advance(service.app.services.config.TOKEN_TTL_SECONDS * 1_000)
    await stream.ended
  })
})
