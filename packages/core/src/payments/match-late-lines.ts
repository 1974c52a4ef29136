import { groupBy } from '@svc/kernel/group-by'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { recordSettlement } from './record-settlement.ts'
import type { SettlementLine } from './settlement-line.ts'

const EVERY_MS = 60_000
const LINES_A_SWEEP = 500

type Found = Pick<SettlementLine, 'tenantId' | 'fileId' | 'utr' | 'line' | 'amountPaise' | 'settledOn'>

const FOUND = statement<Found>(
  'directory_settlement_found',
  `select tenant_id as "tenantId", file_id as "fileId", utr, line, amount_paise as "amountPaise",
     settled_on::text as "settledOn"
   from directory_settlement_found($1)`,
)

/**
 * Records lines of settlement files again whose payment was not known when they were imported and has arrived since, as
 * importing their file again would. Returns how many.
 */
export async function matchLateLines({ commands, database }: CoreServices): Promise<number> {
  const found = await database.directory(FOUND, [LINES_A_SWEEP])
  const record = commands.open(recordSettlement)
  const recorded = await Promise.all(
    [...groupBy(found, ({ tenantId }) => tenantId)].flatMap(([tenantId, ofTenant]) =>
      [...groupBy(ofTenant, ({ fileId }) => fileId)].map(([fileId, lines]) =>
        record.run({ tenantId, fileId, lines }),
      ),
    ),
  )
  return recorded.reduce((sum, { corrected, lines }) => sum + corrected.length + lines.length, 0)
}

export const matchLateLinesLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'match_late_lines',
      everyMs: EVERY_MS,
      work: async () => (await matchLateLines(services)) >= LINES_A_SWEEP,
      atStart: true,
    },
    services,
  )
