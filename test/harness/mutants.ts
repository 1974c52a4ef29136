import { createSecretKey } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'
import type { SandboxFile } from '../../src/sandbox/demo.ts'
import type { Json } from './client.ts'
import type { Asked, Mutation, Told } from './mutant-proxy.ts'

/** A server that is wrong in one way, and the checks that must find it: these ids, and none beyond these and `also`. */
export interface Mutant extends Mutation {
  readonly name: string
  readonly fails: readonly string[]
  /** Checks that the same fault may break too. */
  readonly also?: RegExp
}

const TOKEN = '/api/v0/merchant/token'
const CARD = '/api/v0/partner/svcCard'
const SEARCH = `${CARD}/search`
const QR = '/api/v0/qr-code'

type On = (asked: Asked, told: Told) => boolean
const cancels: On = ({ method }) => method === 'PATCH'
const creates: On = ({ path, method }) => path === CARD && method === 'POST'
const searches: On = ({ path }) => path === SEARCH
const coins: On = ({ path }) => path.startsWith('/api/v0/svc-coins')
const tokens: On = ({ path }) => path === TOKEN
const makesCode: On = ({ path, method }) => path === QR && method === 'POST'

/** Changes answers of one sort that have this status. */
const tells = (on: On, status: number, change: (json: Json, told: Told, asked: Asked) => void): Mutation => ({
  tell(told, asked) {
    if (told.status === status && on(asked, told) && told.json) change(told.json, told, asked)
  },
})

const inEach = (json: Json, change: (record: Json) => void): void => json.payload.data.forEach(change)

/** A failure of the same form with another description. */
function describe(json: Json, description: string): void {
  const error = JSON.parse(json.payload)
  json.payload = JSON.stringify({ ...error, error_description: description })
  json.errorResponse.errorMessage = json.payload
}

function turnInto(told: Told, status: number, json: Json): void {
  told.status = status
  told.json = json
  told.headers['content-type'] = 'application/json; charset=utf-8'
  delete told.headers['www-authenticate']
}

const SUCCESS = { code: 0, message: 'Success', payload: {} }

export function mutantsOf({ incentivePartner: partner, merchant }: SandboxFile): readonly Mutant[] {
  const key = createSecretKey(Buffer.from(partner.sharedKey.k, 'base64url'))
  const { kid, alg, enc } = partner.sharedKey
  const sealed = async (order: Json) =>
    JSON.stringify(
      await new CompactEncrypt(Buffer.from(JSON.stringify(order)))
        .setProtectedHeader({ kid, alg, enc })
        .encrypt(key),
    )
  /** A server that is lax about orders: what it takes reaches the real one in order. */
  const lax = (mend: (order: Json) => boolean): Mutation => ({
    async ask(asked) {
      if (asked.path !== CARD || !asked.body.toString().startsWith('"eyJ')) return
      const opened = await compactDecrypt(JSON.parse(asked.body.toString()), key).catch(() => undefined)
      if (!opened) return
      let order: Json
      try {
        order = JSON.parse(Buffer.from(opened.plaintext).toString())
      } catch {
        return
      }
      if (Buffer.from(opened.plaintext).toString() === JSON.stringify(order) && mend(order))
        asked.body = Buffer.from(await sealed(order))
    },
  })
  const lastGood = new Map<string, string>()

  return [
    // Section 4.1
    {
      name: 'the token’s expiry is a duration',
      ...tells(tokens, 200, (json) => (json.expiry = 3_600_000)),
      fails: ['4.1.expiry.absolute'],
    },
    {
      name: 'the token’s expiry is in seconds',
      ...tells(tokens, 200, (json) => (json.expiry /= 1_000)),
      fails: ['4.1.expiry.absolute'],
      also: /^4\.1\.expiry$/,
    },
    {
      name: 'the token’s resultCode is text',
      ...tells(tokens, 200, (json) => (json.resultCode = '0')),
      fails: ['4.1.resultCode', '4.1.resultCode.zero'],
    },
    {
      name: 'the token’s resultMessage is left out',
      ...tells(tokens, 200, (json) => delete json.resultMessage),
      fails: ['4.1.fields', '4.1.resultMessage', '4.1.resultMessage.success'],
    },
    {
      name: 'the token result has a fifth field',
      ...tells(tokens, 200, (json) => (json.tokenType = 'Bearer')),
      fails: ['4.1.fields'],
    },
    {
      name: 'the token operation answers 201',
      ...tells(tokens, 200, (_, told) => (told.status = 201)),
      fails: ['4.1.status', '4.1.no-body', '4.1.header-name', '4.1.empty-object'],
    },
    {
      name: 'every key gets a token',
      ask(asked) {
        if (asked.path === TOKEN) asked.headers['api-key'] = merchant.apiKey
      },
      fails: [
        '4.1.key.missing',
        '4.1.key.unknown',
        '4.1.key.altered',
        '4.1.key.elsewhere',
        '4.1.key.token',
        '4.1.key.status',
        '4.1.key.result',
      ],
      also: /^4\.1\.key\.alike$|^7\.(token|words)|^5\.other-merchant$|foreign/,
    },
    {
      name: 'the refusal of a key has no resultCode',
      ...tells(tokens, 401, (json) => delete json.resultCode),
      fails: ['4.1.key.result', '7.token.envelope'],
    },
    {
      name: 'well-formed unknown keys are refused in other words',
      ...tells(
        tokens,
        401,
        (json, _, { headers }) => headers['api-key']?.startsWith('svc_') && describe(json, 'No such key'),
      ),
      fails: ['4.1.key.alike'],
    },

    // Section 4.2 and 3.1
    {
      name: 'a second cancel is a conflict',
      tell(told, asked) {
        if (!cancels(asked, told) || told.status !== 200) return
        if (lastGood.has(asked.path)) turnInto(told, 409, { response_code: 1, response_message: 'Failure' })
        lastGood.set(asked.path, '')
      },
      fails: ['4.2.repeat', '4.2.together'],
    },
    {
      name: 'a second cancel moves modifiedOn',
      ...tells(
        cancels,
        200,
        (json) => (json.payload.modifiedOn = new Date(Date.now() + Math.random() * 1e6).toISOString()),
      ),
      fails: ['4.2.repeat', '4.2.together'],
    },
    {
      name: 'a cancelled code is answered as ACTIVE',
      ...tells(cancels, 200, (json) => (json.payload.status = 'ACTIVE')),
      fails: ['4.2.cancelled'],
    },
    {
      name: 'amounts of codes are text',
      ...tells(
        cancels,
        200,
        (json) => json.payload.amount && (json.payload.amount = String(json.payload.amount)),
      ),
      fails: ['4.2.payload.amount', '4.2.echo.amount'],
    },
    {
      name: 'createdOn of codes has the form of cards',
      ...tells(cancels, 200, (json) => (json.payload.createdOn = 'Apr 1, 2026 3:04:05 PM')),
      fails: ['4.2.dates.createdOn', '4.2.modified'],
    },
    {
      name: 'the cancel leaves response_code out',
      ...tells(cancels, 200, (json) => delete json.response_code),
      fails: ['4.2.response_code'],
    },
    {
      name: 'the cancelled code tells the merchant’s id',
      ...tells(cancels, 200, (json) => (json.payload.merchantId = merchant.merchantId)),
      fails: ['4.2.fields'],
    },
    {
      name: 'the cancel brings the image along',
      ...tells(cancels, 200, (json) => (json.payload.qrCodeBase64 = 'iVBORw0KGgo=')),
      fails: ['4.2.no-image'],
    },
    {
      name: 'a code that is not there is 200',
      ...tells(cancels, 404, (_, told) =>
        turnInto(told, 200, { response_code: 0, response_message: 'Success', payload: {} }),
      ),
      fails: ['4.2.missing', '4.2.missing.status', '4.2.foreign.untouched'],
      also: /^7\.(cancel|no-values|words)|^8\.body$|^4\.1\.works/,
    },
    {
      name: 'a foreign code is 403',
      tell(told, asked) {
        if (asked.method === 'PATCH' && told.status === 404 && !/qr_0{20}|no-such/.test(asked.path))
          told.status = 403
      },
      fails: ['4.2.foreign', '4.2.odd-id.unicode'],
      also: /^4\.2\.odd-id\.|^7\.no-values$/,
    },
    {
      name: 'payments go on after the cancel',
      ...tells(
        ({ path }) => path === '/sandbox/upi/pay',
        200,
        (json) => {
          if (json.payload.payment) json.payload.payment.status = 'ACCEPTED'
        },
      ),
      fails: ['4.2.pays-no-more'],
    },
    {
      name: 'POST cancels as well',
      ask(asked) {
        if (asked.method === 'POST' && asked.path.endsWith('/cancel'))
          Object.assign(asked, { method: 'PATCH' })
      },
      fails: ['4.2.method'],
    },
    {
      name: 'nobody needs a token to cancel',
      async ask(asked) {
        if (asked.method !== 'PATCH') return
        const good = lastGood.get('authorization')
        if (asked.headers['authorization'] && !good)
          lastGood.set('authorization', asked.headers['authorization'])
        if (!asked.headers['authorization'] && good) asked.headers['authorization'] = good
      },
      fails: ['4.2.accessKey.alone', '5.cancel.token.missing', '5.cancel.token.status', '5.cancel.challenge'],
    },
    {
      name: 'merchantAccessKey is not looked at',
      ask: ({ headers }) => void delete headers['merchantaccesskey'],
      fails: ['4.2.accessKey.other'],
    },
    {
      name: 'fields that nobody knows are dropped from the body of a cancel',
      ask(asked) {
        if (asked.method === 'PATCH' && asked.body.toString() === '{"force":true}')
          asked.body = Buffer.from('{}')
      },
      fails: ['4.2.unknown-field'],
    },

    // Section 2.3
    {
      name: 'the image of a code is no PNG',
      ...tells(makesCode, 200, (json) => (json.payload.qrCodeBase64 = 'R0lGODlhAQABAAAAACw=')),
      fails: ['2.3.create.image'],
      also: /^2\.3\.get$/,
    },
    {
      name: 'amounts are rounded to two decimals',
      ask(asked) {
        if (asked.body.toString() === '{"amount":10.555}') asked.body = Buffer.from('{"amount":10.56}')
      },
      fails: ['2.3.create.amount.decimals'],
    },
    {
      name: 'a repeated reference makes another code',
      ask(asked) {
        if (asked.path !== QR || !asked.body.toString().includes('referenceNumber')) return
        const request = JSON.parse(asked.body.toString())
        if (lastGood.has(request.referenceNumber)) request.referenceNumber += 'x'
        lastGood.set(request.referenceNumber, '')
        if (request.referenceNumber.length <= 64) asked.body = Buffer.from(JSON.stringify(request))
      },
      fails: ['2.3.reference.repeat', '2.3.reference.other'],
    },
    {
      name: 'Idempotency-Key is ignored when codes are created',
      ask(asked) {
        if (asked.path === QR) delete asked.headers['idempotency-key']
      },
      fails: ['2.3.idempotency', '2.3.idempotency.other'],
    },

    // Section 4.3
    {
      name: 'plain orders are taken',
      async ask(asked) {
        if (asked.path === CARD && asked.body.toString().startsWith('{'))
          asked.body = Buffer.from(await sealed(JSON.parse(asked.body.toString())))
      },
      fails: ['4.3.seal.plain', '4.3.seal.plain.word', '7.create.word'],
    },
    {
      name: 'tampered seals are opened all the same',
      ...tells(creates, 400, (json, told) => {
        if (/tag|kid|header|JWE|base64url/i.test(json.payload) && json.payload.includes('seal_rejected'))
          turnInto(told, 200, SUCCESS)
      }),
      fails: ['4.3.seal.tampered.ciphertext', '4.3.seal.tampered.tag', '4.3.seal.tampered.iv'],
      also: /^4\.3\.seal\.|^5\.create\./,
    },
    {
      name: 'the RSA key opens nothing',
      async ask(asked) {
        const header = Buffer.from(asked.body.toString().slice(1).split('.')[0]!, 'base64url').toString()
        if (asked.path === CARD && header.includes('"RSA-OAEP-256"')) asked.body = Buffer.from('"x.y.z.a.b"')
      },
      fails: ['4.3.seal.RSA-OAEP-256'],
    },
    {
      name: 'a card number leaks into remarks',
      ...tells(creates, 200, (json) => (json.payload.remarks = 'issued as 4111 1111 1111 1111')),
      fails: ['4.3.no-number'],
    },
    {
      name: 'a search leaks the whole card number',
      ...tells(searches, 200, (json) =>
        inEach(json, (record) => record.maskedNumber && (record.maskedNumber = '4111111111111111')),
      ),
      fails: ['4.4.incentive.no-number', '4.4.incentive.record', '4.4.incentive.same'],
    },
    {
      name: 'balances are text',
      ...tells(creates, 200, (json) => (json.payload.otbBalance = String(json.payload.otbBalance))),
      fails: ['4.3.payload.otbBalance', '4.3.money', '4.4.incentive.same', '4.4.rewards.same'],
    },
    {
      name: 'loadAmount is a number',
      ...tells(creates, 200, (json) => (json.payload.loadAmount = Number(json.payload.loadAmount))),
      fails: [
        '4.3.payload.loadAmount',
        '4.3.loadAmount.string',
        '4.3.loadAmount.number',
        '4.3.money',
        '4.4.incentive.same',
      ],
    },
    {
      name: 'createdOn of cards is RFC 3339',
      ...tells(creates, 200, (json) => (json.payload.createdOn = '2026-04-01T15:04:05.123+05:30')),
      fails: ['4.3.payload.createdOn'],
    },
    {
      name: 'UL has another label',
      ...tells(
        creates,
        200,
        (json) => json.payload.cardStatus.name === 'UL' && (json.payload.cardStatus.label = 'Unlocked'),
      ),
      fails: ['4.3.payload.cardStatus', '4.3.virtual.unlocked', '4.4.incentive.same'],
    },
    {
      name: 'kycStatus has a name of its own',
      ...tells(creates, 200, (json) => (json.payload.kycStatus.name = 'NEW')),
      fails: ['4.3.payload.kycStatus', '4.3.kyc', '4.4.incentive.same'],
    },
    {
      name: 'pan without a value is null',
      ...tells(creates, 200, (json) => (json.payload.pan = null)),
      fails: ['4.3.payload.pan', '4.3.no-null', '4.4.incentive.same'],
    },
    {
      name: 'code of a created card is text',
      ...tells(creates, 200, (json) => (json.code = '0')),
      fails: ['4.3.code'],
    },
    {
      name: 'Idempotency-Key is ignored when cards are created',
      ask(asked) {
        if (asked.path === CARD) delete asked.headers['idempotency-key']
      },
      fails: [
        '4.3.idempotency',
        '4.3.idempotency.together',
        '4.3.idempotency.other',
        '4.3.idempotency.key',
        '4.3.replay.other-key',
      ],
    },
    {
      name: 'a mobile of any length is taken',
      ...lax(
        (order) =>
          typeof order.mobile === 'string' &&
          order.mobile.length !== 10 &&
          /^\d*$/.test(order.mobile) &&
          !!(order.mobile = '9876543210'),
      ),
      fails: [
        '4.3.mobile.nine',
        '4.3.mobile.eleven',
        '4.3.mobile.empty',
        '8.mobile',
        '4.3.idempotency.refused',
      ],
    },
    {
      name: 'the e-mail pattern is not looked at',
      ...lax(
        (order) =>
          typeof order.email === 'string' &&
          order.email.length < 60 &&
          !/^\S+@\S+\.[a-z]{2,}$/.test(order.email) &&
          !!(order.email = 'a@b.co'),
      ),
      fails: ['4.3.email.no-at', '4.3.email.no-dot', '4.3.email.one-letter', '4.3.email.newline'],
      also: /^4\.3\.email\./,
    },
    {
      name: 'companyId may be left out',
      ...lax((order) => order.companyId === undefined && !!(order.companyId = partner.companyId)),
      fails: ['4.3.companyId.missing', '4.3.companyId.missing.named'],
    },
    {
      name: 'numbers are taken for texts',
      ...lax((order) => {
        const numbers = Object.entries(order).filter(
          ([name, value]) => typeof value === 'number' && name !== 'loadAmount',
        )
        for (const [name, value] of numbers)
          order[name] =
            name === 'physicalCard' || name.endsWith('Flag')
              ? false
              : name === 'email'
                ? 'a@b.co'
                : String(value)
        if (numbers.some(([name]) => name.endsWith('Id')))
          Object.assign(order, {
            companyId: partner.companyId,
            cardAccountId: partner.cardAccountId,
            userId: partner.userId,
          })
        return numbers.length > 0
      }),
      fails: [
        '4.3.firstName.number',
        '4.3.pincode.number',
        '4.3.mobile.number',
        '4.3.physicalCard.number',
        '4.3.companyId.number',
        '4.3.userId.number',
      ],
      also: /^4\.3\.\w+\.number$/,
    },
    {
      name: 'unknown fields of an order are dropped',
      ...lax((order) => delete order.fristName && true),
      fails: ['4.3.unknown-field'],
      also: /^4\.3\.replay/,
    },
    {
      name: 'long texts of an order are cut',
      ...lax((order) => {
        const long = Object.entries(order).filter(
          ([name, value]) => typeof value === 'string' && value.length > 100 && name !== 'email',
        )
        for (const [name, value] of long)
          order[name] = (value as string).slice(0, name.includes('ddress') ? 255 : 100)
        return long.length > 0
      }),
      fails: [
        '4.3.firstName.length',
        '4.3.pincode.length',
        '4.3.address.length',
        '4.3.deliveryAddress2.length',
      ],
    },
    {
      name: 'loads over the limit are taken',
      ...lax((order) => order.loadAmount === '10001' && !!(order.loadAmount = '1')),
      fails: ['4.3.loadAmount.over'],
    },

    // Section 4.4
    {
      name: 'the twelve-field record has a thirteenth',
      ...tells(searches, 200, (json) =>
        inEach(json, (record) => record.maskedNumber ?? (record.gender = '')),
      ),
      fails: ['4.4.rewards.twelve', '4.4.account.twelve'],
    },
    {
      name: 'the twelve-field record has eleven',
      ...tells(searches, 200, (json) => inEach(json, (record) => record.maskedNumber ?? delete record.title)),
      fails: ['4.4.rewards.twelve', '4.4.account.twelve', '4.4.rewards.data.title', '4.4.rewards.same'],
    },
    {
      name: 'recordsCount counts one too many',
      ...tells(searches, 200, (json) => json.payload.recordsCount++),
      fails: [
        '4.4.incentive.recordsCount',
        '4.4.rewards.recordsCount',
        '4.4.account.recordsCount',
        '4.4.rewards.one',
        '4.4.pages',
        '4.4.incentive.nothing',
        '4.4.rewards.nothing',
      ],
    },
    {
      name: 'the last card of an account is forgotten',
      ...tells(searches, 200, (json) => {
        if (json.payload.data.length > 2)
          json.payload.recordsCount = json.payload.data.splice(-1).length && json.payload.data.length
      }),
      fails: ['4.4.account.all'],
    },
    {
      name: 'searches need no svcCardId in the incentive variant',
      ...tells(
        searches,
        400,
        (json, told) =>
          json.payload.includes('svcCardId: is required') &&
          turnInto(told, 200, { code: 0, message: 'Success', payload: { data: [], recordsCount: 0 } }),
      ),
      fails: ['4.4.incentive.svcCardId.missing'],
    },
    {
      name: 'a card that is not there is 404',
      ...tells(
        searches,
        200,
        (json, told) =>
          json.payload.recordsCount === 0 && turnInto(told, 404, { code: 1, message: 'Failure' }),
      ),
      fails: [
        '4.4.incentive.nothing',
        '4.4.rewards.nothing',
        '5.search.cookie.good',
        '5.search.cookie.among-others',
      ],
    },
    {
      name: 'any session cookie is good',
      ask(asked) {
        const { authorization = '', cookie } = asked.headers
        if (asked.path === SEARCH && lastGood.has(authorization))
          asked.headers['cookie'] = lastGood.get(authorization)!
        else if (cookie === undefined) delete asked.headers['cookie']
      },
      tell(told, { path }) {
        if (path === '/oauth/token' && told.status === 200)
          lastGood.set(`Bearer ${told.json.access_token}`, String(told.headers['set-cookie']).split(';')[0]!)
      },
      fails: [
        '5.search.cookie.missing',
        '5.search.cookie.garbage',
        '5.search.cookie.foreign',
        '5.search.cookie.other-token',
      ],
    },

    // Section 4.5 and 7
    {
      name: 'the coin 401 is of another errorType',
      ...tells(coins, 401, (json) => (json.errorResponse.errorType = 'AUTHENTICATION_ERROR')),
      fails: ['4.5.401.missing.errorType', '4.5.401.invalid.errorType', '5.coins.token.status'],
    },
    {
      name: 'the coin 401 carries an object as payload',
      ...tells(coins, 401, (json) => (json.payload = JSON.parse(json.payload))),
      fails: [
        '4.5.401.missing.payload',
        '4.5.401.missing.error',
        '4.5.401.missing.error_description',
        '4.5.401.missing.errorMessage',
      ],
      also: /^4\.5\.401\.invalid\.(payload|error|error_description|errorMessage)$|^4\.5\.merchant$|^5\.coins\.token\.status$/,
    },
    {
      name: 'the coin 401 is a 403',
      ...tells(coins, 401, (_, told) => (told.status = 403)),
      fails: ['4.5.401.missing.status', '4.5.401.invalid.status', '4.5.merchant', '5.coins.token.status'],
    },
    {
      name: 'the coin 401 says what is wrong in other words',
      ...tells(coins, 401, (json) => describe(json, 'The token is expired')),
      fails: ['4.5.401.missing.error_description', '4.5.401.invalid.error_description'],
    },
    {
      name: 'the coin 401 has its timestamp in RFC 3339',
      ...tells(
        coins,
        401,
        (json) => (json.errorResponse.timestamp = json.errorResponse.timestamp.replace(' ', 'T')),
      ),
      fails: ['4.5.401.missing.timestamp', '4.5.401.invalid.timestamp'],
    },
    {
      name: 'the coin 401 has response_code as text',
      ...tells(coins, 401, (json) => (json.response_code = '1')),
      fails: ['4.5.401.missing.response_code', '4.5.401.invalid.response_code'],
    },
    {
      name: 'the coin 401 has its fields in another order',
      ...tells(coins, 401, (json, told) => {
        const { payload, ...rest } = json
        told.json = { ...rest, payload }
      }),
      fails: ['4.5.401.missing.order', '4.5.401.invalid.order'],
    },
    {
      name: 'the coin 401 has a field more',
      ...tells(coins, 401, (json) => (json.path = '/api/v0/svc-coins')),
      fails: ['4.5.401.missing.envelope', '4.5.401.invalid.envelope'],
    },
    {
      name: 'all coin refusals have one request id',
      ...tells(
        coins,
        401,
        (json, told) => (json.errorResponse.requestId = told.headers['x-request-id'] = 'req_1'),
      ),
      fails: ['4.5.401.requestId.unique'],
    },
    {
      name: 'a coin configuration has no ETag',
      tell: (told) => void delete told.headers['etag'],
      fails: ['4.5.etag'],
    },
    {
      name: 'coins are fractions',
      ...tells(coins, 200, (json) => (json.payload.amount = 0.5)),
      fails: ['4.5.payload.amount'],
    },
    {
      name: 'failures of a cancel are text/html',
      ...tells(cancels, 404, (_, told) => (told.headers['content-type'] = 'text/html')),
      fails: ['7.cancel.json'],
    },
    {
      name: 'x-request-id is missing',
      tell: (told) => void delete told.headers['x-request-id'],
      fails: ['7.token.requestId', '7.cancel.requestId', '7.success.requestId'],
      also: /^7\.\w+\.requestId$/,
    },
    {
      name: 'failures repeat the id that was asked for',
      ...tells(cancels, 404, (json, _, { path }) =>
        describe(json, `There is no QR code ${decodeURIComponent(path.split('/')[4]!)}`),
      ),
      fails: ['7.no-values'],
      also: /^4\.2\.(odd-id|foreign)/,
    },
    {
      name: 'a broken body tells the stack',
      ...tells(cancels, 400, (json) => describe(json, 'SyntaxError\n at parse (/srv/app/parse.js:12:3)')),
      fails: ['7.no-internals', '4.2.unknown-field'],
    },

    // Section 5
    {
      name: 'tokens without a signature are good',
      ask(asked) {
        const { authorization = '' } = asked.headers
        const [head = '', claims = '', signature] = authorization.replace('Bearer ', '').split('.')
        const header = Buffer.from(head, 'base64url').toString()
        if (signature === '' && header.includes('none'))
          asked.headers['authorization'] = lastGood.get(claims) ?? authorization
        else if (signature && !lastGood.has(claims)) lastGood.set(claims, authorization)
      },
      fails: [
        '5.create.token.unsigned',
        '5.search.token.unsigned',
        '5.coins.token.unsigned',
        '5.cancel.token.unsigned',
      ],
      also: /^5\.\w+\.token\.status$/,
    },
    {
      name: 'any scheme will do for a token',
      ask(asked) {
        const { authorization } = asked.headers
        if (authorization?.startsWith('Token '))
          asked.headers['authorization'] = authorization.replace('Token', 'Bearer')
      },
      fails: [
        '5.create.token.scheme',
        '5.search.token.scheme',
        '5.coins.token.scheme',
        '5.cancel.token.scheme',
      ],
      also: /^5\.\w+\.token\.status$/,
    },
    {
      name: 'partnerId is not looked at',
      ask(asked) {
        if (asked.path === CARD || asked.path === SEARCH)
          asked.headers['partnerid'] = lastGood.get(asked.headers['authorization'] ?? '') ?? partner.partnerId
      },
      fails: ['5.create.partnerId.other', '5.search.partnerId.missing', '5.search.partnerId.other'],
      also: /^5\.(create|search)\.partnerId\.|^4\.[34]|^7\.|^8\./,
    },
    {
      name: 'the session cookie can be read by scripts',
      tell(told) {
        const cookie = told.headers['set-cookie']
        if (cookie) told.headers['set-cookie'] = String(cookie).replace('; HttpOnly', '')
      },
      fails: ['5.oauth.cookie'],
    },
    {
      name: 'the partner token answers may be stored',
      tell(told, { path }) {
        if (path === '/oauth/token') delete told.headers['cache-control']
      },
      fails: ['5.oauth.no-store'],
    },

    // Sections 8 and 9
    {
      name: 'the version in the path does not count',
      ask: (asked) => void (asked.path = asked.path.replace('/api/v1/', '/api/v0/')),
      fails: ['9.other-version'],
    },
    {
      name: 'paths are found in any case',
      ask(asked) {
        if (asked.path.toLowerCase() === CARD.toLowerCase()) asked.path = CARD
      },
      fails: ['9.exact'],
    },
    {
      name: 'the coin look-up is not there',
      ...tells(coins, 401, (_, told) => turnInto(told, 501, { error: 'not implemented' })),
      fails: ['9.path.coins', '4.5.401.missing.status', '4.5.401.missing.payload'],
      also: /^4\.5\.|^5\.coins\./,
    },
    {
      name: 'numbers lose their last digits',
      ask(asked) {
        if (asked.body.toString().includes('100.00000000000000001'))
          asked.body = Buffer.from('{"amount":100}')
      },
      fails: ['8.numbers'],
    },
    {
      name: 'bodies of any size are read',
      ask(asked) {
        if (asked.method === 'PATCH' && asked.body.length > 64 * 1024) asked.body = Buffer.from('{}')
      },
      fails: ['8.body.over'],
    },

    // Servers that do not answer as servers do
    {
      name: 'the coin look-up closes the connection',
      ask: ({ path }) => (path.startsWith('/api/v0/svc-coins') ? 'close' : undefined),
      fails: ['4.5.status', '5.coins.token.good', '9.path.coins'],
      also: /^4\.5\.|^5\.coins\.|^7\.coins\.|^7\.|^8\./,
    },
    {
      name: 'a cancel is answered with a page',
      tell(told, { method }) {
        if (method !== 'PATCH' || told.status !== 200) return
        Object.assign(told, { text: '<html>It works!</html>', json: undefined })
        told.headers['content-type'] = 'text/html'
      },
      fails: ['4.2.content-type', '4.2.response_code', '4.2.payload', '4.2.cancelled'],
      also: /^4\.2\./,
    },
  ]
}
