import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { DataKey, Keyring } from './keyring.ts'

interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
}

/** Importing a key costs more than a signature, so it is kept as long as the data key is. */
const imported = new WeakMap<DataKey, SigningKey>()

export function signingKey(dataKey: DataKey): SigningKey {
  const known = imported.get(dataKey)
  if (known) return known
  const privateKey = createPrivateKey({ key: dataKey.bytes, format: 'der', type: 'pkcs8' })
  const key: SigningKey = { kid: dataKey.keyId, privateKey }
  imported.set(dataKey, key)
  return key
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/** A compact JWS (RFC 7515, Ed25519) that anyone can verify with the published keys; `typ` says what it states. */
export function signed(keyring: Keyring, typ: string, payload: object): string {
  const { kid, privateKey } = signingKey(keyring.newest('receipt_signing'))
  const text = `${encoded({ alg: 'EdDSA', typ, kid })}.${encoded(payload)}`
  return `${text}.${sign(null, Buffer.from(text, 'latin1'), privateKey).toString('base64url')}`
}

/** The payload of a JWS that `signed` made with this `typ`; `undefined` when it was not signed here, or was changed. */
export function readSigned(keyring: Keyring, typ: string, jws: string): unknown {
  const [head = '', body = '', signature = '', ...rest] = jws.split('.')
  const header = parsed(head) as { kid?: unknown; typ?: unknown } | undefined
  const dataKey = keyring.all('receipt_signing').find(({ keyId }) => keyId === header?.kid)
  if (!dataKey || header?.typ !== typ || rest.length > 0) return undefined
  const publicKey = createPublicKey(signingKey(dataKey).privateKey)
  const isOurs = verify(
    null,
    Buffer.from(`${head}.${body}`, 'latin1'),
    publicKey,
    Buffer.from(signature, 'base64url'),
  )
  return isOurs ? parsed(body) : undefined
}

function parsed(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
