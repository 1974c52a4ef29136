import { type Check, decided, specified } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  fail,
  type Kind,
  wantJson,
  wantKeys,
  wantKind,
  wantNoOtherKeys,
  wantOneOf,
  wantStatus,
  wantValue,
} from '../expect.ts'
import { type Headers, PATHS, type Subject, skip } from '../subject.ts'
import { wantInstant } from './qr-code-fields.ts'

export const coinConfigId = (subject: Subject): string =>
  subject.credentials.coinConfigId ?? skip('the credentials have no coinConfigId')

export const lookUp = (subject: Subject, id: string, headers: Headers): Promise<HttpResponse> =>
  subject.call('GET', `${PATHS.coins}/${encodeURIComponent(id)}`, undefined, headers)

async function found(subject: Subject): Promise<HttpResponse> {
  const id = coinConfigId(subject)
  const { token } = await subject.asPartner()
  return subject.observe('the coin configuration', () =>
    lookUp(subject, id, { authorization: `Bearer ${token}` }),
  )
}

const FIELDS: readonly (readonly [name: string, kind: Kind, required: boolean])[] = [
  ['coinConfigId', 'string', true],
  ['configuration', 'string', true],
  ['companyId', 'string', false],
  ['event', 'string', true],
  ['amount', 'integer', true],
  ['title', 'string', true],
  ['description', 'string', false],
  ['status', 'string', true],
  ['validFrom', 'string', true],
  ['validTo', 'string', false],
  ['perUserDailyLimit', 'integer', false],
  ['coinsExpireAfterDays', 'integer', false],
  ['revision', 'integer', true],
  ['createdOn', 'string', true],
  ['modifiedOn', 'string', true],
]
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  configuration: ['DEFAULT', 'CUSTOM'],
  status: ['ACTIVE', 'INACTIVE'],
}
const INSTANTS = new Set(['validFrom', 'validTo', 'createdOn', 'modifiedOn'])

async function withCookie(s: Subject): Promise<HttpResponse> {
  const { token } = await s.asPartner()
  const headers = { authorization: `Bearer ${token}`, cookie: 'SVCSESSION=x; a=b' }
  return s.observe('the coin configuration with a cookie', () => lookUp(s, coinConfigId(s), headers))
}

const SUCCESS = ['response_code', 'response_message', 'payload']

export const COIN_RECORD_CHECKS: readonly Check[] = [
  decided('4.5.status', 'decision K2', 'The partner’s own configuration returns 200', async (s) =>
    wantStatus(await found(s), 200),
  ),
  decided(
    '4.5.envelope',
    'decision K2',
    'response_code 0, response_message Success, and the record as payload',
    async (s) => {
      const response = await found(s)
      wantJson(response)
      wantKeys(response, '', SUCCESS)
      wantNoOtherKeys(response, '', SUCCESS)
      wantValue(response, 'response_code', 0)
      wantValue(response, 'response_message', 'Success')
    },
  ),
  decided('4.5.id', 'decision K1', 'The record is the one of the id', async (s) => {
    wantValue(await found(s), 'payload.coinConfigId', coinConfigId(s))
  }),
  decided(
    '4.5.fields',
    'decision K1',
    'The record has no field beside those of a coin configuration',
    async (s) =>
      wantNoOtherKeys(
        await found(s),
        'payload',
        FIELDS.map(([name]) => name),
      ),
  ),
  ...FIELDS.map(([name, kind, required]) =>
    decided(
      `4.5.payload.${name}`,
      'decision K1',
      `${name} is ${kind === 'integer' ? 'an integer' : 'text'}${required ? '' : ', if it is there'}`,
      async (s) => {
        const response = await found(s)
        const path = `payload.${name}`
        wantKind(response, 'payload', 'object')
        if (!required && at(response, path) === undefined) return
        wantKind(response, path, kind)
        if (ENUMS[name]) wantOneOf(response, path, [...ENUMS[name]])
        if (INSTANTS.has(name)) wantInstant(response, path)
      },
    ),
  ),
  decided(
    '4.5.etag',
    'decision K2',
    'ETag is the revision, and If-None-Match with it returns 304',
    async (s) => {
      const response = await found(s)
      const etag = response.headers['etag'] ?? fail(response, 'an ETag', 'none')
      if (etag !== `"${String(at(response, 'payload.revision'))}"`)
        fail(response, 'the revision as ETag', etag)
      const { token } = await s.asPartner()
      const again = await lookUp(s, coinConfigId(s), {
        authorization: `Bearer ${token}`,
        'if-none-match': etag,
      })
      wantStatus(again, 304)
    },
  ),
  specified(
    '4.5.cookie',
    '§4.5, Cookie',
    'Cookie is optional: any cookie beside a good token changes no status',
    async (s) => wantStatus(await withCookie(s), (await found(s)).status),
  ),
  decided('4.5.cookie.same', 'decision K2', 'A cookie beside a good token changes nothing', async (s) => {
    const response = await withCookie(s)
    if (response.text !== (await found(s)).text)
      fail(response, 'the response without the cookie', response.text)
  }),
]
