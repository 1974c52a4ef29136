import { afterEach, describe, expect, test, vi } from 'vitest'
import sdk from '../../../packages/sdk/package.json' with { type: 'json' }
import { Svc, VERSION } from '../../../packages/sdk/src/index.ts'

const baseUrl = 'https://gw.example/payments'
const merchant = { baseUrl, apiKey: 'svc_test_x' }
const partner = { baseUrl, partnerId: 'par_1', clientId: 'cli_1', clientSecret: 'secret' }

/** The constructor as JavaScript calls it, with any value. */
const made = (kind: 'merchant' | 'partner', options: object) => () =>
  (Svc[kind] as (options: object) => unknown)(options)

const OPTIONS = [
  ...Object.keys(merchant).map((name) => ['merchant', merchant, name] as const),
  ...Object.keys(partner).map((name) => ['partner', partner, name] as const),
]

describe.each(OPTIONS)('a %s client', (kind, options, name) => {
  test.each([undefined, null, '', '  ', 7, {}])(
    `is rejected with a TypeError that names ${name} when it is %o`,
    (value) => {
      expect(made(kind, options)).not.toThrow()
      expect(made(kind, { ...options, [name]: value })).toThrow(TypeError)
      expect(made(kind, { ...options, [name]: value })).toThrow(new RegExp(`^${name} `))
    },
  )
})

const JWK = { kty: 'oct', kid: 'sk_1', alg: 'A256KW', k: 'A'.repeat(43) }

test.each([
  ['no key', [], /at least one key/],
  ['two keys of one id', [JWK, { ...JWK, k: 'B'.repeat(43) }], /two keys sk_1/],
  ['a key without an id', [JWK, { ...JWK, kid: '' }], /kid must be a non-empty string/],
])('decryptResponsesWith with %s is rejected with a TypeError', (_, decryptResponsesWith, reason) => {
  expect(made('partner', { ...partner, decryptResponsesWith: [JWK] })).not.toThrow()
  expect(made('partner', { ...partner, decryptResponsesWith })).toThrow(TypeError)
  expect(made('partner', { ...partner, decryptResponsesWith })).toThrow(reason)
})

test.each(['kid', 'alg', 'k'])(
  'a shared key to encrypt with is refused without its %s, with a TypeError that names it as the option is called',
  (part) => {
    const encryption = { sharedKey: { ...JWK, [part]: undefined } }
    expect(made('partner', { ...partner, encryption: { sharedKey: JWK } })).not.toThrow()
    expect(made('partner', { ...partner, encryption })).toThrow(TypeError)
    expect(made('partner', { ...partner, encryption })).toThrow(
      new RegExp(`^encryption\\.sharedKey\\.${part} is missing$`),
    )
  },
)

test('a TypeError about a credential never contains its value', () => {
  const secret = ['svc_live_secret']
  expect(made('merchant', { ...merchant, apiKey: secret })).not.toThrow(/svc_live_secret/)
})

test.each([
  'gw.example',
  '/payments',
  'ftp://gw.example',
  'https://u:p@gw.example',
  'https://gw.example/?a=1',
  'https://gw.example/#a',
])('a base URL that requests cannot be sent to is rejected: %s', (url) => {
  for (const [kind, options] of [
    ['merchant', merchant],
    ['partner', partner],
  ] as const)
    expect(made(kind, { ...options, baseUrl: url })).toThrow(/^baseUrl must be an http or https URL/)
})

test.each([
  ['http://gw.example', false],
  ['http://127.gw.example', false],
  ['http://localhost.gw.example:8080', false],
  ['http://10.0.0.7', false],
  ['http://[::2]', false],
  ['http://0.0.0.0:8080', false],
  ['http://localhost:8080', true],
  ['http://127.0.0.1', true],
  ['http://127.9.8.7:1', true],
  ['http://[::1]:8080/payments', true],
  ['https://gw.example', true],
])('keys go over http only to this machine, unless that is permitted by name: %s', (url, isSafe) => {
  const sent = vi.fn<typeof fetch>()
  for (const [kind, options] of [
    ['merchant', merchant],
    ['partner', partner],
  ] as const) {
    const create = made(kind, { ...options, baseUrl: url, fetch: sent })
    if (isSafe) expect(create).not.toThrow()
    else expect(create).toThrow(/^baseUrl must begin with https:\/\/.*allowPlainHttp/)
    expect(made(kind, { ...options, baseUrl: url, allowPlainHttp: true })).not.toThrow()
  }
  expect(sent).not.toHaveBeenCalled()
})

afterEach(() => void vi.unstubAllGlobals())

test('in a web page, live keys and client secrets are rejected with the reason; test keys are not', async () => {
  const refused = / must not be used in a browser, where every visitor can read it/
  const live = { ...merchant, apiKey: 'svc_live_secret' }
  expect(made('merchant', live)).not.toThrow()
  vi.stubGlobal('window', {})
  vi.stubGlobal('document', {})
  expect(made('merchant', live)).toThrow(refused)
  expect(made('merchant', live)).not.toThrow(/svc_live_secret/)
  expect(made('partner', partner)).toThrow(refused)
  await expect(Svc.sandbox()).rejects.toThrow(refused)
  expect(made('merchant', merchant)).not.toThrow()
})

test('the client sends the version of its package', () => {
  expect(VERSION).toBe(sdk.version)
})
