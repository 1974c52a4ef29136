import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

export interface DataKey {
  readonly id: string
  readonly bytes: Buffer
}

const IV_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM: the key's id, `0x00`, IV, ciphertext, tag. The context must be the same when it is decrypted. */
export function encryptFor(key: DataKey, plain: string, context: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key.bytes, iv)
  cipher.setAAD(Buffer.from(context))
  return Buffer.concat([
    Buffer.from(`${key.id}\0`),
    iv,
    cipher.update(plain, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

/** Throws when the key, the context or a single bit is another. */
export function decryptFor(key: DataKey, encrypted: Buffer, context: string): Buffer {
  const start = encrypted.indexOf(0) + 1
  const end = encrypted.length - TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, encrypted.subarray(start, start + IV_BYTES))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(encrypted.subarray(end))
  return Buffer.concat([decipher.update(encrypted.subarray(start + IV_BYTES, end)), decipher.final()])
}

/** For equality lookups: HMAC-SHA-256. */
export const digestOf = (key: DataKey, text: string): Buffer =>
  createHmac('sha256', key.bytes).update(text).digest()
