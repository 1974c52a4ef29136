import { CompactEncrypt, compactDecrypt } from 'jose'
import { type Check, decided, refuses } from '../check.ts'
import { type EncryptionKey, encrypt, type PublishedKind, tampered } from '../encryption.ts'
import type { HttpResponse } from '../exchange.ts'
import { at, fail, wantFailure, wantRefused, wantSameRefusal, wantStatus, wantValue } from '../expect.ts'
import { JSON_BODY, PATHS, type Subject, skip } from '../subject.ts'
import { newMobile } from './create-card.ts'
import { encryptedOrder, ORDER_RETRY_CHECKS } from './order-retries.ts'

const sendPlain = async (subject: Subject, body: unknown): Promise<HttpResponse> =>
  subject.call('POST', PATHS.card, body, (await subject.asPartner()).headers)

const KINDS: readonly (readonly [id: string, kind: PublishedKind | 'shared', words: string])[] = [
  ['A256KW', 'shared', 'the partner’s shared key (A256KW)'],
  ['ECDH-ES-P-256', 'P-256', 'the published P-256 key (ECDH-ES+A256KW)'],
  ['ECDH-ES-X25519', 'X25519', 'the published X25519 key (ECDH-ES+A256KW)'],
  ['RSA-OAEP-256', 'RSA', 'the published RSA key (RSA-OAEP-256)'],
]

const algorithms: readonly Check[] = KINDS.map(([id, kind, words]) =>
  decided(`4.3.encryption.${id}`, 'decision C1', `An order encrypted with ${words} is opened`, async (s) => {
    const key = kind === 'shared' ? s.sharedKey() : await s.publishedKey(kind)
    const mobile = newMobile()
    const response = await s.createCard(s.orderOf('incentivePartner', { mobile }), { key })
    wantStatus(response, 200)
    wantValue(response, 'payload.mobile', mobile)
  }),
)

const plain: readonly Check[] = [
  decided(
    '4.3.encryption.plain',
    'decision C2',
    'A plain order is refused: the body is one encrypted payload string',
    async (s) => wantRefused(await sendPlain(s, s.orderOf())),
  ),
  decided(
    '4.3.encryption.plain.word',
    'decision C2',
    'A plain order is 400 request_not_encrypted',
    async (s) => wantFailure(await sendPlain(s, s.orderOf()), 400, 'request_not_encrypted'),
  ),
  decided(
    '4.3.encryption.plain-text',
    'decision C2',
    'An order as JSON text within a JSON string is refused',
    async (s) => wantRefused(await sendPlain(s, JSON.stringify(s.orderOf()))),
  ),
  ...[undefined, '', []].flatMap((body, index) =>
    refuses(
      `4.3.encryption.empty.${['none', 'text', 'array'][index]}`,
      '§4.3, request body',
      `${['No body', 'An empty text', 'An empty array'][index]} makes no card`,
      (s) => sendPlain(s, body),
    ),
  ),
  decided('4.3.encryption.bare', 'decision C1', 'The bare JWE is taken as application/jose', async (s) => {
    const body = await encryptedOrder(s)
    const { headers } = await s.asPartner()
    const jose = { ...headers, 'content-type': 'application/jose' }
    wantStatus(await s.send({ method: 'POST', path: PATHS.card, headers: jose, body, encrypted: '' }), 200)
  }),
]

/** The names that callers of the bare specification guess for the one member. */
const wrapped: readonly Check[] = ['payload', 'request', 'data', 'encryptedPayload'].map((name) =>
  decided(
    `4.3.encryption.wrapped.${name}`,
    'decision C2',
    `An order as the only field \`${name}\` of an object is opened`,
    async (s) => wantStatus(await sendPlain(s, { [name]: await encryptedOrder(s) }), 200),
  ),
)

const PARTS = ['header', 'key', 'iv', 'ciphertext', 'tag']

const tampering: readonly Check[] = PARTS.map((part, index) =>
  decided(
    `4.3.encryption.tampered.${part}`,
    'decision C5',
    `One other bit in the ${part} of a JWE: 400 decryption_failed`,
    async (s) =>
      wantFailure(
        await s.sendEncrypted(tampered(await encryptedOrder(s), index), {}),
        400,
        'decryption_failed',
      ),
  ),
)

const refusesJwe = (id: string, title: string, make: (subject: Subject) => Promise<string>): Check =>
  decided(`4.3.encryption.${id}`, 'decisions C1, C5', `${title}: 400 decryption_failed`, async (s) =>
    wantFailure(await s.sendEncrypted(await make(s), {}), 400, 'decryption_failed'),
  )

const encryptAs = (subject: Subject, change: Partial<EncryptionKey>, header = {}): Promise<string> =>
  encrypt(JSON.stringify(subject.orderOf()), { ...subject.sharedKey(), ...change }, header)

/** Shares the key's first 16 bytes with the right one: only the algorithm is another. */
const short = (subject: Subject): EncryptionKey['key'] | Uint8Array =>
  subject.sharedKey().key.export().subarray(0, 16)

const headers: readonly Check[] = [
  refusesJwe('unknown-kid', 'A kid that is not known', (s) =>
    encryptAs(s, { kid: 'sk_00000000000000000000000000' }),
  ),
  refusesJwe('no-kid', 'A JWE without kid', (s) =>
    new CompactEncrypt(Buffer.from(JSON.stringify(s.orderOf())))
      .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM' })
      .encrypt(s.sharedKey().key),
  ),
  refusesJwe('dir', 'alg dir', (s) => encryptAs(s, { alg: 'dir' })),
  refusesJwe('A256GCMKW', 'alg A256GCMKW with the right key', (s) => encryptAs(s, { alg: 'A256GCMKW' })),
  refusesJwe('A128KW', 'alg A128KW', (s) =>
    new CompactEncrypt(Buffer.from(JSON.stringify(s.orderOf())))
      .setProtectedHeader({ alg: 'A128KW', enc: 'A256GCM', kid: s.sharedKey().kid })
      .encrypt(short(s)),
  ),
  refusesJwe('A128CBC-HS256', 'enc A128CBC-HS256', (s) => encryptAs(s, { enc: 'A128CBC-HS256' })),
  refusesJwe('RSA-OAEP', 'alg RSA-OAEP (with SHA-1) to the published key', async (s) =>
    encrypt(JSON.stringify(s.orderOf()), { ...(await s.publishedKey('RSA')), alg: 'RSA-OAEP' }),
  ),
  refusesJwe('jku', 'A header that names keys elsewhere (jku)', (s) =>
    encryptAs(s, {}, { jku: 'https://example.com/jwks.json' }),
  ),
  refusesJwe('four-parts', 'Four parts instead of five', async (s) =>
    (await encryptedOrder(s)).split('.').slice(0, 4).join('.'),
  ),
  refusesJwe(
    'spelled-otherwise',
    'Base64url that is not canonical',
    async (s) => `${await encryptedOrder(s)}=`,
  ),
  refusesJwe('not-json', 'An encrypted text that is not JSON', (s) => encrypt('order', s.sharedKey())),
  refusesJwe('not-an-object', 'An encrypted JSON array', (s) => encrypt('[]', s.sharedKey())),
  refusesJwe('twice-named', 'An encrypted object that names a field twice', (s) =>
    encrypt('{"companyId":"a","companyId":"b"}', s.sharedKey()),
  ),
  decided(
    '4.3.encryption.foreign-key',
    'decisions C1, A10',
    'Another partner’s shared key is refused like one that does not exist',
    async (s) => {
      const foreign = s.sharedKey('otherPartner')
      const order = JSON.stringify(s.orderOf())
      const theirs = await s.sendEncrypted(await encrypt(order, foreign), {})
      const none = { ...foreign, kid: 'sk_00000000000000000000000000' }
      wantSameRefusal(
        theirs,
        await s.sendEncrypted(await encrypt(order, none), {}),
        'the response to an unknown kid',
      )
    },
  ),
]

const responses: readonly Check[] = [
  decided(
    '4.3.encrypted-response',
    'decision C3',
    'With Accept: application/jose the response comes encrypted to the partner',
    async (s) => {
      const { key, kid } = s.sharedKey()
      const response = await s.createCard(s.orderOf(), { headers: { accept: 'application/jose' } })
      wantStatus(response, 200)
      if (response.headers['content-type'] !== 'application/jose')
        fail(response, 'content type application/jose', response.headers['content-type'] ?? 'none')
      const header = headerOf(response)
      if (header['kid'] !== kid) skip('responses are encrypted to another key than the shared one')
      const opened = await compactDecrypt(response.text, key).catch(() =>
        fail(response, 'a JWE that decrypts', 'another'),
      )
      if (!Buffer.from(opened.plaintext).toString().startsWith('{"code":0'))
        fail(response, 'the response within the JWE', 'something else')
    },
  ),
  decided(
    '4.3.jwks',
    'decision C1',
    'The keys to encrypt to are published, each with kid, alg and use, and none is secret',
    async (s) => {
      const response = await s.call('GET', '/.well-known/jwks.json', undefined)
      wantStatus(response, 200)
      const keys = at(response, 'keys')
      if (!Array.isArray(keys) || keys.length === 0) return fail(response, 'keys', 'none')
      for (const key of keys as Record<string, unknown>[]) {
        for (const name of ['kid', 'alg', 'use'])
          if (!key[name]) fail(response, `a ${name} for each key`, 'a key without')
        for (const name of ['d', 'p', 'q', 'k'])
          if (name in key) fail(response, 'public keys only', `a key with ${name}`)
      }
    },
  ),
]

function headerOf(response: HttpResponse): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(response.text.split('.')[0]!, 'base64url').toString()) as Record<
      string,
      unknown
    >
  } catch {
    return fail(response, 'a compact JWE', 'something else')
  }
}

const media: readonly Check[] = [
  decided('4.3.media-type', 'decision F3', 'A body of another media type is refused with 415', async (s) =>
    wantFailure(
      await s.sendEncrypted(await encryptedOrder(s), {
        headers: { ...JSON_BODY, 'content-type': 'text/plain' },
      }),
      415,
      'unsupported_media_type',
    ),
  ),
]

export const ENCRYPTION_CHECKS: readonly Check[] = [
  ...plain,
  ...wrapped,
  ...algorithms,
  ...tampering,
  ...headers,
  ...ORDER_RETRY_CHECKS,
  ...responses,
  ...media,
]
