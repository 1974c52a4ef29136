import { inEachTime, type Timeline } from '@svc/kernel/time'
import { timeAhead, transactionTime } from '@svc/platform/db/database-time'
import { columns, statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import { saveEvents } from '@svc/platform/outbox'
import type { CoreServices } from '@svc/platform/services'
import { type QrCode, qrCodeEvent, qrCodes } from './qr-code.ts'

const EVERY_MS = 1_000
const CODES_A_SWEEP = 500

const EXPIRED = statement<{ merchant_id: string; qr_code_id: string }>(
  'directory_qr_codes_expired',
  `select * from directory_qr_codes_expired(${timeAhead(1)}, $2, $3)`,
)
const TO_CLOSE = statement<{ merchant_id: string; qr_code_id: string }>(
  'directory_qr_codes_to_close',
  `select * from directory_qr_codes_to_close(${timeAhead(1)}, $2, $3)`,
)
// Codes that another process or a payment holds are left to the next sweep.
const CLOSE = statement(
  'qr_codes_expired_close',
  `update qr_codes q set close_reason = 'expired', closed_at = $4, revision = q.revision + 1
   where q.qr_code_id = any (array(
     select c.qr_code_id from qr_codes c
     where (c.merchant_id, c.qr_code_id) in (select * from unnest($1::text[], $2::text[]))
       and c.expiry_at <= $3 and c.close_reason is null and c.status = 'ACTIVE'
     order by c.qr_code_id for no key update skip locked))
     and q.merchant_id = any ($1) returning 1`,
)
const ANNOUNCE = statement<QrCode>(
  'qr_codes_expired_tell',
  `update qr_codes q set expiry_told = true
   where q.qr_code_id = any (array(
     select c.qr_code_id from qr_codes c
     where (c.merchant_id, c.qr_code_id) in (select * from unnest($1::text[], $2::text[]))
       and c.expiry_at <= $3 and not c.expiry_told and c.status = 'ACTIVE'
     order by c.qr_code_id for no key update skip locked))
     and q.merchant_id = any ($1)
   returning ${qrCodes.columns}`,
)

async function publishExpired(
  { config, database, newId }: CoreServices,
  { tenantIds, clock }: Timeline,
): Promise<number> {
  const due = await database.directory(EXPIRED, [clock.offsetMs(), CODES_A_SWEEP, tenantIds])
  if (due.length === 0) return 0
  return database.write(
    due.map((code) => code.merchant_id),
    async (tx) => {
      const keys = columns(
        due,
        (code) => code.merchant_id,
        (code) => code.qr_code_id,
      )
      const now = await transactionTime(tx, clock)
      const reported = await tx.query(ANNOUNCE, [...keys, now])
      const events = reported.map((code) => {
        const eventId = newId('evt')
        return qrCodeEvent('expired', code, eventId, config.BUSINESS_TIME_ZONE, now)
      })
      saveEvents(tx, events)
      return Math.max(reported.length, 1)
    },
  )
}

async function closeExpired(
  { config, database }: CoreServices,
  { tenantIds, clock }: Timeline,
): Promise<number> {
  const graceMs = config.RAIL_GRACE_SECONDS * 1_000
  const due = await database.directory(TO_CLOSE, [clock.offsetMs() - graceMs, CODES_A_SWEEP, tenantIds])
  if (due.length === 0) return 0
  const merchantIds = due.map((code) => code.merchant_id)
  return database.write(merchantIds, async (tx) => {
    const now = await transactionTime(tx, clock)
    const before = new Date(now.getTime() - graceMs)
    const closed = await tx.query(CLOSE, [merchantIds, due.map((code) => code.qr_code_id), before, now])
    return Math.max(closed.length, 1)
  })
}

/**
 * Publishes `qr_code.expired` for every active code whose time has passed: exactly once, since the mark on the code and the
 * event are of one transaction. An expired code keeps its status (decision Q4). Returns how many were published, at
 * least 1 while any is due: another process may have it in hand.
 */
export const expireQrCodes = (services: CoreServices): Promise<number> =>
  inEachTime(services.clock, (timeline) => publishExpired(services, timeline))

/**
 * Closes expired codes once the rail's grace has passed, under their row lock: from then on no payment is accepted, and
 * a receipt says so. Returns how many were closed, at least 1 while any is due.
 */
export const closeExpiredQrCodes = (services: CoreServices): Promise<number> =>
  inEachTime(services.clock, (timeline) => closeExpired(services, timeline))

/** Publishes and closes expired QR codes of every merchant. */
export const expireQrCodesLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'expire_qr_codes',
      everyMs: EVERY_MS,
      work: async () => {
        const published = await expireQrCodes(services)
        const closed = await closeExpiredQrCodes(services)
        return published >= CODES_A_SWEEP || closed >= CODES_A_SWEEP
      },
      atStart: true,
    },
    services,
  )
