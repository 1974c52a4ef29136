import { newId } from '@svc/contract/id-kinds'
import type { CoreServices } from '@svc/platform/services'
import { furthestAhead } from '../../ledger/transfers-since.ts'
import { accrueThrough } from './accrue-fees.ts'
import { lastDayOf } from './gst.ts'
import { issueInvoices } from './issue-invoices.ts'
import type { TaxDocument } from './tax-document.ts'

interface Issuing {
  /** `YYYY-MM`. */
  readonly month: string
  readonly merchantId?: string | undefined
  readonly by: { readonly actor: string; readonly requestId?: string }
}

type Tools = Parameters<typeof accrueThrough>[0] & Pick<CoreServices, 'keyring' | 'random'>

/** Enters the fees of a month, and issues its invoices, in the name of an operator; returns those that are new. */
export async function issueMonth(tools: Tools, { month, merchantId, by }: Issuing): Promise<TaxDocument[]> {
  await accrueThrough(tools, lastDayOf(month))
  const { config, database, keyring, random } = tools
  return database.operate(
    async (tx) =>
      issueInvoices(tx, {
        config,
        keyring,
        newId: (prefix) => newId(prefix, Date.now(), random),
        month,
        merchantId,
        now: new Date(Date.now() + (await furthestAhead(tx))),
      }),
    'read committed',
    by,
    'long',
  )
}
