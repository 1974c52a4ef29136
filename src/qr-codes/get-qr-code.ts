import { fail } from '../errors.ts'
import type { Database } from '../platform/db/database.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import {
  looksLikeQrCodeId,
  QR_CODE_COLUMNS,
  type QrCode,
  QrCodeParams,
  QrCodeResponse,
  type QrCodeRow,
  toQrCode,
  toWireWithImage,
} from './qr-code.ts'

const FIND = statement<QrCodeRow>(
  'qr_codes_find',
  `select ${QR_CODE_COLUMNS} from qr_codes q
   where (q.merchant_id, q.qr_code_id) in (select * from unnest($1::text[], $2::text[]))`,
)

/** Look-up of a merchant's own codes; `undefined` for those of others and for ids that cannot be ours. */
export function qrCodeLookup(
  database: Database,
): (tenantId: string, qrCodeId: string) => Promise<QrCode | undefined> {
  const codes = new PointRead<QrCode>(
    async (keys) => {
      const tenants = keys.map(({ tenantId }) => tenantId)
      const rows = await database.read(tenants, (tx) =>
        tx.query(
          FIND,
          columns(
            keys,
            (k) => k.tenantId,
            (k) => k.id,
          ),
        ),
      )
      return rows.map(toQrCode)
    },
    (code) => ({ tenantId: code.merchantId, id: code.qrCodeId }),
  )
  return async (tenantId, qrCodeId) =>
    looksLikeQrCodeId(qrCodeId) ? codes.get(tenantId, qrCodeId) : undefined
}

/** Ours (decision Q1): one code with its image. */
export const getQrCode = query({
  id: 'getQrCode',
  method: 'GET',
  path: '/api/v0/qr-code/:qrCodeId',
  tag: 'QR codes',
  summary: 'Get UPI QR code',
  auth: 'merchant',
  family: 'response_code',
  params: QrCodeParams,
  result: QrCodeResponse,
  errors: ['qr_code_not_found', 'access_key_mismatch'],

  mount({ database, config }) {
    const find = qrCodeLookup(database)
    return async ({ caller, params }) => {
      const code = (await find(caller.tenantId, params.qrCodeId)) ?? fail('qr_code_not_found')
      return { body: succeed(toWireWithImage(code, config.BUSINESS_TIME_ZONE)) }
    }
  },
})
