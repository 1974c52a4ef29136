import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import type { Home } from '@svc/platform/db/home'
import { statement } from '@svc/platform/db/statement'
import { codeDirectory } from '../qr-codes/code-directory.ts'
import { Homes, type Origin } from '../tenants/homes.ts'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import type { Credit } from './credit-notice.ts'

interface PayeeRow {
  readonly vpa: string
  readonly merchant_id: string
}

/** Whose a credit is: a merchant's, by its code or by its address, or the platform's, which keeps what fits neither. */
interface Credited {
  readonly tenantId: string
  /** `null`: it fits no code. */
  readonly qrCodeId: string | null
}

const PAYEES = statement<PayeeRow>('directory_payees', 'select * from directory_payees($1)')

/** Finds whose a credit is. */
export function creditedDirectory(
  database: Database,
  place: { readonly home: Home },
): (credit: Pick<Credit, 'tr' | 'payeeVpa'>, from: Origin) => Promise<Credited> {
  const codeOf = codeDirectory(database, place)
  const homes = new Homes(database)
  const payees = new BatchedLookup<PayeeRow>(
    (keys) => database.directory(PAYEES, [keys.map(({ id }) => id)]),
    ({ vpa }) => ({ tenantId: '', id: vpa }),
  )
  return async ({ tr, payeeVpa }, from) => {
    const code = tr === '' ? undefined : await codeOf(tr)
    if (code) return { tenantId: code.merchantId, qrCodeId: code.qrCodeId }
    const payee = payeeVpa === null ? undefined : await payees.get('', payeeVpa.toLowerCase())
    // What names a merchant that moved away is no credit of the platform.
    if (tr !== '') await homes.requireNotMoved('tr', tr, payee ? {} : from)
    if (payeeVpa !== null && !payee) await homes.requireNotMoved('vpa', payeeVpa.toLowerCase(), from)
    return { tenantId: payee?.merchant_id ?? PLATFORM_TENANT, qrCodeId: null }
  }
}
