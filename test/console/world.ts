import { createSecretKey, randomBytes } from 'node:crypto'
import { encrypt } from '@svc/jwe/jwe'
import type { Json } from '../harness/client.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'
import { hostile } from './places.ts'

/** A service with a little of everything in it, and names of the worst kind. */
export interface World {
  readonly merchantId: string
  readonly merchantName: string
  readonly accountName: string
  readonly partnerId: string
  readonly partnerName: string
  readonly companyId: string
  readonly cardAccountId: string
  readonly userId: string
  readonly svcCardId: string
  /** For tests that change it for good. */
  readonly otherCardId: string
  readonly qrCodeId: string
  readonly utr: string
  readonly paymentId: string
  readonly refundId: string
  /** Where the merchant is told of payments; it failed to take one, and then took it. */
  readonly endpointId: string
  readonly hookUrl: string
  readonly coinConfigId: string
  /** Request that was refused since its body could not be opened. */
  readonly badJweRequestId: string
  /** Request that was to spend more than the card has. */
  readonly refusedSpendId: string
  readonly viewer: { readonly name: string; readonly password: string }
  readonly operator: { readonly name: string; readonly password: string }
}

type Naming = (field: string) => string
type Headers = Record<string, string>
type Call = (method: string, path: string, body?: unknown, headers?: Headers) => Promise<Json>

/** Plain HTTP, as the page and as callers send it; throws on failures unless told otherwise. */
function caller(baseUrl: string, prefix: string, always: Headers): Call {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(baseUrl + prefix + path, {
      method,
      headers: { ...always, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const json = (await response.json()) as Json
    if (!response.ok && headers['x-expect'] === undefined)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(json)}`)
    return { ...json, requestId: response.headers.get('x-request-id'), status: response.status }
  }
}

/** Signs in to the sandbox, and answers a caller of the console's own operations. */
async function openConsole(baseUrl: string): Promise<Call> {
  const entered = await fetch(`${baseUrl}/console/api/v0/session/sandbox`, {
    method: 'POST',
    headers: { 'x-svc-console': '1' },
  })
  if (!entered.ok) throw new Error(`no session: ${await entered.text()}`)
  const cookie = entered.headers.getSetCookie()[0]!.split(';')[0]!
  return caller(baseUrl, '/console/api/v0', { cookie, 'x-svc-console': '1' })
}

const REFUSED = { 'x-expect': 'refusal' }
const tail = () => randomBytes(3).toString('hex')

/** `name` says what the things of the world are called; each name is asked for by its field. */
export async function makeWorld(baseUrl: string, name: Naming = hostile): Promise<World> {
  const operate = await openConsole(baseUrl)
  const people = await makeOperators(operate, caller(baseUrl, '/console/api/v0', { 'x-svc-console': '1' }))
  const shop = await makeShop(baseUrl, operate, name)
  const hook = await makeHook(operate, shop.merchantId, name)
  const cards = await makeCards(baseUrl, operate, name)
  return { ...people, ...shop, ...hook, ...cards }
}

/** `visit`: a browser of people who are not signed in; a link signs in whom it is for. */
async function makeOperators(operate: Call, visit: Call): Promise<Pick<World, 'viewer' | 'operator'>> {
  const viewer = { name: `vera.${tail()}`, password: 'a long pass phrase to look' }
  const operator = { name: `asha.${tail()}`, password: 'a long pass phrase to act' }
  for (const [{ name, password }, role] of [
    [viewer, 'viewer'],
    [operator, 'operator'],
  ] as const) {
    const { link } = await operate('POST', '/operators/invitations', { name, role })
    await visit('POST', '/invitation/accept', { token: link.split('#')[1], password })
  }
  return { viewer, operator }
}

async function makeShop(baseUrl: string, operate: Call, name: Naming) {
  const merchantName = name('merchant')
  const { merchant, credential } = await operate('POST', '/merchants', {
    name: merchantName,
    vpa: `corner.${tail()}@bank`,
    mcc: '5411',
  })
  const { qrCodeId } = await operate('POST', '/qr-codes', {
    merchantId: merchant.merchantId,
    qrCode: {
      qrName: name('qrName'),
      amount: 99999.5,
      multipleUse: true,
      description: name('description'),
      referenceNumber: `order-${tail()}`,
      customerName: name('customer'),
      customParams: { [name('key').slice(0, 40)]: name('param') },
    },
  })
  await operate('POST', `/qr-codes/${qrCodeId}/pay`, { amount: 99999.5, payerVpa: 'asha@bank' })
  const { data } = await untilPaid(operate, qrCodeId)
  const { paymentId, utr } = data[0]
  const refundId = await makeRefund(baseUrl, credential.secret, paymentId, name)
  return {
    merchantId: merchant.merchantId as string,
    merchantName,
    qrCodeId: qrCodeId as string,
    utr: utr as string,
    paymentId: paymentId as string,
    refundId,
  }
}

/** A refund of a part by the merchant itself. */
async function makeRefund(baseUrl: string, apiKey: string, paymentId: string, name: Naming): Promise<string> {
  const { token } = await caller(baseUrl, '', { 'api-key': apiKey })('POST', '/api/v0/merchant/token')
  const call = caller(baseUrl, '', { authorization: `Bearer ${token}` })
  const { payload } = await call('POST', `/api/v0/payments/${paymentId}/refunds`, {
    amount: 12_345.25,
    referenceNumber: name('reference'),
    reason: name('why'),
  })
  return payload.refundId
}

/** Asks until it is so: the bank, the relay and the deliveries work in the background. */
async function until(load: () => Promise<Json>, holds: (response: Json) => boolean): Promise<Json> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const response = await load()
    if (holds(response)) return response
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it never came to be')
}

/** The sandbox's bank sends its notice a moment after the payer has paid. */
const untilPaid = (operate: Call, qrCodeId: string): Promise<Json> =>
  until(
    () => operate('GET', `/payments?qrCodeId=${qrCodeId}`),
    ({ data }) => data.length > 0,
  )

/** An endpoint at a server that refuses the first delivery, and takes the second. */
async function makeHook(operate: Call, merchantId: string, name: Naming) {
  const receiver = await WebhookReceiver.open()
  receiver.response = (_, response) => {
    if (receiver.received.length > 1) response.writeHead(204).end()
    else response.writeHead(500, { 'retry-after': '3600' }).end(name('answer'))
  }
  const hookUrl = receiver.url('/hooks/payments')
  try {
    const { endpointId } = await operate('POST', '/webhooks', {
      tenantId: merchantId,
      endpoint: { url: hookUrl, description: name('hook'), types: ['qr_code.credited'] },
    })
    const range = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 60_000) }
    await until(
      () => operate('POST', `/webhooks/${endpointId}/replay`, range),
      ({ queued }) => queued === 1,
    )
    const attempts = (count: number) =>
      until(
        () => operate('GET', `/webhooks/${endpointId}/attempts`),
        ({ data }) => data.length === count,
      )
    const [{ eventId }] = (await attempts(1)).data
    await operate('POST', `/webhooks/${endpointId}/resend`, { eventId })
    await attempts(2)
    return { endpointId: endpointId as string, hookUrl }
  } finally {
    await receiver.close()
  }
}

async function makeCards(baseUrl: string, operate: Call, name: Naming) {
  const partnerName = name('partner')
  const { partner, credential } = await operate('POST', '/partners', {
    name: partnerName,
    products: ['incentive', 'employee_rewards'],
    plainRequests: true,
  })
  const { partnerId } = partner
  const { companyId } = await operate('POST', '/companies', { partnerId, name: name('company') })
  const accountName = name('programme')
  const { cardAccountId } = await operate('POST', '/card-accounts', {
    companyId,
    product: 'incentive',
    accountType: 'GIFT',
    binType: 'GIFT',
    cardProgramme: accountName,
    denomination: 2_500,
  })
  const funding = { amount: '1234567.50', reference: `UTR${tail()}${tail()}`, reason: name('reason') }
  await operate('POST', `/card-accounts/${cardAccountId}/funds`, funding)
  const jweKey = await operate('POST', `/partners/${partnerId}/encryption-keys`)
  const call = await asPartner(baseUrl, partnerId, {
    clientId: credential.credentialId,
    clientSecret: credential.secret,
  })
  const order = {
    companyId,
    cardAccountId,
    email: `holder.${tail()}@example.com`,
    mobile: '9876543210',
    firstName: name('first'),
    lastName: name('last'),
    address: name('address'),
    city: 'Pune',
    state: name('state'),
  }
  const { payload: other } = await call('POST', '/api/v0/partner/svcCard', { ...order, city: 'Nashik' })
  const { payload: card } = await call('POST', '/api/v0/partner/svcCard', order)
  const { svcCardId, userId } = card
  await operate('POST', `/cards/${svcCardId}/spend`, {
    amount: 149.5,
    channel: 'pos',
    merchantName: name('shop'),
  })
  await operate('POST', `/cards/${svcCardId}/status`, { status: 'L', reason: name('lock') })
  await operate('POST', `/cards/${svcCardId}/status`, { status: 'UL', reason: 'found again' })
  const coinConfigId = await makeCoins(call, companyId, userId, name)
  const failures = await makeFailures(baseUrl, call, svcCardId, { companyId, cardAccountId }, jweKey)
  return {
    partnerId,
    partnerName,
    companyId,
    cardAccountId,
    accountName,
    svcCardId,
    otherCardId: other.svcCardId as string,
    userId,
    coinConfigId,
    ...failures,
  }
}

async function asPartner(baseUrl: string, partnerId: string, client: Json): Promise<Call> {
  const { clientId, clientSecret } = client
  const granted = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: token } = (await granted.json()) as Json
  const cookie = granted.headers.getSetCookie()[0]!.split(';')[0]!
  return caller(baseUrl, '', { authorization: `Bearer ${token}`, partnerid: partnerId, cookie })
}

async function makeCoins(call: Call, companyId: string, userId: string, name: Naming): Promise<string> {
  const { payload: config } = await call('POST', '/api/v0/svc-coins', {
    event: 'referral',
    amount: 50,
    title: name('title'),
    description: name('about'),
  })
  const { coinConfigId } = config
  await call('PATCH', `/api/v0/svc-coins/${coinConfigId}`, { amount: 75 }, { 'if-match': '"1"' })
  await call('POST', '/api/v0/svc-coins/allocate', {
    requestId: `first-${tail()}`,
    companyId,
    userId,
    event: 'referral',
  })
  return coinConfigId
}

/** An order whose encrypted body was damaged on the way, and one that the card's money is not enough for. */
async function makeFailures(baseUrl: string, call: Call, svcCardId: string, order: object, jweKey: Json) {
  const key = createSecretKey(Buffer.from(jweKey.k, 'base64url'))
  const encrypted = await encrypt(Buffer.from(JSON.stringify(order)), { ...jweKey, key })
  const [header, encryptedKey, iv, text, tag] = encrypted.split('.')
  const damaged = [
    header,
    encryptedKey,
    iv,
    text,
    tag!.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
  ].join('.')
  const badJwe = await call('POST', '/api/v0/partner/svcCard', JSON.stringify(damaged), REFUSED)
  const terminal = caller(baseUrl, '', {})
  const refused = await terminal(
    'POST',
    `/sandbox/cards/${svcCardId}/spend`,
    { amount: 9_999, channel: 'pos' },
    REFUSED,
  )
  return { badJweRequestId: badJwe.requestId as string, refusedSpendId: refused.requestId as string }
}
