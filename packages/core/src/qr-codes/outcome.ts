import { createPublicKey } from 'node:crypto'
import { formatRupees } from '@svc/kernel/money'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { signed, signingKey } from '@svc/platform/crypto/signed'
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

/**
 * States that after this revision of the code no payment is accepted. Made of the closed row alone, and Ed25519 draws
 * nothing by chance: while the key lives, each read returns the same bytes.
 */
const receiptOf = (code: QrCode, closedAt: Date, keyring: Keyring): string =>
  signed(keyring, 'svc-receipt', {
    qrCodeId: code.qrCodeId,
    outcome: code.closeReason,
    acceptedCount: code.acceptedCount,
    acceptedPaise: String(code.acceptedPaise),
    lastUtr: code.lastUtr,
    revision: code.revision,
    time: closedAt.toISOString(),
  })

/** RFC 7517: the keys by which anyone can verify receipts. */
export const publishedReceiptKeys = (keyring: Keyring): Record<string, unknown>[] =>
  keyring.all('receipt_signing').map((dataKey) => {
    const { kid, privateKey } = signingKey(dataKey)
    return { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid, use: 'sig', alg: 'EdDSA' }
  })
