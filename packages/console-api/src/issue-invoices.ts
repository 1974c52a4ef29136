import { idMaker } from '@svc/contract/id-kinds'
import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { issueInvoices, supplierOf } from '@svc/core/payments/fees/issue-invoices'
import { calendarDay } from '@svc/kernel/time'
import { databaseTime } from '@svc/platform/db/database-time'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'

const EVERY_MS = 600_000

/** The month before that of a day, `YYYY-MM`. */
export const monthBefore = (day: string): string => {
  const [year, month] = day.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, month - 2, 1)).toISOString().slice(0, 7)
}

/** Issues the invoices of the last month that are missing, of each merchant by its clock; returns how many. */
export async function issueDueInvoices(services: CoreServices): Promise<number> {
  const { config, clock, database, keyring, random } = services
  if (!database.hasOperators || !supplierOf(config)) return 0
  await accrueDueFees(services)
  let issued = 0
  for (const { clock: own, tenantIds } of clock.timelines()) {
    const now = await databaseTime(database, own)
    const month = monthBefore(calendarDay(now, config.BUSINESS_TIME_ZONE))
    for (const merchantId of tenantIds ?? [undefined]) {
      const issuing = { config, keyring, newId: idMaker(clock, random), month, merchantId, now }
      const documents = await database.operate((tx) => issueInvoices(tx, issuing), 'read committed', {
        actor: 'service',
      })
      issued += documents.length
    }
  }
  return issued
}

/** Invoices of a month are issued once it is over (decision R24). */
export const issueInvoicesLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'issue_invoices',
      everyMs: EVERY_MS,
      work: async () => {
        await issueDueInvoices(services)
      },
    },
    services,
  )
