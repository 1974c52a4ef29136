import { newId } from '../kernel/ids.ts'
import { columns, statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import { QR_CODE_COLUMNS, type QrCodeRow, qrCodeEvent, toQrCode } from './qr-code.ts'

const EVERY_MS = 1_000
const CODES_A_SWEEP = 500

const EXPIRED = statement<{ merchant_id: string; qr_code_id: string }>(
  'directory_qr_codes_expired',
  'select * from directory_qr_codes_expired($1, $2)',
)
// Codes that another process or a payment holds are left to the next sweep.
const TELL = statement<QrCodeRow>(
  'qr_codes_expired_tell',
  `update qr_codes q set expiry_told = true
   where q.qr_code_id in (
     select c.qr_code_id from qr_codes c
     where (c.merchant_id, c.qr_code_id) in (select * from unnest($1::text[], $2::text[]))
       and c.expiry_at <= $3 and not c.expiry_told and c.status = 'ACTIVE'
     order by c.qr_code_id for no key update skip locked)
     and q.merchant_id = any ($1)
   returning ${QR_CODE_COLUMNS}`,
)

/**
 * Tells `qr_code.expired` of every active code whose time has passed: exactly once, since the mark on the code and the
 * event are of one transaction. An expired code keeps its status (decision Q4). Answers how many were told.
 */
export async function expireQrCodes({ clock, config, database, random }: Services): Promise<number> {
  const now = new Date(clock.now())
  const due = await database.directory(EXPIRED, [now, CODES_A_SWEEP])
  if (due.length === 0) return 0
  return database.write(
    due.map((code) => code.merchant_id),
    async (tx) => {
      const keys = columns(
        due,
        (code) => code.merchant_id,
        (code) => code.qr_code_id,
      )
      const told = await tx.query(TELL, [...keys, now])
      const events = told.map((row) => {
        const eventId = newId('evt', now.getTime(), random)
        return qrCodeEvent('expired', toQrCode(row), eventId, config.BUSINESS_TIME_ZONE, now)
      })
      saveEvents(tx, events)
      return told.length
    },
  )
}

/** Sweeps until the answered function is called, which waits for a sweep under way. */
export function keepExpiring(services: Services): () => Promise<void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> | undefined
  const sweep = async () => {
    try {
      while (!stopped && (await expireQrCodes(services)) === CODES_A_SWEEP);
    } catch (error) {
      services.log.warn({ err: error }, 'expired QR codes were not told; the next sweep will')
    }
    if (!stopped) timer = setTimeout(() => void (sweeping = sweep()), EVERY_MS)
  }
  sweeping = sweep()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await sweeping
  }
}
