import { createHash, createSecretKey, randomBytes } from 'node:crypto'
import { issueSharedKey, registerPublicKey, retireJweKey } from '@svc/core/tenants/jwe-keys'
import { createPartner } from '@svc/core/tenants/partner'
import { type JweKey, newJweKeyPair, publicJwk } from '@svc/jwe/keys'
import type { Tx } from '@svc/platform/db/database'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import {
  asPartner,
  CREATE,
  countRows,
  createCard,
  encryptFor,
  JOSE,
  newPartner,
  publishedKey,
  sharedJweKey,
  type TestPartner,
} from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client
let mobiles = 9_100_000_000

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(() => service.close())

const orderOf = ({ companyId, cardAccountId } = partner) => ({
  companyId,
  cardAccountId,
  mobile: String(mobiles++),
  loadAmount: 1,
})
const operate = <T>(work: (tx: Tx) => Promise<T>) => service.app.services.database.operate(work)
const maker = () => {
  const { keyring, random } = service.app.services
  return { keyring, random, mode: 'test' as const }
}
const ENCRYPTED = { accept: 'application/jose' }

describe.each(['shared', 'P-256', 'X25519', 'RSA'] as const)('with the key %s', (kind) => {
  test('an encrypted order is accepted as a JSON string and as application/jose', async () => {
    const key = kind === 'shared' ? partner.sharedKey : await publishedKey(service.client, kind)
    for (const asText of [false, true]) {
      const order = orderOf()
      const encrypted = await encryptFor(partner, order, key)
      const response = asText
        ? await client.send('POST', CREATE, encrypted, JOSE)
        : await client.post(CREATE, encrypted)
      expect(payloadOf(response)).toMatchObject({ mobile: order.mobile, loadAmount: '1' })
    }
  })

  test('an encrypted response decrypts with jose, and contains the plain response byte for byte', async () => {
    const own = await newPartner(service)
    const caller = await asPartner(service.client, own)
    let opening = own.sharedKey.key
    let kid = own.sharedKey.kid
    if (kind !== 'shared') {
      const { publicKey, privateKey } = newJweKeyPair(kind)
      kid = `mine-${kind}`
      await operate((tx) =>
        registerPublicKey(
          tx,
          own.partnerId,
          publicJwk(kid, kind === 'RSA' ? 'RSA-OAEP-256' : 'ECDH-ES+A256KW', publicKey),
        ),
      )
      opening = privateKey
    }
    const idempotent = { 'idempotency-key': 'once' }
    const order = await encryptFor(own, orderOf(own))
    const plain = await caller.post(CREATE, order, idempotent)
    const { svcCardId } = payloadOf(plain)
    const encrypted = await caller.post(CREATE, order, { ...idempotent, ...ENCRYPTED })
    expect([encrypted.status, encrypted.headers['content-type']]).toEqual([200, 'application/jose'])
    const opened = await compactDecrypt(encrypted.text, opening)
    expect(opened.protectedHeader).toMatchObject({ kid, enc: 'A256GCM' })
    expect(Buffer.from(opened.plaintext).toString()).toBe(plain.text)
    const { companyId, cardAccountId } = own
    for (const [path, body] of [
      [`${CREATE}/${svcCardId}`, undefined],
      [`${CREATE}/search`, { companyId, cardAccountId, svcCardId }],
    ] as const) {
      const requestWith = (headers = {}) =>
        body ? caller.post(path, body, headers) : caller.get(path, headers)
      const { plaintext } = await compactDecrypt((await requestWith(ENCRYPTED)).text, opening)
      expect(Buffer.from(plaintext).toString()).toBe((await requestWith()).text)
    }
  })
})

test('a partner without any key that requests an encrypted response gets 406 before anything happens', async () => {
  const own = await newPartner(service)
  const caller = await asPartner(service.client, own)
  await operate((tx) => retireJweKey(tx, own.partnerId, own.sharedKey.kid))
  const before = await countRows(service.db.database)
  const order = await encryptFor(own, orderOf(own), await publishedKey(service.client, 'P-256'))
  const response = await caller.post(CREATE, order, ENCRYPTED)
  expect([response.status, response.error]).toEqual([406, 'not_acceptable'])
  expect(await countRows(service.db.database)).toEqual(before)
  payloadOf(await caller.post(CREATE, order, { accept: 'application/jose+json, application/jose;q=0, */*' }))
})

test('an encrypted response of many cards is 406', async () => {
  const own = await newPartner(service, { products: ['employee_rewards'] })
  const caller = await asPartner(service.client, own)
  const { companyId, cardAccountId } = own
  const response = await caller.post(`${CREATE}/search`, { companyId, cardAccountId }, ENCRYPTED)
  expect([response.status, response.error]).toEqual([406, 'not_acceptable'])
})

test('another partner’s shared key decrypts nothing: decryption_failed, as for a nonexistent key', async () => {
  const other = await newPartner(service)
  const theirs = await client.post(CREATE, await encryptFor(partner, orderOf(), other.sharedKey))
  const missing = await client.post(
    CREATE,
    await encryptFor(partner, orderOf(), { ...other.sharedKey, kid: `sk_${'0'.repeat(26)}` }),
  )
  expect([theirs.status, theirs.error]).toEqual([400, 'decryption_failed'])
  expect(theirs.errorDescription).toBe(missing.errorDescription)
})

test('two shared keys are live at once, and a retired one stops decrypting while it is in constant use', async () => {
  const own = await newPartner(service)
  const caller = await asPartner(service.client, own)
  const newer = sharedJweKey(await operate((tx) => issueSharedKey(tx, maker(), own.partnerId)))
  const send = async (key: JweKey) => caller.post(CREATE, await encryptFor(own, orderOf(own), key))
  // A process may use the previous keys for a second more.
  while ((await send(newer)).status !== 200);
  payloadOf(await send(own.sharedKey))
  await operate((tx) => retireJweKey(tx, own.partnerId, own.sharedKey.kid))
  const retiredAtMs = performance.now()
  let takenAtMs = retiredAtMs
  let refused: ApiResponse
  for (;;) {
    const sentAtMs = performance.now()
    refused = await send(own.sharedKey)
    if (refused.status !== 200) break
    takenAtMs = sentAtMs
    // What is promised: nothing that is sent a second later is taken, however slow the machine.
    expect(takenAtMs - retiredAtMs).toBeLessThan(1_000)
  }
  expect(refused.error).toBe('decryption_failed')
  payloadOf(await send(newer))
})

const encrypt = (text: string | Uint8Array, header: Record<string, string>, key = partner.sharedKey.key) =>
  new CompactEncrypt(typeof text === 'string' ? Buffer.from(text) : text)
    .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM', kid: partner.sharedKey.kid, ...header } as never)
    .encrypt(key)

/** JWEs that must not open, each with the words by which the sandbox tells what is wrong. */
const BAD_JWES: [string, () => Promise<string>, RegExp][] = [
  ['no JWE at all', async () => 'hello', /not a JWE/],
  ['four parts', async () => (await encrypt('{}', {})).split('.', 4).join('.'), /not a JWE/],
  ['an unknown kid', () => encrypt('{}', { kid: 'nobody' }), /names no key/],
  [
    'a service key with the algorithm of a shared one',
    async () => {
      const { kid } = await publishedKey(service.client, 'P-256')
      return encrypt('{}', { kid })
    },
    /alg or enc/,
  ],
  ['direct encryption', () => encrypt('{}', { alg: 'dir' }), /alg or enc/],
  ['A128GCM', () => encrypt('{}', { enc: 'A128GCM' }), /alg or enc/],
  ['compression asked for', () => compressed(), /zip that is not allowed/],
  [
    'another secret under our kid',
    () => encrypt('{}', {}, createSecretKey(randomBytes(32))),
    /cannot be decrypted/,
  ],
  ['a changed tag', async () => changed(await encrypt('{}', {}), 4), /cannot be decrypted/],
  ['a changed ciphertext', async () => changed(await encrypt('{"a":1}', {}), 3), /cannot be decrypted/],
  ['a changed encrypted key', async () => changed(await encrypt('{}', {}), 1), /cannot be decrypted/],
  ['stray bits in the tag', async () => respelled(await encrypt('{}', {})), /canonical/],
  ['padding', async () => `${await encrypt('{}', {})}==`, /canonical/],
  ['the other alphabet', async () => (await encrypt('{}', {})).replace(/.$/, '/'), /canonical/],
  ['a line feed within it', async () => (await encrypt('{}', {})).replace(/.$/, '\n$&'), /canonical/],
  ['no JSON inside', () => encrypt('hello', {}), /not a JSON object/],
  ['a list inside', () => encrypt('[]', {}), /not a JSON object/],
  ['a key twice inside', () => encrypt('{"a":1,"a":2}', {}), /same key twice, at position 10/],
  [
    'a line feed inside a text',
    () => encrypt('{"city":"Pu\nne"}', {}),
    /position 8 holds a control character/,
  ],
  ['no UTF-8 inside', () => encrypt(Buffer.of(0x7b, 0xff, 0x7d), {}), /not valid UTF-8/],
]

async function compressed(): Promise<string> {
  const [, ...rest] = (await encrypt('{}', {})).split('.')
  const header = { alg: 'A256KW', enc: 'A256GCM', kid: partner.sharedKey.kid, zip: 'DEF' }
  return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...rest].join('.')
}

/** Another bit in one part, still canonical base64url. */
function changed(jwe: string, part: number): string {
  const parts = jwe.split('.')
  const bytes = Buffer.from(parts[part]!, 'base64url')
  bytes[0]! ^= 1
  return parts.with(part, bytes.toString('base64url')).join('.')
}

/** The same bytes, spelled otherwise: 16 bytes leave four bits of the last character unused. */
function respelled(jwe: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const other = `${jwe.slice(0, -1)}${alphabet[alphabet.indexOf(jwe.at(-1)!) ^ 1]}`
  expect(Buffer.from(other.split('.')[4]!, 'base64url')).toEqual(Buffer.from(jwe.split('.')[4]!, 'base64url'))
  return other
}

test.each(BAD_JWES)('in sandbox mode the response says what is wrong: %s', async (_, make, words) => {
  const response = await client.send('POST', CREATE, await make(), JOSE)
  expect([response.status, response.error]).toEqual([400, 'decryption_failed'])
  expect(response.errorDescription).toMatch(words)
})

test('in live mode every encrypted request that does not decrypt gets the same bytes except id and time, and plain requests are rejected', async () => {
  const live = await openService({ env: { SVC_MODE: 'live' }, db: service.db })
  const plainPartner = await operate((tx) =>
    createPartner(tx, maker(), { name: 'Plain', products: ['incentive'], plainRequests: true }),
  )
  const caller = await asPartner(live.client, partner)
  const bodies = new Set<string>()
  const jwes = await Promise.all(BAD_JWES.map(([, make]) => make()))
  const good = await encryptFor(partner, orderOf())
  // Every byte of an encrypted request, flipped.
  for (let i = 0; i < good.length; i++)
    if (good[i] !== '.') jwes.push(`${good.slice(0, i)}${good[i] === 'A' ? 'Q' : 'A'}${good.slice(i + 1)}`)
  for (const text of jwes.filter((other) => other !== good)) {
    const response = await caller.send('POST', CREATE, text, JOSE)
    const { 'x-request-id': _, date: __, ratelimit: ___, ...headers } = response.headers
    const body = response.text.replace(/"requestId":"req_\w+"/, '').replace(/"timestamp":"[^"]+"/, '')
    bodies.add(JSON.stringify([response.status, headers, body]))
  }
  expect([...bodies]).toHaveLength(1)
  expect([...bodies][0]).toContain('decryption_failed')
  const { clientId, clientSecret } = plainPartner.client
  const plain = await asPartner(live.client, {
    ...partner,
    partnerId: plainPartner.partner.partnerId,
    clientId,
    clientSecret: clientSecret.reveal(),
  })
  expect((await plain.post(CREATE, orderOf())).error).toBe('request_not_encrypted')
  await live.close()
})

test('a plain request is rejected in the sandbox, too, except for partners that may send one', async () => {
  for (const body of [orderOf(), [], 5, true]) {
    const response = await client.post(CREATE, body)
    expect([response.status, response.error]).toEqual([400, 'request_not_encrypted'])
  }
  expect((await createCard(client, partner, { mobile: '12' })).error).toBe('validation_failed')
})

test('the stored hash of an encrypted request is that of IV, ciphertext and tag, bound to the card', async () => {
  const encrypted = await encryptFor(partner, orderOf())
  const { svcCardId } = payloadOf(await client.post(CREATE, encrypted))
  const parts = encrypted.split('.').slice(2)
  const hash = createHash('sha256')
  for (const part of parts) hash.update(Buffer.from(part, 'base64url'))
  const rows = await operate((tx) =>
    tx.query<{ svc_card_id: string }>(
      { name: 'test_by_ciphertext', text: 'select svc_card_id from cards where ciphertext_hash = $1' },
      [hash.digest()],
    ),
  )
  expect(rows).toEqual([{ svc_card_id: svcCardId }])
})

test('a byte order mark and white space around an encrypted payload or its order are no part of it, white space within is', async () => {
  const JSON_TYPE = { 'content-type': 'application/json' }
  const send = async (bodyOf: (jwe: string) => string, headers: Record<string, string>) =>
    (await client.send('POST', CREATE, bodyOf(await encryptFor(partner, orderOf())), headers)).status
  const bare: ((jwe: string) => string)[] = [
    (jwe) => `${jwe}\n`,
    (jwe) => ` \t\r\n${jwe} `,
    (jwe) => `\uFEFF${jwe}`,
    (jwe) => `\uFEFF\n${jwe}\r\n`,
  ]
  for (const bodyOf of bare)
    for (const headers of [JSON_TYPE, JOSE]) expect(await send(bodyOf, headers), bodyOf('JWE')).toBe(200)
  expect(await send((jwe) => `\n${JSON.stringify(` ${jwe} `)}\n`, JSON_TYPE)).toBe(200)
  expect(await send((jwe) => JSON.stringify({ payload: ` ${jwe} ` }), JSON_TYPE)).toBe(200)
  const order = ` \n${JSON.stringify(orderOf())}\n`
  payloadOf(await client.post(CREATE, await encrypt(`\uFEFF${order}`, {})))
  for (const headers of [JSON_TYPE, JOSE])
    expect(await send((jwe) => jwe.replace('.', '.\n'), headers)).toBe(400)
})
