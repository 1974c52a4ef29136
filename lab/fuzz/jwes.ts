import { createCipheriv, randomBytes } from 'node:crypto'
import { encrypt } from '@svc/jwe/jwe'
import * as fc from 'fast-check'
import { b64, encryptWithHeader, HEADER_ATTACKS, LOW_ORDER_POINTS } from '../../packages/jwe/test/forged.ts'
import type { Target } from './target.ts'

const KEYS = ['shared', 'P-256', 'X25519', 'RSA'] as const

/** How a body is encrypted, well or not. */
export type JwePlan =
  | { readonly how: 'well'; readonly key: (typeof KEYS)[number] }
  | { readonly how: 'header'; readonly index: number; readonly key: 'shared' | 'P-256' | 'X25519' }
  | { readonly how: 'epk'; readonly index: number }
  | {
      readonly how: 'changed'
      readonly key: (typeof KEYS)[number]
      readonly part: number
      readonly at: number
      readonly to: string
    }
  | { readonly how: 'shape'; readonly index: number }

export const jwePlan: fc.Arbitrary<JwePlan> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ how: fc.constant('well' as const), key: fc.constantFrom(...KEYS) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      how: fc.constant('header' as const),
      index: fc.nat(HEADER_ATTACKS.length - 1),
      key: fc.constantFrom('shared' as const, 'P-256' as const, 'X25519' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ how: fc.constant('epk' as const), index: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      how: fc.constant('changed' as const),
      key: fc.constantFrom(...KEYS),
      part: fc.nat(4),
      at: fc.nat(400),
      to: fc.constantFrom('', 'A', '=', '.', '+', '/', ' ', '\n', '%', 'é', '\u0000'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ how: fc.constant('shape' as const), index: fc.nat(20) }) },
)

/** The compact JWE, or what is sent in its place. Unpacked, none of them is larger than the service may hold. */
export async function encryptAs(plan: JwePlan, inner: Buffer, { jweKeys }: Target): Promise<string> {
  switch (plan.how) {
    case 'well':
      return encrypt(inner, jweKeys[plan.key])
    case 'header': {
      const [, , header] = HEADER_ATTACKS[plan.index]!
      const { kid } = jweKeys[plan.key]
      const named =
        typeof header === 'object' && !Buffer.isBuffer(header) && 'kid' in header && header.kid === 'key-1'
          ? { ...header, kid }
          : header
      return encryptWithHeader(named, jweKeys.shared.key, { plaintext: inner })
    }
    case 'epk': {
      const points = [
        ...LOW_ORDER_POINTS.map((hex) => ({ kty: 'OKP', crv: 'X25519', x: b64(Buffer.from(hex, 'hex')) })),
        { kty: 'EC', crv: 'P-256', x: b64(Buffer.alloc(32)), y: b64(Buffer.alloc(32)) },
        { kty: 'EC', crv: 'P-256', x: b64(Buffer.alloc(32, 0xff)), y: b64(Buffer.alloc(32, 0xff)) },
        { kty: 'EC', crv: 'P-256', x: b64(randomBytes(32)), y: b64(randomBytes(32)) },
        { kty: 'OKP', crv: 'X25519', x: b64(randomBytes(32)) },
      ]
      const epk = points[plan.index % points.length]!
      const { kid } = jweKeys[epk.crv as 'P-256' | 'X25519']
      return encryptWithHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', kid, epk }, jweKeys.shared.key, {
        plaintext: inner,
      })
    }
    case 'changed': {
      const parts = (await encrypt(inner, jweKeys[plan.key])).split('.')
      const part = parts[plan.part]!
      const at = plan.at % (part.length + 1)
      parts[plan.part] = part.slice(0, at) + plan.to + part.slice(at + 1)
      return parts.join('.')
    }
    case 'shape': {
      const text = await encrypt(inner, jweKeys.shared)
      const [header, encryptedKey, iv, ciphertext, tag] = text.split('.')
      const { kid } = jweKeys.shared
      const general = {
        protected: header,
        recipients: [{ encrypted_key: encryptedKey }],
        iv,
        ciphertext,
        tag,
      }
      const shapes = [
        JSON.stringify(general),
        JSON.stringify({ protected: header, encrypted_key: encryptedKey, iv, ciphertext, tag }),
        `${text}.`,
        `.${text}`,
        `${text}.${text}`,
        `${text}\n`,
        ` ${text}`,
        `${header}.${encryptedKey}.${iv}.${ciphertext}`,
        '....',
        '.'.repeat(60_000),
        'A'.repeat(65_600),
        '',
        'e30.e30.e30.e30.e30',
        await encrypt(Buffer.from(text), jweKeys.shared),
        encryptWithHeader({ alg: 'A256KW', enc: 'A256GCM', kid, cty: 'JWT' }, jweKeys.shared.key, {
          plaintext: Buffer.from(text),
        }),
        text.replaceAll('-', '+').replaceAll('_', '/'),
        text.replaceAll('.', ' . '),
        bomb(kid),
      ]
      return shapes[plan.index % shapes.length]!
    }
  }
}

/** The header of a small text that would unpack to very much, were it unpacked. */
const bomb = (kid: string): string => {
  const cipher = createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12))
  const zeros = Buffer.concat([cipher.update(Buffer.alloc(20_000)), cipher.final()])
  const header = b64(JSON.stringify({ alg: 'dir', enc: 'A256GCM', zip: 'DEF', kid }))
  return `${header}..${b64(randomBytes(12))}.${b64(zeros)}.${b64(randomBytes(16))}`
}
