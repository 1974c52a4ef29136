import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { type RowLock, rowLock } from '../platform/db/row-lock.ts'
import { columns } from '../platform/db/statement.ts'
import { command, NoFields, ok } from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import {
  looksLikeQrCodeId,
  QR_CODE_COLUMNS,
  type QrCode,
  QrCodeParams,
  QrCodeResponse,
  type QrCodeRow,
  qrCodeEvent,
  toQrCode,
  toWire,
  updateQrCodes,
} from './qr-code.ts'

interface CancelQrCode {
  readonly tenantId: string
  readonly qrCodeId: string
  readonly eventId: string
  readonly timeZone: string
}

interface Cancelled {
  readonly code: QrCode
  readonly changed: boolean
  readonly command: CancelQrCode
}

const LOCK: RowLock<QrCodeRow & { last_paid_at: Date | null }> = rowLock('qr_codes_to_cancel', {
  select: `${QR_CODE_COLUMNS}, (
      select p.created_at from payments p
      where p.merchant_id = q.merchant_id and p.qr_code_id = q.qr_code_id and p.status = 'ACCEPTED'
      order by p.created_at desc limit 1) as last_paid_at`,
  from: `from qr_codes q
    where (q.merchant_id, q.qr_code_id) in (select * from unnest($1::text[], $2::text[])) order by q.qr_code_id`,
  tenant: 'q.merchant_id',
  id: 'q.qr_code_id',
  of: 'q',
})

const latest = (...instants: Date[]): Date => new Date(Math.max(...instants.map(Number)))
const keyOf = (merchantId: string, qrCodeId: string) => `${merchantId} ${qrCodeId}`

/** Spec §4.2. Cancels a UPI QR code for good; a repeat gets the first answer (decision Q2). */
export const cancelQrCode = command({
  id: 'cancelQrCode',
  method: 'PATCH',
  path: '/api/v0/qr-code/:qrCodeId/cancel',
  tag: 'QR codes',
  summary: 'Cancel UPI QR code',
  description:
    'A cancelled code accepts no payment any more: a credit that arrives later is recorded and refunded. Cancelling again answers the same. Send `{}` or no body at all.',
  developing: true,
  auth: 'merchant',
  family: 'response_code',
  headers: {
    merchantAccessKey: 'The merchant’s access key; when sent, it must belong to the merchant of the token',
  },
  params: QrCodeParams,
  body: NoFields,
  result: QrCodeResponse,
  errors: ['qr_code_not_found', 'access_key_mismatch'],

  prepare:
    ({ clock, random, config }) =>
    ({ caller, params }): CancelQrCode => {
      if (!looksLikeQrCodeId(params.qrCodeId)) fail('qr_code_not_found')
      return {
        tenantId: caller.tenantId,
        qrCodeId: params.qrCodeId,
        eventId: newId('evt', clock.now(), random),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx, cancels) {
    const wanted = new Map(cancels.map((cancel) => [keyOf(cancel.tenantId, cancel.qrCodeId), cancel]))
    const keys = columns(
      [...wanted.values()],
      (cancel) => cancel.tenantId,
      (cancel) => cancel.qrCodeId,
    )
    const rows = await tx.lock(LOCK, keys, wanted.size)
    return new Map(
      rows.map((row) => [
        keyOf(row.merchant_id, row.qr_code_id),
        { code: toQrCode(row), lastPaidAt: row.last_paid_at },
      ]),
    )
  },

  decide(codes, cancel, now): Cancelled {
    const { code, lastPaidAt } =
      codes.get(keyOf(cancel.tenantId, cancel.qrCodeId)) ?? fail('qr_code_not_found')
    if (code.status === 'CANCELLED') return { code, changed: false, command: cancel }
    // A clock that was set back must not make it look as if payments had been accepted after the cancel.
    const modifiedAt = latest(now, code.modifiedAt, lastPaidAt ?? now)
    return { code: { ...code, status: 'CANCELLED', modifiedAt }, changed: true, command: cancel }
  },

  apply: (codes, { code }) =>
    void codes.set(keyOf(code.merchantId, code.qrCodeId), { code, lastPaidAt: null }),

  save(tx, decisions) {
    const changed = decisions.filter((decision) => decision.changed)
    updateQrCodes(
      tx,
      changed.map(({ code }) => code),
    )
    saveEvents(
      tx,
      changed.map(({ code, command }) => qrCodeEvent('cancelled', code, command.eventId, command.timeZone)),
    )
  },

  answer: ({ code, command: { timeZone } }) => ok(toWire(code, timeZone)),
})
