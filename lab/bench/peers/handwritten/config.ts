import type { DataKey } from './secrets.ts'

/** Everything the service is configured with; all of it comes from the environment. */
export interface Config {
  readonly databaseUrl: string
  readonly poolSize: number
  readonly port: number
  /** Ed25519 private key (JWK) that signs merchants' tokens; partners' tokens have its signature too. */
  readonly signingJwk: { readonly kid: string; readonly [member: string]: unknown }
  readonly issuer: string
  readonly tokenTtlSeconds: number
  /** Key of the HMAC by which the bank signs its notices. */
  readonly railKey: string
  readonly cardBin: string
  readonly keys: {
    readonly apiKeyDigest: DataKey
    readonly session: DataKey
    readonly partnerKey: DataKey
    readonly cardNumber: DataKey
    readonly cardNumberDigest: DataKey
    readonly storedResponse: DataKey
  }
}

function required(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is required`)
  return value
}

/** `<id>:<base64>`. */
function dataKey(name: string): DataKey {
  const [id = '', bytes = ''] = required(name).split(':')
  return { id, bytes: Buffer.from(bytes, 'base64') }
}

/** Throws an error that names the first setting that is missing. */
export const readConfig = (): Config => ({
  databaseUrl: required('DATABASE_URL'),
  poolSize: Number(process.env['DATABASE_POOL_SIZE'] ?? 12),
  port: Number(process.env['PORT'] ?? 0),
  signingJwk: JSON.parse(required('SIGNING_JWK')) as Config['signingJwk'],
  issuer: required('ISSUER'),
  tokenTtlSeconds: Number(process.env['TOKEN_TTL_SECONDS'] ?? 3_600),
  railKey: required('UPI_RAIL_KEY'),
  cardBin: process.env['CARD_BIN'] ?? '99991234',
  keys: {
    apiKeyDigest: dataKey('API_KEY_DIGEST_KEY'),
    session: dataKey('SESSION_KEY'),
    partnerKey: dataKey('PARTNER_KEY'),
    cardNumber: dataKey('CARD_NUMBER_KEY'),
    cardNumberDigest: dataKey('CARD_NUMBER_DIGEST_KEY'),
    storedResponse: dataKey('STORED_RESPONSE_KEY'),
  },
})
