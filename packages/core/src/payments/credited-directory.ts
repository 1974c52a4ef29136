import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { codeDirectory } from '../qr-codes/code-directory.ts'
import { Homes } from '../tenants/homes.ts'
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
): (credit: Pick<Credit, 'tr' | 'payeeVpa'>) => Promise<Credited> {
  const codeOf = codeDirectory(database)
  const homes = new Homes(database)
  const payees = new BatchedLookup<PayeeRow>(
    (keys) => database.directory(PAYEES, [keys.map(({ id }) => id)]),
    ({ vpa }) => ({ tenantId: '', id: vpa }),
  )
  return async ({ tr, payeeVpa }) => {
    const code = tr === '' ? undefined : await codeOf(tr)
    if (code) return { tenantId: code.merchantId, qrCodeId: code.qrCodeId }
    const payee = payeeVpa === null ? undefined : await payees.get('', payeeVpa.toLowerCase())
    // What names a merchant that moved away is no credit of the platform.
    if (tr !== '') await homes.requireNotMoved('tr', tr)
    if (payeeVpa !== null && !payee) await homes.requireNotMoved('vpa', payeeVpa.toLowerCase())
    return { tenantId: payee?.merchant_id ?? PLATFORM_TENANT, qrCodeId: null }
  }
}
