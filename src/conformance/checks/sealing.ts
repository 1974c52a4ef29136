import { CompactEncrypt, compactDecrypt } from 'jose'
import { type Check, must, ours } from '../check.ts'
import type { Answer } from '../exchange.ts'
import { at, fail, wantFailure, wantRefused, wantSameRefusal, wantStatus, wantValue } from '../expect.ts'
import { type PublishedKind, type SealingKey, seal, tampered } from '../sealing.ts'
import { JSON_BODY, PATHS, type Subject, skip } from '../subject.ts'
import { newMobile } from './create-card.ts'

const sealedOrder = async (subject: Subject): Promise<string> =>
  seal(JSON.stringify(subject.orderOf('incentivePartner', { mobile: newMobile() })), subject.sharedKey())

const sendPlain = async (subject: Subject, body: unknown): Promise<Answer> =>
  subject.call('POST', PATHS.card, body, (await subject.asPartner()).headers)

const KINDS: readonly (readonly [id: string, kind: PublishedKind | 'shared', words: string])[] = [
  ['A256KW', 'shared', 'the partner’s shared key (A256KW)'],
  ['ECDH-ES-P-256', 'P-256', 'the published P-256 key (ECDH-ES+A256KW)'],
  ['ECDH-ES-X25519', 'X25519', 'the published X25519 key (ECDH-ES+A256KW)'],
  ['RSA-OAEP-256', 'RSA', 'the published RSA key (RSA-OAEP-256)'],
]

const algorithms: readonly Check[] = KINDS.map(([id, kind, words]) =>
  ours(`4.3.seal.${id}`, 'decision C1', `An order sealed with ${words} is opened`, async (s) => {
    const key = kind === 'shared' ? s.sharedKey() : await s.publishedKey(kind)
    const mobile = newMobile()
    const answer = await s.createCard(s.orderOf('incentivePartner', { mobile }), { key })
    wantStatus(answer, 200)
    wantValue(answer, 'payload.mobile', mobile)
  }),
)

const plain: readonly Check[] = [
  must(
    '4.3.seal.plain',
    '§4.3, request body',
    'A plain order is refused: the body is one encrypted payload string',
    async (s) => wantRefused(await sendPlain(s, s.orderOf())),
  ),
  ours('4.3.seal.plain.word', 'decision C2', 'A plain order is 400 payload_not_sealed', async (s) =>
    wantFailure(await sendPlain(s, s.orderOf()), 400, 'payload_not_sealed'),
  ),
  must(
    '4.3.seal.plain-text',
    '§4.3, request body',
    'An order as JSON text within a JSON string is refused',
    async (s) => wantRefused(await sendPlain(s, JSON.stringify(s.orderOf()))),
  ),
  must(
    '4.3.seal.empty',
    '§4.3, request body',
    'No body, an empty text and an array are refused',
    async (s) => {
      for (const body of [undefined, '', []]) wantRefused(await sendPlain(s, body))
    },
  ),
  ours('4.3.seal.bare', 'decision C1', 'The bare JWE is taken as application/jose', async (s) => {
    const body = await sealedOrder(s)
    const { headers } = await s.asPartner()
    const jose = { ...headers, 'content-type': 'application/jose' }
    wantStatus(await s.send({ method: 'POST', path: PATHS.card, headers: jose, body, sealed: '' }), 200)
  }),
]

const PARTS = ['header', 'key', 'iv', 'ciphertext', 'tag']

const tampering: readonly Check[] = PARTS.map((part, index) =>
  ours(
    `4.3.seal.tampered.${part}`,
    'decision C5',
    `One other bit in the ${part} of a seal: 400 seal_rejected`,
    async (s) =>
      wantFailure(await s.sendSealed(tampered(await sealedOrder(s), index), {}), 400, 'seal_rejected'),
  ),
)

const refusesSeal = (id: string, title: string, make: (subject: Subject) => Promise<string>): Check =>
  ours(`4.3.seal.${id}`, 'decisions C1, C5', `${title}: 400 seal_rejected`, async (s) =>
    wantFailure(await s.sendSealed(await make(s), {}), 400, 'seal_rejected'),
  )

const sealAs = (subject: Subject, change: Partial<SealingKey>, header = {}): Promise<string> =>
  seal(JSON.stringify(subject.orderOf()), { ...subject.sharedKey(), ...change }, header)

/** Shares the key's first 16 bytes with the right one: only the algorithm is another. */
const short = (subject: Subject): SealingKey['key'] | Uint8Array =>
  subject.sharedKey().key.export().subarray(0, 16)

const headers: readonly Check[] = [
  refusesSeal('unknown-kid', 'A kid that nobody knows', (s) =>
    sealAs(s, { kid: 'sk_00000000000000000000000000' }),
  ),
  refusesSeal('no-kid', 'A seal without kid', (s) =>
    new CompactEncrypt(Buffer.from(JSON.stringify(s.orderOf())))
      .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM' })
      .encrypt(s.sharedKey().key),
  ),
  refusesSeal('dir', 'alg dir', (s) => sealAs(s, { alg: 'dir' })),
  refusesSeal('A256GCMKW', 'alg A256GCMKW with the right key', (s) => sealAs(s, { alg: 'A256GCMKW' })),
  refusesSeal('A128KW', 'alg A128KW', (s) =>
    new CompactEncrypt(Buffer.from(JSON.stringify(s.orderOf())))
      .setProtectedHeader({ alg: 'A128KW', enc: 'A256GCM', kid: s.sharedKey().kid })
      .encrypt(short(s)),
  ),
  refusesSeal('A128CBC-HS256', 'enc A128CBC-HS256', (s) => sealAs(s, { enc: 'A128CBC-HS256' })),
  refusesSeal('RSA-OAEP', 'alg RSA-OAEP (with SHA-1) to the published key', async (s) =>
    seal(JSON.stringify(s.orderOf()), { ...(await s.publishedKey('RSA')), alg: 'RSA-OAEP' }),
  ),
  refusesSeal('jku', 'A header that names keys elsewhere (jku)', (s) =>
    sealAs(s, {}, { jku: 'https://example.com/jwks.json' }),
  ),
  refusesSeal('four-parts', 'Four parts instead of five', async (s) =>
    (await sealedOrder(s)).split('.').slice(0, 4).join('.'),
  ),
  refusesSeal(
    'spelled-otherwise',
    'Base64url that is not canonical',
    async (s) => `${await sealedOrder(s)}=`,
  ),
  refusesSeal('not-json', 'A sealed text that is not JSON', (s) => seal('order', s.sharedKey())),
  refusesSeal('not-an-object', 'A sealed JSON array', (s) => seal('[]', s.sharedKey())),
  refusesSeal('twice-named', 'A sealed object that names a field twice', (s) =>
    seal('{"companyId":"a","companyId":"b"}', s.sharedKey()),
  ),
  ours(
    '4.3.seal.foreign-key',
    'decisions C1, A10',
    'Another partner’s shared key is refused like one that does not exist',
    async (s) => {
      const foreign = s.sharedKey('otherPartner')
      const order = JSON.stringify(s.orderOf())
      const theirs = await s.sendSealed(await seal(order, foreign), {})
      const none = { ...foreign, kid: 'sk_00000000000000000000000000' }
      wantSameRefusal(theirs, await s.sendSealed(await seal(order, none), {}), 'the answer to an unknown kid')
    },
  ),
]

const retries: readonly Check[] = [
  ours(
    '4.3.idempotency',
    'decision C13',
    'The same Idempotency-Key and order, sealed anew, answer byte for byte the same',
    async (s) => {
      const order = s.orderOf('incentivePartner', { mobile: newMobile() })
      const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
      const first = await s.createCard(order, key)
      wantStatus(first, 200)
      const second = await s.createCard(order, key)
      if (second.status !== 200 || second.text !== first.text)
        fail(second, 'the first answer, byte for byte', `${second.status} with another body`)
    },
  ),
  ours(
    '4.3.idempotency.together',
    'decision C13',
    'Five orders at once with one Idempotency-Key make one card',
    async (s) => {
      const order = s.orderOf('incentivePartner', { mobile: newMobile() })
      const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
      const answers = await Promise.all(Array.from({ length: 5 }, () => s.createCard(order, key)))
      const ids = new Set(answers.map((answer) => at(answer, 'payload.svcCardId')))
      if (ids.size !== 1) fail(answers[0]!, 'one card', `${ids.size} cards`)
    },
  ),
  ours(
    '4.3.idempotency.other',
    'decision C13',
    'The same Idempotency-Key with another order is 422',
    async (s) => {
      const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
      wantStatus(await s.createCard(s.orderOf(), key), 200)
      const other = s.orderOf('incentivePartner', { mobile: newMobile() })
      wantFailure(await s.createCard(other, key), 422, 'idempotency_key_reused')
    },
  ),
  ours(
    '4.3.idempotency.refused',
    'decision C13',
    'An order that was refused does not burn its Idempotency-Key',
    async (s) => {
      const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
      wantFailure(
        await s.createCard(s.orderOf('incentivePartner', { mobile: '1' }), key),
        400,
        'validation_failed',
      )
      wantStatus(await s.createCard(s.orderOf(), key), 200)
    },
  ),
  ours(
    '4.3.idempotency.key',
    'decision C13',
    'An Idempotency-Key has 1 to 255 visible characters; 256 are refused',
    async (s) => {
      const unique = crypto.randomUUID()
      const send = (length: number) =>
        s.createCard(s.orderOf(), { headers: { 'idempotency-key': unique.padEnd(length, 'k') } })
      wantStatus(await send(255), 200)
      wantFailure(await send(256), 400, 'validation_failed', 'Idempotency-Key')
    },
  ),
  ours(
    '4.3.replay',
    'decision C13',
    'A seal counts once: the same seal again gets the first answer',
    async (s) => {
      const sealed = await sealedOrder(s)
      const first = await s.sendSealed(sealed, {})
      wantStatus(first, 200)
      const again = await s.sendSealed(sealed, {})
      wantValue(again, 'payload.svcCardId', at(first, 'payload.svcCardId') as string)
    },
  ),
  ours(
    '4.3.replay.other-key',
    'decision C13',
    'The same seal under another Idempotency-Key is 409 seal_replayed',
    async (s) => {
      const sealed = await sealedOrder(s)
      wantStatus(await s.sendSealed(sealed, {}), 200)
      const headers = { 'idempotency-key': crypto.randomUUID() }
      wantFailure(await s.sendSealed(sealed, { headers }), 409, 'seal_replayed')
    },
  ),
]

const answers: readonly Check[] = [
  ours(
    '4.3.sealed-answer',
    'decision C3',
    'With Accept: application/jose the answer comes sealed to the partner',
    async (s) => {
      const { key, kid } = s.sharedKey()
      const answer = await s.createCard(s.orderOf(), { headers: { accept: 'application/jose' } })
      wantStatus(answer, 200)
      if (answer.headers['content-type'] !== 'application/jose')
        fail(answer, 'content type application/jose', answer.headers['content-type'] ?? 'none')
      const header = headerOf(answer)
      if (header['kid'] !== kid) skip('answers are sealed to another key of the partner than its shared one')
      const opened = await compactDecrypt(answer.text, key).catch(() =>
        fail(answer, 'a seal that opens', 'another'),
      )
      if (!Buffer.from(opened.plaintext).toString().startsWith('{"code":0'))
        fail(answer, 'the answer within the seal', 'something else')
    },
  ),
  ours(
    '4.3.jwks',
    'decision C1',
    'The keys to seal to are published, each with kid, alg and use, and none is secret',
    async (s) => {
      const answer = await s.call('GET', '/.well-known/jwks.json', undefined)
      wantStatus(answer, 200)
      const keys = at(answer, 'keys')
      if (!Array.isArray(keys) || keys.length === 0) return fail(answer, 'keys', 'none')
      for (const key of keys as Record<string, unknown>[]) {
        for (const name of ['kid', 'alg', 'use'])
          if (!key[name]) fail(answer, `a ${name} for each key`, 'a key without')
        for (const name of ['d', 'p', 'q', 'k'])
          if (name in key) fail(answer, 'public keys only', `a key with ${name}`)
      }
    },
  ),
]

function headerOf(answer: Answer): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(answer.text.split('.')[0]!, 'base64url').toString()) as Record<
      string,
      unknown
    >
  } catch {
    return fail(answer, 'a compact JWE', 'something else')
  }
}

const media: readonly Check[] = [
  ours('4.3.media-type', 'decision F3', 'A body of another media type is refused with 415', async (s) =>
    wantFailure(
      await s.sendSealed(await sealedOrder(s), { headers: { ...JSON_BODY, 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    ),
  ),
]

export const SEALING_CHECKS: readonly Check[] = [
  ...plain,
  ...algorithms,
  ...tampering,
  ...headers,
  ...retries,
  ...answers,
  ...media,
]
