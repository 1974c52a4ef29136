import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import type { Home } from '@svc/platform/db/home'
import { statement } from '@svc/platform/db/statement'
import { LRUCache } from 'lru-cache'

interface CodeOfReference {
  readonly tr: string
  readonly merchantId: string
  readonly qrCodeId: string
}

const CODES = statement<CodeOfReference>(
  'directory_qr_codes',
  'select tr, merchant_id as "merchantId", qr_code_id as "qrCodeId" from directory_qr_codes($1)',
)

const CODES_CACHED = 50_000

/**
 * Finds the code that a transaction reference names, and its merchant: neither ever changes, so both are kept. Not in a cell,
 * whose merchants may live elsewhere by now (decision X40).
 */
export function codeDirectory(
  database: Database,
  place: { readonly home: Home },
): (tr: string) => Promise<CodeOfReference | undefined> {
  const lookup = new BatchedLookup<CodeOfReference>(
    (keys) => database.directory(CODES, [keys.map(({ id }) => id)]),
    ({ tr }) => ({ tenantId: '', id: tr }),
  )
  const known = new LRUCache<string, CodeOfReference>({ max: CODES_CACHED })
  const find = (tr: string) => lookup.get('', tr)
  return async (tr) => {
    if (place.home.cell !== undefined) return find(tr)
    const code = known.get(tr) ?? (await find(tr))
    if (code) known.set(tr, code)
    return code
  }
}
