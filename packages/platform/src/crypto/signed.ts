import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
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

/** Of Ed25519, in the ids of keys of signed notes. */
const NOTE_ALGORITHM = Buffer.of(1)
const KEY_ID_BYTES = 4

/** The id by which a signature of a note names its key (C2SP signed-note). */
function noteKeyId(name: string, privateKey: KeyObject): Buffer {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const hash = createHash('sha256').update(`${name}\n`).update(NOTE_ALGORITHM)
  return hash.update(Buffer.from(x, 'base64url')).digest().subarray(0, KEY_ID_BYTES)
}

/** A text of whole lines as a signed note (C2SP signed-note, Ed25519), by the key that signs receipts. */
export function signedNote(keyring: Keyring, name: string, text: string): string {
  const { privateKey } = signingKey(keyring.newest('receipt_signing'))
  const signature = Buffer.concat([noteKeyId(name, privateKey), sign(null, Buffer.from(text), privateKey)])
  return `${text}\n— ${name} ${signature.toString('base64')}\n`
}

/** The text of a note that one of our keys signed under its first line; `undefined` for any other. */
export function readSignedNote(keyring: Keyring, note: string): string | undefined {
  const end = note.lastIndexOf('\n\n') + 1
  const text = note.slice(0, end)
  const [name = ''] = text.split('\n')
  const [, signer, signature = ''] = note
    .slice(end + 1)
    .trimEnd()
    .split(' ')
  const bytes = Buffer.from(signature, 'base64')
  const isOurs = keyring.all('receipt_signing').some((dataKey) => {
    const { privateKey } = signingKey(dataKey)
    return (
      noteKeyId(name, privateKey).equals(bytes.subarray(0, KEY_ID_BYTES)) &&
      verify(null, Buffer.from(text), createPublicKey(privateKey), bytes.subarray(KEY_ID_BYTES))
    )
  })
  return end > 0 && signer === name && isOurs ? text : undefined
}
