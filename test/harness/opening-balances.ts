import { writeFile } from 'node:fs/promises'
import { calendarDay } from '@svc/kernel/time'
import { sqlOn } from './approvals.ts'
import type { Json } from './client.ts'
import type { TestService } from './service.ts'

const DAY_MS = 86_400_000
export const daysAgo = (days: number) => calendarDay(new Date(Date.now() - days * DAY_MS), 'Asia/Kolkata')

export type Line = readonly [tenantId: string, account: string, amount: string, day?: string]

/** Writes a file to import, of today unless a line says otherwise; returns its name. */
export async function writeLines(file: string, lines: readonly Line[]): Promise<string> {
  const rows = lines.map(([tenantId, account, amount, day = daysAgo(0)]) =>
    [tenantId, account, amount, day].join(','),
  )
  await writeFile(file, ['tenantId,account,amount,effectiveDate', ...rows, ''].join('\n'))
  return file
}

/** The journals of the tenant's opening balances, oldest first. */
export const openingsOf = (on: TestService, tenantId: string) =>
  sqlOn<Json>(
    on,
    `select j.journal_id as "journalId", j.kind, j.reference, j.reason, j.effective_date::text as day
     from journals j where j.tenant_id = $1 and j.kind = 'opening_balance' order by j.at`,
    [tenantId],
  )
