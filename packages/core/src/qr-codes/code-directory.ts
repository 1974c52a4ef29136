import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
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

/** Finds the code that a transaction reference names, and its merchant: neither ever changes, so both are kept. */
export function codeDirectory(database: Database): (tr: string) => Promise<CodeOfReference | undefined> {
  const lookup = new BatchedLookup<CodeOfReference>(
    (keys) => database.directory(CODES, [keys.map(({ id }) => id)]),
    ({ tr }) => ({ tenantId: '', id: tr }),
  )
  const known = new LRUCache<string, CodeOfReference>({ max: CODES_CACHED })
  return async (tr) => {
    const code = known.get(tr) ?? (await lookup.get('', tr))
    if (code) known.set(tr, code)
    return code
  }
}
