import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { conformanceOfMutant, idsOf, openSandbox, type SandboxService } from '../harness/conformance.ts'
import { CARD, cancels, coins, creates, SEARCH, searches, TOKEN, tells, turnInto } from '../harness/mutant.ts'
import type { Mutation } from '../harness/mutant-proxy.ts'
import { mutantsOf } from '../harness/mutants.ts'

/** A server that keeps the whole specification, and differs from this one where it is silent. */
interface Faithful extends Mutation {
  readonly name: string
  /** Checks of our decisions that notice the difference. */
  readonly noticed: readonly string[]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Every object in a JSON value, changed; also the one that the failure envelope carries as text. */
function inEveryObject(value: Json, change: (object: Record<string, unknown>) => object): Json {
  if (Array.isArray(value)) return value.map((item) => inEveryObject(item, change))
  if (!isRecord(value)) return value
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const isText = (name === 'payload' || name === 'errorMessage') && typeof item === 'string'
      return [name, isText ? JSON.stringify(change(JSON.parse(item))) : inEveryObject(item, change)]
    }),
  )
  return change(inner)
}
const ofSpecified = (path: string): boolean =>
  path.startsWith('/api/v0/') && !path.startsWith('/api/v0/qr-code/search')
const inAll = (change: (object: Record<string, unknown>) => object): Mutation => ({
  report(reported, { path }) {
    if (ofSpecified(path) && isRecord(reported.json)) reported.json = inEveryObject(reported.json, change)
  },
})
const reversed = (object: object): object => Object.fromEntries(Object.entries(object).reverse())

/** Tokens as the proxy saw them issued. */
function tokensSeen(): Mutation & {
  readonly partner: () => string
  readonly isMerchant: (text?: string) => boolean
} {
  const merchants = new Set<string>()
  let partner = ''
  return {
    report({ json, status }, { path }) {
      if (status !== 200) return
      if (path === TOKEN) merchants.add(`Bearer ${json.token}`)
      if (path === '/oauth/token') partner ||= `Bearer ${json.access_token}`
    },
    partner: () => partner,
    isMerchant: (text = '') => merchants.has(text),
  }
}

const FURTHER = [
  'token',
  'usedMtd',
  'surchargeAmt',
  'deleted',
  'cKycEnabled',
  'createdOn',
  'kitType',
  'middleName',
]
const without = (json: Json): void => FURTHER.forEach((name) => delete json[name])

function faithful(): readonly Faithful[] {
  const both = tokensSeen()
  const merchantsOnly = tokensSeen()
  return [
    {
      name: 'members of JSON objects come in another order',
      ...inAll(reversed),
      noticed: ['4.5.401.missing.order', '4.5.401.invalid.order'],
    },
    {
      name: 'every object of a response has one more field',
      ...inAll((object) => ({ ...object, traceId: 'd41d8cd98f00b204' })),
      noticed: [
        '4.1.fields.only',
        '4.2.envelope',
        '4.2.fields',
        '4.3.envelope.only',
        '4.3.fields',
        '4.4.incentive.envelope.only',
        '4.4.incentive.payload.only',
        '4.4.incentive.fields',
        '4.4.rewards.only',
        '4.4.account.only',
        '4.5.401.missing.envelope.only',
        '4.5.401.missing.errorResponse.only',
        '4.5.401.missing.payload.only',
      ],
    },
    {
      name: 'the coin lookup accepts a partner’s token only',
      edit({ path, headers }) {
        if (path.startsWith('/api/v0/svc-coins') && both.isMerchant(headers['authorization']))
          headers['authorization'] = 'Bearer refused'
      },
      report: both.report!,
      noticed: ['5.coins.token.foreign', '4.5.merchant'],
    },
    {
      name: 'the coin lookup accepts a merchant’s token only',
      edit({ path, headers }) {
        if (!path.startsWith('/api/v0/svc-coins') || headers['authorization'] === undefined) return
        headers['authorization'] = merchantsOnly.isMerchant(headers['authorization'])
          ? merchantsOnly.partner()
          : 'Bearer refused'
      },
      report: merchantsOnly.report!,
      noticed: ['4.5.status'],
    },
    {
      name: 'refusals have status 200 and a code other than 0',
      report(reported, request) {
        if (ofSpecified(request.path) && reported.status >= 400 && !coins(request, reported))
          reported.status = 200
      },
      noticed: [
        '4.1.key.unknown.4xx',
        '4.2.missing.4xx',
        '4.3.email.no-at.4xx',
        '4.4.incentive.companyId.missing.4xx',
      ],
    },
    {
      name: 'a missing or wrong token is 400 on the cards',
      report(reported, { path }) {
        if ((path === CARD || path === SEARCH) && reported.status === 401) reported.status = 400
      },
      noticed: ['5.create.token.garbage.4xx', '5.search.token.missing.4xx'],
    },
    {
      name: 'a code that the merchant does not have is 403',
      ...tells(cancels, 404, (_, reported) => (reported.status = 403)),
      noticed: ['4.2.missing.status'],
    },
    {
      name: 'the cancel returns no payload',
      ...tells(cancels, 200, (json) => delete json.payload),
      noticed: ['4.2.payload.present'],
    },
    {
      name: 'some of the further card fields are left out',
      report(reported, request) {
        if (reported.status !== 200) return
        if (creates(request, reported) && reported.json) without(reported.json.payload)
        if (searches(request, reported))
          reported.json.payload.data.filter((card: Json) => card.maskedNumber).forEach(without)
      },
      noticed: ['4.3.further', '4.4.incentive.further'],
    },
    {
      name: 'card ids are numbers that pass Luhn’s check, and the number is masked otherwise',
      ...tells(creates, 200, (json) => {
        Object.assign(json.payload, { extEntityId: '4111111111111111', maskedNumber: '************1111' })
        json.payload.expiryMonth = 'Apr'
      }),
      noticed: ['4.3.no-number', '4.3.forms'],
    },
    {
      name: 'a configuration that does not exist is an empty success',
      ...tells(coins, 404, (_, reported) =>
        turnInto(reported, 200, { response_code: 0, response_message: 'Success' }),
      ),
      noticed: ['4.5.missing'],
    },
    {
      name: 'the token operation requires its content type',
      report(reported, { path, headers }) {
        if (path === TOKEN && headers['content-type'] !== 'application/json')
          turnInto(reported, 415, { resultCode: 1, resultMessage: 'Send application/json' })
      },
      noticed: ['4.1.no-body'],
    },
  ]
}

/** Of the servers that are wrong in our eyes, those that keep the specification. */
const ALSO_FAITHFUL = [
  'plain orders are taken',
  'numbers are taken for texts',
  'POST cancels as well',
  'the version in the path does not count',
  'any scheme will do for a token',
  'the cancel leaves response_code out',
  'loadAmount is a number',
  'cities are written in capitals',
  'every card is virtual',
  'a card that is not there is 404',
  'searches show cards of other partners’ companies',
  'a coin configuration has another id',
  'the image of a code is no PNG',
  'no payment is accepted at all',
  'unknown fields of an order are dropped',
]

let from: SandboxService
beforeAll(async () => {
  from = await openSandbox()
})
afterAll(() => from.service.close())

describe('a conformant server that differs in other ways fails no check of the specification', () => {
  test.each(faithful().map(({ name }) => name))('%s', async (name) => {
    const { noticed, ...server } = faithful().find((one) => one.name === name)!
    const result = await conformanceOfMutant(from, server, { profile: 'spec' })
    expect(idsOf(result, 'failed', 'blocked')).toEqual([])
    expect(idsOf(result, 'passed').length).toBeGreaterThan(150)
    const again = faithful().find((one) => one.name === name)!
    const full = await conformanceOfMutant(from, again)
    expect(idsOf(full, 'failed')).toEqual(expect.arrayContaining([...noticed]))
  })

  test.each(ALSO_FAITHFUL)('%s', async (name) => {
    const server = mutantsOf(from.sandbox).find((one) => one.name === name)!
    const result = await conformanceOfMutant(from, server, { profile: 'spec' })
    expect(idsOf(result, 'failed', 'blocked')).toEqual([])
  })
})
