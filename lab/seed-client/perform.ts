// Performs the five specified operations with the keys in a file, and reports what is not as the specification says:
// npx tsx lab/seed-client/perform.ts data/sandbox.json
import { readFile } from 'node:fs/promises'
import { MerchantClient, PartnerClient, type PartnerKeys, type Reply } from './client.ts'
import {
  CARD,
  FURTHER_OF_CARD,
  isObject,
  type JsonObject,
  problemsOf,
  QR_CODE,
  REDUCED_CARD,
} from './records.ts'

interface Demo extends PartnerKeys {
  readonly companyId: string
  readonly cardAccountId: string
}

interface Keys {
  readonly baseUrl: string
  readonly merchant: { readonly apiKey: string }
  readonly incentivePartner: Demo
  readonly rewardsPartner: Demo
  readonly qrCodeId: string
  readonly coinConfigId: string
}

const problems: string[] = []
const check = (section: string, what: string, holds: boolean, got: unknown): void => {
  if (!holds) problems.push(`${section} ${what}: ${JSON.stringify(got)}`)
}
const checkProblems = (section: string, what: string, found: readonly string[]): void =>
  check(section, what, found.length === 0, found)

/** A success with its payload; reports what its envelope lacks. */
function payloadOf(
  section: string,
  { status, contentType, body }: Reply,
  names: [string, string],
): JsonObject {
  const [code, message] = names
  check(section, 'is a success', status === 200 && body[code] === 0 && body[message] === 'Success', body)
  check(section, 'is JSON', contentType.startsWith('application/json'), contentType)
  const payload = body['payload']
  if (!isObject(payload)) throw new Error(`${section} has no payload: ${JSON.stringify(body)}`)
  return payload
}

const QR_NAMES: [string, string] = ['response_code', 'response_message']
const CARD_NAMES: [string, string] = ['code', 'message']

async function sellAndCancel({ baseUrl, merchant, qrCodeId }: Keys): Promise<void> {
  const client = new MerchantClient(baseUrl, merchant.apiKey)
  const { status, body } = await client.token()
  const { token, expiry, resultCode, resultMessage } = body
  const types = [typeof token, Number.isInteger(expiry), Number.isInteger(resultCode), typeof resultMessage]
  check('4.1', 'returns a token', status === 200 && String(types) === 'string,true,true,string', body)
  const code = payloadOf('4.2', await client.cancel(qrCodeId, String(token)), QR_NAMES)
  checkProblems('2.3', 'QR code', problemsOf(code, {}, QR_CODE))
  check('4.2', 'cancels the code', code['status'] === 'CANCELLED' && code['qrCodeId'] === qrCodeId, code)
}

async function issueAndSearch(baseUrl: string, partner: Demo, isReduced: boolean): Promise<void> {
  const client = new PartnerClient(baseUrl, partner)
  const token = await client.token()
  const { companyId, cardAccountId } = partner
  const order = { companyId, cardAccountId, email: 'seed@example.com', mobile: '9812345670', title: 'Ms.' }
  const more = { firstName: 'Meera', lastName: 'Nair', physicalCard: false }
  const card = payloadOf('4.3', await client.createCard({ ...order, ...more }, token), CARD_NAMES)
  checkProblems('2.4', 'card', problemsOf(card, CARD, FURTHER_OF_CARD))
  const body = { companyId, cardAccountId, svcCardId: card['svcCardId'] }
  const found = payloadOf('4.4', await client.search(body, token), CARD_NAMES)
  const [item, ...others] = Array.isArray(found['data']) ? (found['data'] as unknown[]) : []
  const isThis = isObject(item) && item['svcCardId'] === card['svcCardId']
  check('4.4', 'finds the one card', found['recordsCount'] === 1 && others.length === 0 && isThis, found)
  if (!isObject(item)) return
  if (!isReduced) return checkProblems('2.4', 'found card', problemsOf(item, CARD, FURTHER_OF_CARD))
  checkProblems('2.5', 'found card', problemsOf(item, REDUCED_CARD))
  check('2.5', 'has twelve fields', Object.keys(item).length === 12, Object.keys(item))
  const every = payloadOf('4.4', await client.search({ companyId, cardAccountId }, token), CARD_NAMES)
  const count = Array.isArray(every['data']) ? every['data'].length : -1
  check('4.4', 'returns all cards of an account', count === every['recordsCount'] && count > 0, count)
}

async function readCoins({ baseUrl, incentivePartner, coinConfigId }: Keys): Promise<void> {
  const client = new PartnerClient(baseUrl, incentivePartner)
  const { status, body } = await client.coinConfiguration(coinConfigId, await client.token())
  check('4.5', 'returns the configuration', status === 200, body)
  const refused = await client.coinConfiguration(coinConfigId)
  const error = { error: 'invalid_token', error_description: 'Invalid access token' }
  const { payload, errorResponse, response_code: code, response_message: message } = refused.body
  const details = isObject(errorResponse) ? errorResponse : {}
  check('7', 'is 401 without a token', refused.status === 401, refused.status)
  check('2.2', 'payload', JSON.stringify(JSON.parse(String(payload))) === JSON.stringify(error), payload)
  check('2.2', 'errorMessage', details['errorMessage'] === payload, details)
  check('2.2', 'errorType', details['errorType'] === 'SYSTEM_ERROR', details)
  const { timestamp, requestId } = details
  check('2.2', 'timestamp', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(String(timestamp)), timestamp)
  check('2.2', 'requestId', typeof requestId === 'string', requestId)
  check('2.2', 'code and message', code === 1 && message === 'Failure', refused.body)
}

const keys = JSON.parse(await readFile(process.argv[2] ?? 'data/sandbox.json', 'utf8')) as Keys
await sellAndCancel(keys)
await issueAndSearch(keys.baseUrl, keys.incentivePartner, false)
await issueAndSearch(keys.baseUrl, keys.rewardsPartner, true)
await readCoins(keys)
console.log(problems.length === 0 ? 'All five operations are as specified.' : problems.join('\n'))
process.exitCode = problems.length === 0 ? 0 : 1
