import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CARD_FIELDS, REDUCED_FIELDS } from '@svc/conformance/checks/card-fields'
import type { Credentials } from '@svc/conformance/credentials'
import { compactDecrypt } from 'jose'

// A small server of the interface that keeps nothing but the specification, and can be wrong in ways of its own.
// oxlint-disable-next-line typescript/no-explicit-any -- mistakes reach into bodies of any shape
type Json = Record<string, any>
export interface Reply {
  status: number
  type: string
  json: Json
}
export type Mistake = (reply: Reply, request: { readonly name: string }) => void

const key = Buffer.alloc(32, 7).toString('base64url')
const partner = (name: string) => ({
  partnerId: `partner-${name}`,
  companyId: `company-${name}`,
  cardAccountId: `account-${name}`,
  accessToken: `access-token-of-${name}`,
  cookie: `SESSION=session-of-${name}`,
  sharedKey: { kid: name, alg: 'A256KW', enc: 'A256GCM', k: key },
})
export const CREDENTIALS: Credentials = {
  merchant: { apiKey: 'api-key-of-merchant', accessKey: 'access-key-of-merchant' },
  incentivePartner: partner('incentive'),
  rewardsPartner: partner('rewards'),
  disposableQrCodeIds: Array.from({ length: 40 }, (_, i) => `code-${i}`),
}
const PARTNERS = [partner('incentive'), partner('rewards')]
const MERCHANT_TOKEN = 'token-of-merchant-1'
const LABELS = { name: 'UL', label: 'UnLocked' }
const SAMPLES: Json = { string: '', integer: 0, number: 0, boolean: false }
const SPECIAL: Json = {
  cardStatus: LABELS,
  kycStatus: { name: 'NOT_UPLOADED', label: 'Not uploaded' },
  accountType: { name: 'GIFT', label: 'Gift', description: 'Gift card' },
  maskedNumber: '608123XXXXXX1234',
  expiryMonth: '09',
  expiryYear: '2031',
  loadAmount: '100',
}

class Refusal extends Error {
  readonly status: number
  constructor(status: number, error: string, description = error) {
    super(JSON.stringify({ error, error_description: description }))
    this.status = status
  }
}
const refuse = (status: number, error: string, description?: string): never => {
  throw new Refusal(status, error, description)
}
const cards = new Map<string, Json>()

function signedIn({ headers }: IncomingMessage) {
  const found = PARTNERS.find(({ accessToken }) => headers.authorization === `Bearer ${accessToken}`)
  return found ?? refuse(401, 'invalid_token', 'Invalid access token')
}

async function newCard(request: IncomingMessage, text: string): Promise<Json> {
  const { partnerId, companyId, cardAccountId } = signedIn(request)
  if (request.headers['partnerid'] !== partnerId) refuse(403, 'partner_mismatch')
  const { plaintext } = await compactDecrypt(JSON.parse(text), Buffer.from(key, 'base64url')).catch(() =>
    refuse(400, 'not_encrypted'),
  )
  const order = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(plaintext)) as Json
  if (order['companyId'] !== companyId || order['cardAccountId'] !== cardAccountId) refuse(404, 'not_found')
  if (!['string', 'undefined'].includes(typeof order['userId']) || order['userId']) refuse(404, 'no_user')
  for (const [name, value] of Object.entries(order))
    if (typeof value !== (name.startsWith('physical') && name.length < 30 ? 'boolean' : 'string'))
      refuse(400, 'type')
  if (!/^\d{10}$/.test(order['mobile'] ?? '9876543210')) refuse(400, 'mobile')
  if (!/^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$/.test(order['email'] ?? 'a@b.co'))
    refuse(400, 'email')
  const blank = Object.fromEntries(
    CARD_FIELDS.map(({ name, kind }) => [name, SPECIAL[name] ?? SAMPLES[kind]]),
  )
  const ids = { svcCardId: crypto.randomUUID(), svcCardTxnId: crypto.randomUUID(), userId: 'user-1' }
  const physicalCardRequestDate = order['physicalCard'] ? '2026-01-31' : ''
  const card = { ...blank, physicalCardRequestDate, ...order, ...ids }
  cards.set(ids.svcCardId, card)
  return { code: 0, message: 'Success', payload: card }
}

function search(request: IncomingMessage, body: Json): Json {
  const { partnerId, companyId, cardAccountId, cookie } = signedIn(request)
  if (request.headers['partnerid'] !== partnerId) refuse(403, 'partner_mismatch')
  if (request.headers.cookie !== cookie) refuse(401, 'no_session')
  if (body['companyId'] !== companyId || body['cardAccountId'] !== cardAccountId) refuse(404, 'not_found')
  const isReduced = partnerId === 'partner-rewards'
  const id = body['svcCardId']
  if (id === undefined ? !isReduced : typeof id !== 'string') refuse(400, 'svcCardId')
  const data = [...cards.values()]
    .filter(
      (card) => card['cardAccountId'] === cardAccountId && (id === undefined || card['svcCardId'] === id),
    )
    .map((card) =>
      isReduced ? Object.fromEntries(REDUCED_FIELDS.map(({ name }) => [name, card[name]])) : card,
    )
  return { code: 0, message: 'Success', payload: { recordsCount: data.length, data } }
}

async function reply(request: IncomingMessage, name: string, text: string): Promise<Json> {
  const { headers } = request
  const body = name === 'create' || text === '' ? {} : JSON.parse(text)
  switch (name) {
    case 'ping':
      return {}
    case 'token':
      if (headers['api-key'] !== 'api-key-of-merchant') refuse(401, 'invalid_api_key')
      return {
        token: MERCHANT_TOKEN,
        expiry: Date.now() + 3_600_000,
        resultCode: 0,
        resultMessage: 'Success',
      }
    case 'cancel': {
      if (headers.authorization !== `Bearer ${MERCHANT_TOKEN}`) refuse(401, 'invalid_token')
      const [, id = ''] = /qr-code\/(.*)\/cancel/.exec(request.url ?? '') ?? []
      if (!CREDENTIALS.disposableQrCodeIds?.includes(id)) refuse(404, 'no_such_code')
      return { response_code: 0, response_message: 'Success', payload: { qrCodeId: id, status: 'CANCELLED' } }
    }
    case 'create':
      return newCard(request, text)
    case 'search':
      return search(request, body)
    case 'coins':
      signedIn(request)
      return refuse(404, 'no_such_configuration')
    default:
      return refuse(404, 'not_found')
  }
}

const NAMES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^GET \/$/, 'ping'],
  [/^POST \/api\/v0\/merchant\/token$/, 'token'],
  [/^PATCH \/api\/v0\/qr-code\/[^/]*\/cancel$/, 'cancel'],
  [/^POST \/api\/v0\/partner\/svcCard$/, 'create'],
  [/^POST \/api\/v0\/partner\/svcCard\/search$/, 'search'],
  [/^GET \/api\/v0\/svc-coins\//, 'coins'],
]

function failure(error: unknown): Reply {
  const { status, message } =
    error instanceof Refusal ? error : new Refusal(400, 'malformed', 'The body cannot be read')
  const time = new Date().toISOString().slice(0, 19).replace('T', ' ')
  const errorResponse = { timestamp: time, requestId: crypto.randomUUID(), errorType: 'SYSTEM_ERROR' }
  const json = { payload: message, errorResponse: { ...errorResponse, errorMessage: message } }
  return {
    status,
    type: 'application/json',
    json: { ...json, response_code: 1, response_message: 'Failure' },
  }
}

/** Starts the server with these mistakes; resolves to its address and what stops it. */
export async function startWrongServer(mistakes: readonly Mistake[]) {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const text = Buffer.concat(parts).toString()
    const plain = `${request.method} ${request.url}`
    const name = NAMES.find(([pattern]) => pattern.test(plain))?.[1] ?? 'none'
    const good = (json: Json): Reply => ({
      status: 200,
      type: 'application/json',
      json: structuredClone(json),
    })
    const sent = await reply(request, name, text).then(good, failure)
    for (const mistake of mistakes) mistake(sent, { name })
    response.writeHead(sent.status, { 'content-type': sent.type }).end(JSON.stringify(sent.json))
  }
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}
