import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { formatRupees } from '@svc/kernel/money'
import type { DataKey, Keyring } from '@svc/platform/crypto/keyring'
import type { QrCode } from './qr-code.ts'

/** Structured field (RFC 9651): `paid; payments=1; amount=249.50`. */
export const OUTCOME_HEADER = 'svc-outcome'
/** Compact JWS (RFC 7515) that anyone can verify with the published keys. */
export const RECEIPT_HEADER = 'svc-receipt'

type Headers = Readonly<Record<string, string>>

/** `wasClosed`: a cancel found it cancelled before. */
function outcomeOf({ closeReason, expiryAt }: QrCode, now: Date, wasClosed: boolean): string {
  if (closeReason === 'cancelled' && wasClosed) return 'already-cancelled'
  if (closeReason !== null) return closeReason
  return expiryAt !== null && expiryAt <= now ? 'expired' : 'active'
}

/** Which end a code came to, and what was paid: a till that cancels after a timeout must know (decision Q5). */
export const outcomeHeader = (code: QrCode, now: Date, wasClosed = false): Record<string, string> => ({
  [OUTCOME_HEADER]: `${outcomeOf(code, now, wasClosed)}; payments=${code.acceptedCount}; amount=${formatRupees(code.acceptedPaise)}`,
})

/** The outcome, and of a closed code its receipt. */
export const outcomeHeaders = (code: QrCode, keyring: Keyring, now: Date, wasClosed = false): Headers => ({
  ...outcomeHeader(code, now, wasClosed),
  ...(code.closedAt !== null && { [RECEIPT_HEADER]: receiptOf(code, code.closedAt, keyring) }),
})

interface ReceiptKey {
  readonly kid: string
  readonly header: string
  readonly privateKey: KeyObject
}

/** Importing a key costs more than a signature, so it is kept as long as the data key is. */
const imported = new WeakMap<DataKey, ReceiptKey>()

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

function receiptKey(dataKey: DataKey): ReceiptKey {
  const known = imported.get(dataKey)
  if (known) return known
  const kid = dataKey.keyId
  const key: ReceiptKey = {
    kid,
    header: encoded({ alg: 'EdDSA', typ: 'svc-receipt', kid }),
    privateKey: createPrivateKey({ key: dataKey.bytes, format: 'der', type: 'pkcs8' }),
  }
  imported.set(dataKey, key)
  return key
}

/**
 * States that after this revision of the code no payment is accepted. Made of the closed row alone, and Ed25519 draws
 * nothing by chance: while the key lives, each read returns the same bytes.
 */
function receiptOf(code: QrCode, closedAt: Date, keyring: Keyring): string {
  const { header, privateKey } = receiptKey(keyring.newest('receipt_signing'))
  const payload = encoded({
    qrCodeId: code.qrCodeId,
    outcome: code.closeReason,
    acceptedCount: code.acceptedCount,
    acceptedPaise: String(code.acceptedPaise),
    lastUtr: code.lastUtr,
    revision: code.revision,
    time: closedAt.toISOString(),
  })
  const signed = `${header}.${payload}`
  return `${signed}.${sign(null, Buffer.from(signed, 'latin1'), privateKey).toString('base64url')}`
}

/** RFC 7517: the keys by which anyone can verify receipts. */
export const publishedReceiptKeys = (keyring: Keyring): Record<string, unknown>[] =>
  keyring.all('receipt_signing').map((dataKey) => {
    const { kid, privateKey } = receiptKey(dataKey)
    return { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid, use: 'sig', alg: 'EdDSA' }
  })
