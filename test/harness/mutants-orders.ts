import { createSecretKey } from 'node:crypto'
import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { CompactEncrypt, compactDecrypt } from 'jose'
import type { Json } from './client.ts'
import { CARD, creates, inEach, type Mutant, SUCCESS, searches, tells, turnInto } from './mutant.ts'
import type { Mutation } from './mutant-proxy.ts'

export function orderMutants({ incentivePartner: partner }: SandboxFile): readonly Mutant[] {
  const key = createSecretKey(Buffer.from(partner.sharedKey.k, 'base64url'))
  const { kid, alg, enc } = partner.sharedKey
  const encrypted = async (order: Json) =>
    JSON.stringify(
      await new CompactEncrypt(Buffer.from(JSON.stringify(order)))
        .setProtectedHeader({ kid, alg, enc })
        .encrypt(key),
    )
  /** A server that is lax about orders: what it takes reaches the real one in order. */
  const lax = (mend: (order: Json) => boolean): Mutation => ({
    async edit(request) {
      if (request.path !== CARD || !request.body.toString().startsWith('"eyJ')) return
      const opened = await compactDecrypt(JSON.parse(request.body.toString()), key).catch(() => undefined)
      if (!opened) return
      let order: Json
      try {
        order = JSON.parse(Buffer.from(opened.plaintext).toString())
      } catch {
        return
      }
      if (Buffer.from(opened.plaintext).toString() === JSON.stringify(order) && mend(order))
        request.body = Buffer.from(await encrypted(order))
    },
  })
  return [
    // Section 4.3
    {
      name: 'plain orders are taken',
      async edit(request) {
        if (request.path === CARD && /^\{(?!"\w+":"eyJ)/.test(request.body.toString()))
          request.body = Buffer.from(await encrypted(JSON.parse(request.body.toString())))
      },
      fails: ['4.3.encryption.plain', '4.3.encryption.plain.word', '7.create.word'],
    },
    {
      name: 'tampered JWEs are decrypted',
      ...tells(creates, 400, (json, reported) => {
        if (/tag|kid|header|JWE|base64url/i.test(json.payload) && json.payload.includes('decryption_failed'))
          turnInto(reported, 200, SUCCESS)
      }),
      fails: ['ciphertext', 'tag', 'iv'].map((part) => `4.3.encryption.tampered.${part}`),
      also: /^4\.3\.encryption\.|^5\.create\./,
    },
    {
      name: 'the RSA key opens nothing',
      async edit(request) {
        const header = Buffer.from(request.body.toString().slice(1).split('.')[0]!, 'base64url').toString()
        if (request.path === CARD && /"RSA-OAEP-256"/.test(header)) request.body = Buffer.from('"x.y.z.a.b"')
      },
      fails: ['4.3.encryption.RSA-OAEP-256'],
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
      fails: [
        '4.4.incentive.no-number',
        '4.4.incentive.record',
        '4.4.incentive.further',
        '4.4.incentive.same',
      ],
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
        '4.3.forms',
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
      edit(request) {
        if (request.path === CARD) delete request.headers['idempotency-key']
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
      ...lax((order) => 'fristName' in order && delete order.fristName),
      fails: ['4.3.unknown-field'],
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
    {
      name: 'a created card is 201',
      // An encrypted response too, which `tells` does not see.
      report: (reported, request) =>
        void (reported.status === 200 && creates(request, reported) && (reported.status = 201)),
      fails: ['4.3.status', '4.3.least', '4.3.userId', '4.3.encrypted-response'],
      also: /^4\.3\.|^4\.4\.|^8\.mobile$/,
    },
    {
      name: 'a created card is said to be plain text',
      ...tells(creates, 200, (_, reported) => (reported.headers['content-type'] = 'text/plain')),
      fails: ['4.3.content-type'],
    },
    {
      name: 'the envelope of a created card has a field more',
      ...tells(creates, 200, (json) => (json.success = true)),
      fails: ['4.3.envelope.only'],
    },
    {
      name: 'a created card has no kitType',
      ...tells(creates, 200, (json) => delete json.payload.kitType),
      fails: ['4.3.further'],
      also: /^4\.3\.forms$/,
    },
    {
      name: 'the message of a created card is OK',
      ...tells(creates, 200, (json) => (json.message = 'OK')),
      fails: ['4.3.message'],
    },
    {
      name: 'a created card tells its partner',
      ...tells(creates, 200, (json) => (json.payload.partnerId = partner.partnerId)),
      fails: ['4.3.fields'],
    },
    {
      name: 'cities are written in capitals',
      ...tells(creates, 200, (json) => (json.payload.city = json.payload.city.toUpperCase())),
      fails: ['4.3.echo.city', '4.4.incentive.same'],
    },
    {
      name: 'every card is virtual',
      ...tells(creates, 200, (json) => (json.payload.physicalCard = false)),
      fails: ['4.3.physical'],
    },
    {
      name: 'no card has a delivery address',
      ...tells(creates, 200, (json) => (json.payload.physicalDeliveryAddressFlag = false)),
      fails: ['4.3.delivery.flag'],
    },
    {
      name: 'new cards have been used',
      ...tells(creates, 200, (json) => (json.payload.usedYtd = 1)),
      fails: ['4.3.unused'],
    },
    {
      name: 'cards expire this year',
      ...tells(creates, 200, (json) => (json.payload.expiryYear = String(new Date().getFullYear()))),
      fails: ['4.3.validity', '4.4.incentive.same', '4.4.rewards.same'],
    },
    {
      name: 'all cards have one transaction id',
      ...tells(creates, 200, (json) => (json.payload.svcCardTxnId = 'trf_1')),
      fails: ['4.3.unique', '4.4.incentive.same'],
    },
    {
      name: 'an order needs a holder',
      ...lax(
        (order) =>
          Object.keys(order).join() === 'companyId,cardAccountId,loadAmount' && !!(order.companyId = 'none'),
      ),
      fails: [
        '4.3.least',
        '4.3.loadAmount.string',
        '4.3.loadAmount.number',
        // Another partner's account, in an order that has no holder: now it is the company that is wrong.
        '4.3.cardAccountId.foreign',
      ],
      also: /^4\.3\.(?:encryption|encrypted|idempotency|userId)/,
    },
    {
      name: 'names lose what is not Latin',
      ...lax(
        (order) =>
          /[^ -~]/.test(order.firstName ?? '') &&
          !!(order.firstName = order.firstName.replace(/[^ -~]/g, '?')),
      ),
      fails: ['4.3.text.scripts'],
    },
    {
      name: 'responses are never encrypted',
      edit: ({ headers }) => void (headers['accept'] === 'application/jose' && delete headers['accept']),
      fails: ['4.3.encrypted-response', '4.4.encrypted-many'],
    },
    {
      name: 'the published keys have a secret part',
      ...tells(
        ({ path }) => path.endsWith('jwks.json'),
        200,
        (json) => (json.keys[0].d = 'AAAA'),
      ),
      fails: ['4.3.jwks'],
    },
    {
      name: 'bodies of another media type are 400',
      ...tells(
        () => true,
        415,
        (_, reported) => (reported.status = 400),
      ),
      fails: ['4.2.media-type', '4.3.media-type', '7.media.word', '7.encoding.word'],
    },
    {
      name: 'a foreign card is an empty result in other words',
      ...tells(
        searches,
        200,
        (json, _, { body }) =>
          json.payload.recordsCount === 0 && !/card_0{20}/.test(body.toString()) && (json.message = 'None'),
      ),
      fails: ['4.4.foreign-card'],
      also: /^7\.no-values$/,
    },
    {
      name: 'searches show cards of other partners’ companies',
      ...tells(searches, 404, (_, reported) =>
        turnInto(reported, 200, { code: 0, message: 'Success', payload: { data: [{}], recordsCount: 1 } }),
      ),
      fails: ['4.4.foreign-scope', '4.4.incentive.company', '4.4.rewards.foreign-company'],
      also: /^4\.4\.\w+\.(?:foreign-)?company$/,
    },
  ]
}
