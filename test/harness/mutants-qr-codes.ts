import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { cancels, type Mutant, makesCode, pays, QR, tells, turnInto } from './mutant.ts'

export function qrCodeMutants({ merchant }: SandboxFile): readonly Mutant[] {
  const lastGood = new Map<string, string>()
  return [
    // Section 4.2 and 3.1
    {
      name: 'a second cancel is a conflict',
      report(reported, request) {
        if (!cancels(request, reported) || reported.status !== 200) return
        if (lastGood.has(request.path))
          turnInto(reported, 409, { response_code: 1, response_message: 'Failure' })
        lastGood.set(request.path, '')
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
      fails: ['4.2.response_code.zero'],
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
      ...tells(cancels, 404, (_, reported) =>
        turnInto(reported, 200, { response_code: 0, response_message: 'Success', payload: {} }),
      ),
      fails: ['4.2.missing', '4.2.missing.status', '4.2.foreign', '4.2.foreign.untouched'],
      also: /^4\.2\.odd-id\.|^7\.(cancel|no-values|words)|^8\.body$|^4\.1\.works/,
    },
    {
      name: 'a foreign code is 403',
      report(reported, request) {
        if (request.method === 'PATCH' && reported.status === 404 && !/qr_0{20}|no-such/.test(request.path))
          reported.status = 403
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
      edit(request) {
        if (request.method === 'POST' && request.path.endsWith('/cancel'))
          Object.assign(request, { method: 'PATCH' })
      },
      fails: ['4.2.method'],
    },
    {
      name: 'nobody needs a token to cancel',
      async edit(request) {
        if (request.method !== 'PATCH') return
        const good = lastGood.get('authorization')
        if (request.headers['authorization'] && !good)
          lastGood.set('authorization', request.headers['authorization'])
        if (!request.headers['authorization'] && good) request.headers['authorization'] = good
      },
      fails: ['4.2.accessKey.alone', '5.cancel.token.missing', '5.cancel.token.status', '5.cancel.challenge'],
    },
    {
      name: 'merchantAccessKey is not looked at',
      edit: ({ headers }) => void delete headers['merchantaccesskey'],
      fails: ['4.2.accessKey.other'],
    },
    {
      name: 'fields that nobody knows are dropped from the body of a cancel',
      edit(request) {
        if (request.method === 'PATCH' && request.body.toString() === '{"force":true}')
          request.body = Buffer.from('{}')
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
      edit(request) {
        if (request.body.toString() === '{"amount":10.555}') request.body = Buffer.from('{"amount":10.56}')
      },
      fails: ['2.3.create.amount.decimals'],
    },
    {
      name: 'a repeated reference makes another code',
      edit(request) {
        if (request.path !== QR || !request.body.toString().includes('referenceNumber')) return
        const body = JSON.parse(request.body.toString())
        if (lastGood.has(body.referenceNumber)) body.referenceNumber += 'x'
        lastGood.set(body.referenceNumber, '')
        if (body.referenceNumber.length <= 64) request.body = Buffer.from(JSON.stringify(body))
      },
      fails: ['2.3.reference.repeat', '2.3.reference.other'],
    },
    {
      name: 'Idempotency-Key is ignored when codes are created',
      edit(request) {
        if (request.path === QR) delete request.headers['idempotency-key']
      },
      fails: ['2.3.idempotency', '2.3.idempotency.other'],
    },
    {
      name: 'the cancel answers 202',
      ...tells(cancels, 200, (_, reported) => (reported.status = 202)),
      fails: [
        '4.2.status',
        '4.2.together',
        '4.2.no-body',
        '4.2.accessKey.own',
        '4.2.idempotency',
        '4.2.pays-no-more',
        '4.2.refunds',
        '2.3.reference.cancelled',
      ],
    },
    {
      name: 'a cancelled code is said to be plain text',
      ...tells(cancels, 200, (_, reported) => (reported.headers['content-type'] = 'text/plain')),
      fails: ['4.2.content-type'],
    },
    {
      name: 'the envelope of the cancel has a field more',
      ...tells(cancels, 200, (json) => (json.success = true)),
      fails: ['4.2.envelope'],
    },
    {
      name: 'response_message of the cancel is a number',
      ...tells(cancels, 200, (json) => (json.response_message = 0)),
      fails: ['4.2.response_message', '4.2.response_message.success'],
    },
    {
      name: 'a cancelled code reads back as active',
      ...tells(
        ({ method, path }) => method === 'GET' && path.startsWith(QR),
        200,
        (json) => (json.payload.status = 'ACTIVE'),
      ),
      fails: ['4.2.reads-back'],
    },
    {
      name: 'no payment is accepted at all',
      ...tells(pays, 200, (json) => (json.payload.payment.status = 'REFUNDED')),
      fails: ['4.2.pays-before'],
    },
    {
      name: 'a late credit says no reason',
      ...tells(pays, 200, (json) => delete json.payload.payment.reason),
      fails: ['4.2.refunds'],
    },
    {
      name: 'a cancel needs a body',
      report(reported, { method, body }) {
        if (method === 'PATCH' && body.length === 0) turnInto(reported, 400, { response_code: 1 })
      },
      fails: ['4.2.no-body'],
    },
    {
      name: 'Idempotency-Key is ignored by the cancel',
      edit({ method, headers }) {
        if (method === 'PATCH') delete headers['idempotency-key']
      },
      fails: ['4.2.idempotency'],
    },
  ]
}
