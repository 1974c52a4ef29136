import { createHash, createPrivateKey } from 'node:crypto'
import { join } from 'node:path'
import { base32 } from '@svc/kernel/ids'
import type { KeyPurpose, Keyring } from '@svc/platform/crypto/keyring'
import { build } from 'esbuild'
import { ROOT, type ServerProcess, startServer } from './server-process.ts'

const PROGRAM = join(ROOT, 'node_modules/.cache/svc-bench/handwritten.mjs')
/** PKCS #8 wrapping of a raw Ed25519 seed (RFC 8410 section 7). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Bundles the peer as the service is bundled; a few tenths of a second. */
export async function buildHandwritten(): Promise<void> {
  await build({
    entryPoints: [join(ROOT, 'lab/bench/peers/handwritten/main.ts')],
    outfile: PROGRAM,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['pg-native'],
    banner: {
      js: "import { createRequire as requireOfLibraries } from 'node:module'; const require = requireOfLibraries(import.meta.url);",
    },
    logLevel: 'warning',
  })
}

export interface HandwrittenOptions {
  readonly databaseUrl: string
  /** Keys of the service: the peer reads what that wrote, and accepts the same tokens. */
  readonly keyring: Keyring
  readonly issuer: string
  readonly railKey: string
  readonly env?: Readonly<Record<string, string>>
}

/** The signing key of tokens as a JWK, under the name by which the service knows it. */
function signingJwk(keyring: Keyring): string {
  const { keyId, bytes } = keyring.newest('token_signing')
  const key = createPrivateKey({ key: Buffer.concat([ED25519_PKCS8, bytes]), format: 'der', type: 'pkcs8' })
  const kid = base32(createHash('sha256').update(keyId).digest().subarray(0, 5))
  return JSON.stringify({ ...key.export({ format: 'jwk' }), kid })
}

/** The built peer as a process of its own. */
export function startHandwritten(options: HandwrittenOptions): Promise<ServerProcess> {
  const { databaseUrl, keyring, issuer, railKey, env } = options
  const keyOf = (purpose: KeyPurpose) => {
    const { keyId, bytes } = keyring.oldest(purpose)
    return `${keyId}:${bytes.toString('base64')}`
  }
  return startServer({
    args: [PROGRAM],
    env: {
      DATABASE_URL: databaseUrl,
      ISSUER: issuer,
      UPI_RAIL_KEY: railKey,
      SIGNING_JWK: signingJwk(keyring),
      API_KEY_DIGEST_KEY: keyOf('api_key_digest'),
      SESSION_KEY: keyOf('session'),
      PARTNER_KEY: keyOf('partner_key'),
      CARD_NUMBER_KEY: keyOf('card_number'),
      CARD_NUMBER_DIGEST_KEY: keyOf('card_number_digest'),
      STORED_RESPONSE_KEY: keyOf('stored_answer'),
      ...env,
    },
  })
}
