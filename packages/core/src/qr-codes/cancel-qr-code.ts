import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { saveEvents } from '@svc/platform/outbox'
import { closedEvent, looksLikeQrCodeId, type QrCode, qrCodes, updateQrCodes } from './qr-code.ts'

interface CancelQrCode {
  readonly merchantId: string
  readonly qrCodeId: string
  /** On whose behalf; the merchant's by default. */
  readonly actor?: 'merchant' | 'operator'
  readonly reason?: string | undefined
}

const LOCK = qrCodes.lock<{ readonly lastPaidAt: Date | null }>('to_cancel', {
  select: `(
      select p.created_at from payments p
      where p.merchant_id = q.merchant_id and p.qr_code_id = q.qr_code_id and p.status = 'ACCEPTED'
      order by p.created_at desc limit 1) as "lastPaidAt"`,
})

const latest = (...instants: Date[]): Date => new Date(Math.max(...instants.map(Number)))

/** Cancels a UPI QR code for good; repeating it returns the first response (spec section 4.2, decision Q2). */
export const cancelQrCode = command({
  name: 'cancelQrCode',

  prepare:
    ({ config, newId }) =>
    ({ merchantId, qrCodeId, actor = 'merchant', reason }: CancelQrCode) => {
      if (!looksLikeQrCodeId(qrCodeId)) fail('qr_code_not_found')
      return {
        tenantId: merchantId,
        merchantId,
        qrCodeId,
        actor,
        reason,
        eventId: newId('evt'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  lock: (tx, cancels) => qrCodes.lockRows(tx, LOCK, cancels),

  decide(codes, cancel, now) {
    const code = codes.get(cancel.qrCodeId) ?? fail('qr_code_not_found')
    if (code.status === 'CANCELLED') return { code, changed: false, cancel, now }
    // A clock that was set back must not make it look as if payments had been accepted after the cancel.
    const modifiedAt = latest(now, code.modifiedAt, code.lastPaidAt ?? now)
    const cancelled: QrCode = {
      ...code,
      status: 'CANCELLED',
      cancelReason: cancel.reason ?? null,
      modifiedAt,
      // One that expired before ended by that; its receipt stays as it is.
      ...(code.closeReason === null && {
        revision: code.revision + 1,
        closeReason: code.expiryAt !== null && code.expiryAt <= now ? 'expired' : 'cancelled',
        closedAt: modifiedAt,
      }),
    }
    return { code: cancelled, changed: true, cancel, now }
  },

  apply: (codes, { code }) => void codes.set(code.qrCodeId, { ...code, lastPaidAt: null }),

  save(tx, decisions) {
    const changed = decisions.filter((decision) => decision.changed)
    updateQrCodes(
      tx,
      changed.map(({ code }) => code),
    )
    saveEvents(
      tx,
      changed.map(({ code, cancel }) => closedEvent(code, cancel.actor, cancel.eventId, cancel.timeZone)),
    )
  },
})
