import { invariant } from '@svc/kernel/invariant'
import type { Services } from '../http/operation.ts'
import type { DemoCoins, DemoPartner } from './sandbox-file.ts'

const EVENT = 'referral.completed'
const PATH = '/api/v0/svc-coins'

interface ConfigResponse {
  readonly payload: {
    readonly coinConfigId: string
    readonly data: readonly { readonly coinConfigId: string }[]
  }
}

/** The demo configuration while it is active, else a new one; with first coins for the demo user. */
export async function demoCoins({ selfCall }: Services, partner: DemoPartner): Promise<DemoCoins> {
  const { clientId, clientSecret, companyId, userId } = partner
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  })
  const token = await selfCall({
    method: 'POST',
    path: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(form.toString()),
  })
  const { access_token: bearer } = JSON.parse(token.body) as { access_token: string }
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const send = (path: string, body: object) =>
    selfCall({ method: 'POST', path, headers, body: Buffer.from(JSON.stringify(body)) })
  const post = async (path: string, body: object): Promise<ConfigResponse> => {
    const response = await send(path, body)
    invariant(response.status === 200, 'the demo coins were made')
    return JSON.parse(response.body) as ConfigResponse
  }
  const wanted = { event: EVENT, configuration: 'DEFAULT', status: 'ACTIVE' }
  const find = async () => (await post(`${PATH}/search`, wanted)).payload.data[0]
  const known = await find()
  if (known) return { coinConfigId: known.coinConfigId, coinUserId: userId }
  const made = await send(PATH, {
    event: EVENT,
    amount: 100,
    title: 'Thank you for the referral',
    description: 'Made on first start',
    coinsExpireAfterDays: 365,
  })
  // 409: a process that started at the same instant was first, and there is one now.
  const config = made.status === 409 ? await find() : (JSON.parse(made.body) as ConfigResponse).payload
  invariant(config?.coinConfigId, 'the demo configuration was made')
  const { coinConfigId } = config
  await post(`${PATH}/allocate`, { requestId: `demo-${coinConfigId}`, event: EVENT, userId, companyId })
  return { coinConfigId, coinUserId: userId }
}
