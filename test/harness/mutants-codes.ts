import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { cancels, coins, type Mutant, makesCode, pays, QR, TOKEN, tells, turnInto } from './mutant.ts'

const INVALID_TOKEN = { payload: '{"error":"invalid_token"}', response_code: 1 }
const REFUSED = { response_code: 1, response_message: 'Failure' }

/** Servers that are wrong about codes that are cancelled, in ways that a check could miss that asks too little. */
export function codeMutants({ merchant }: SandboxFile): readonly Mutant[] {
  let authorization = ''
  return [
    {
      name: 'the simulator does not say what became of a payment after the cancel',
      ...tells(pays, 200, ({ payload }) => payload.payment?.reason && delete payload.payment),
      fails: ['4.2.pays-no-more', '4.2.refunds'],
    },
    {
      name: 'a credit after the cancel is kept',
      ...tells(
        ({ path }) => path.endsWith('/payments'),
        200,
        ({ payload }) => payload.data.forEach((payment: { status: string }) => (payment.status = 'ACCEPTED')),
      ),
      fails: ['4.2.refunds'],
    },
    {
      name: 'an access key alone cancels, and is refused',
      edit({ method, headers }) {
        if (method !== 'PATCH' || !headers['merchantaccesskey'] || headers['authorization']) return
        Object.assign(headers, { authorization, 'x-alone': 'yes' })
      },
      report(reported, request) {
        if (request.path === TOKEN && request.headers['api-key'] === merchant.apiKey)
          authorization = `Bearer ${reported.json.token}`
        if (cancels(request, reported) && request.headers['x-alone']) turnInto(reported, 401, INVALID_TOKEN)
      },
      fails: ['4.2.accessKey.alone'],
    },
    {
      name: 'POST cancels, and is refused',
      edit(request) {
        if (request.method === 'POST' && request.path.endsWith('/cancel'))
          Object.assign(request, { method: 'PATCH', path: `${request.path}?post` })
      },
      report(reported, { path }) {
        if (path.endsWith('?post')) turnInto(reported, 405, REFUSED)
      },
      fails: ['4.2.method'],
    },
    ...creationMutants(),
  ]
}

function creationMutants(): readonly Mutant[] {
  const merchants = new Set<string>()
  const firsts = new Map<string, string>()
  return [
    {
      name: 'a created code has no customParams',
      ...tells(makesCode, 200, ({ payload }) => delete payload.customParams),
      fails: ['2.3.create.fields'],
    },
    {
      name: 'a code that is created with a reference has no id',
      ...tells(makesCode, 200, ({ payload }) => payload.referenceNumber && delete payload.qrCodeId),
      fails: ['2.3.reference.repeat', '2.3.reference.cancelled', '2.3.search', '2.3.create.fields'],
    },
    {
      name: 'a repeated Idempotency-Key gets the first response and creates another code',
      edit({ path, headers }) {
        const key = headers['idempotency-key'] ?? ''
        if (path === QR && firsts.has(key)) headers['idempotency-key'] = `${key}-again`
      },
      report(reported, request) {
        const key = request.headers['idempotency-key'] ?? ''
        if (!makesCode(request, reported) || key === '') return
        const first = firsts.get(key.replace(/-again$/, ''))
        if (first === undefined) firsts.set(key, reported.text)
        else Object.assign(reported, { text: first, json: undefined })
      },
      fails: ['2.3.idempotency'],
      also: /^2\.3\.idempotency\.other$/,
    },
    {
      name: 'the coin lookup fails for merchants',
      report(reported, request) {
        if (request.path === TOKEN && reported.status === 200) merchants.add(`Bearer ${reported.json.token}`)
        if (coins(request, reported) && merchants.has(request.headers['authorization'] ?? ''))
          turnInto(reported, 500, REFUSED)
      },
      fails: ['4.5.merchant'],
      also: /^5\.coins\.token\.foreign$/,
    },
    {
      name: 'searches of codes count one too many',
      ...tells(
        ({ path }) => path === `${QR}/search`,
        200,
        (json) => json.payload.recordsCount++,
      ),
      fails: ['2.3.search', '2.3.idempotency'],
    },
  ]
}
