import type { Json } from './client.ts'
import { CARD, type Mutant, SEARCH, searches, tells, turnInto } from './mutant.ts'

const isAccount = (body: Buffer): boolean => !body.includes('svcCardId') && !body.includes('limit')

function keep(json: Json, data: readonly Json[]): void {
  json.payload = { ...json.payload, data, recordsCount: data.length }
}

const WRAPPED: Mutant = {
  name: 'a wrapped order is opened under no name',
  edit(request) {
    const isWrapped = /^\{"\w+":"eyJ/.test(request.body.toString())
    if (request.path === CARD && isWrapped) request.body = Buffer.from('{}')
  },
  fails: ['payload', 'request', 'data', 'encryptedPayload'].map((name) => `4.3.encryption.wrapped.${name}`),
}

/** Servers that create and find cards wrongly, in ways that a check could miss that asks too little. */
export const cardMutants = (): readonly Mutant[] => [
  WRAPPED,
  {
    name: 'a search of an account returns only the newest card',
    ...tells(
      searches,
      200,
      (json, _, { body }) => isAccount(body) && keep(json, json.payload.data.slice(-1)),
    ),
    fails: ['4.4.account.all'],
  },
  {
    name: 'the second page begins with the first card again',
    edit(request) {
      if (request.path === SEARCH)
        request.body = Buffer.from(request.body.toString().replace(/,"after":"[^"]*"/, ''))
    },
    fails: ['4.4.pages'],
  },
  {
    name: 'a search for one card of the incentive variant brings another card along',
    ...tells(searches, 200, (json) => {
      const [card] = json.payload.data
      if (card?.maskedNumber) keep(json, [card, { ...card, svcCardId: 'card_1' }])
    }),
    fails: ['4.4.incentive.one'],
  },
  {
    name: 'of several records of an account one is no object',
    ...tells(
      searches,
      200,
      (json, _, { body }) => isAccount(body) && keep(json, [...json.payload.data, 'card_1']),
    ),
    fails: ['4.4.account.data'],
    also: /^4\.4\.account\.|^4\.4\.pages$/,
  },
  {
    name: 'orders with an Idempotency-Key are refused',
    report(reported, { path, headers }) {
      if (path === CARD && headers['idempotency-key'] && reported.status === 200)
        turnInto(reported, 409, { code: 1, message: 'Failure' })
    },
    fails: ['4.3.idempotency', '4.3.idempotency.together', '4.3.idempotency.other', '4.3.idempotency.key'],
    also: /^4\.3\.idempotency\.refused$/,
  },
  {
    name: 'limits of searches are brought into their range',
    edit(request) {
      if (request.path === SEARCH)
        request.body = Buffer.from(request.body.toString().replace(/"limit":(?:0|10001)\b/, '"limit":1'))
    },
    fails: ['4.4.limit.least', '4.4.limit.most'],
  },
  scopeless(),
]

function scopeless(): Mutant {
  const companies = new Map<string, string>()
  return {
    name: 'companyId of a search may be left out',
    edit(request) {
      if (request.path !== SEARCH) return
      const body = JSON.parse(request.body.toString())
      // As a server that finds cards by their ids alone.
      if (body.companyId === undefined && body.svcCardId !== undefined)
        request.body = Buffer.from(JSON.stringify({ ...body, companyId: companies.get(body.svcCardId) }))
    },
    report({ json, status }, { path }) {
      if (path === CARD && status === 200) companies.set(json.payload.svcCardId, json.payload.companyId)
    },
    fails: ['4.4.incentive.companyId.missing', '4.4.rewards.companyId.missing'],
  }
}
