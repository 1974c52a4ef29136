import { fail } from '@svc/contract/errors'
import { qrCodeAsOf } from '@svc/core/payments/as-of'
import { outcomeHeaders } from '@svc/core/qr-codes/outcome'
import {
  looksLikeQrCodeId,
  type QrCode,
  QrCodeParams,
  QrCodeRecord,
  qrCodes,
  toWireWithImage,
  withShownStatus,
} from '@svc/core/qr-codes/qr-code'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import { AsOfQuery, readAsOf } from '../http/as-of.ts'
import { query, succeed } from '../http/operation.ts'
import { OUTCOME_HEADERS, ofCodes } from './qr-codes.ts'

/** Lookup of a merchant's own codes; `undefined` for those of others and for ids that cannot be ours. */
export function qrCodeLookup(
  database: Database,
): (tenantId: string, qrCodeId: string) => Promise<QrCode | undefined> {
  const codes = new BatchedLookup<QrCode>(
    (keys) =>
      database.read(
        keys.map(({ tenantId }) => tenantId),
        (tx) =>
          tx.query(
            qrCodes.find,
            qrCodes.keys(keys.map(({ tenantId, id }) => ({ merchantId: tenantId, qrCodeId: id }))),
          ),
      ),
    (code) => ({ tenantId: code.merchantId, id: code.qrCodeId }),
  )
  return async (tenantId, qrCodeId) =>
    looksLikeQrCodeId(qrCodeId) ? codes.get(tenantId, qrCodeId) : undefined
}

/** Ours (decision Q1): one code with its image. */
export const getQrCode = query({
  ...ofCodes('qr_codes:read'),
  id: 'getQrCode',
  method: 'GET',
  path: '/api/v0/qr-code/:qrCodeId',
  summary: 'Get UPI QR code',
  description: 'With `asOf` as it was then, without the headers.',
  params: QrCodeParams,
  query: AsOfQuery,
  result: QrCodeRecord,
  responseHeaders: OUTCOME_HEADERS,
  errors: ['qr_code_not_found', 'access_key_mismatch'],

  mount({ clock, database, config, keyring }) {
    const find = qrCodeLookup(database)
    return async ({ caller, params, query }) => {
      const code = (await find(caller.tenantId, params.qrCodeId)) ?? fail('qr_code_not_found')
      const at = readAsOf(query, clock, caller.tenantId)
      if (at) {
        const was = await database.read([caller.tenantId], (tx) => qrCodeAsOf(tx, code, at))
        const shown = withShownStatus(was ?? fail('qr_code_not_found'), config.EXPIRED_STATUS, at)
        return { body: succeed(toWireWithImage(shown, config.BUSINESS_TIME_ZONE)) }
      }
      const now = new Date(clock.of(caller.tenantId).now())
      const shown = withShownStatus(code, config.EXPIRED_STATUS, now)
      return {
        headers: outcomeHeaders(code, keyring, now),
        body: succeed(toWireWithImage(shown, config.BUSINESS_TIME_ZONE)),
      }
    }
  },
})
