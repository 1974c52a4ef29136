import { groupBy } from '@svc/kernel/group-by'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import type { BatchHead, BatchLine } from './batch.ts'
import { findDocuments, fitOf } from './documents.ts'
import { recordBatch } from './record-batch.ts'

const EVERY_MS = 60_000
const LINES_A_SWEEP = 500

type Found = Omit<BatchHead, 'netPaise'> &
  Pick<BatchLine, 'kind' | 'amountPaise'> & { readonly fileId: string; readonly reference: string }

const HEAD = `rail, batch_utr as "batchUtr", value_date::text as "valueDate", is_awaited as "isAwaited", file_id as "fileId",
     kind, reference, amount_paise as "amountPaise"`
const PAYMENTS_FOUND = statement<Found & { line: number }>(
  'directory_settlement_lines_found',
  `select ${HEAD}, line from directory_settlement_lines_found($1)`,
)
const UNMATCHED = statement<Found & { place: string; date: string | null; note: string | null }>(
  'directory_unmatched_lines',
  `select ${HEAD}, place, occurred_on::text as date, note from directory_unmatched_lines($1, $2)`,
)

/**
 * Records lines of transfers again whose payment, refund, dispute or message was not known when they came and has arrived
 * since, as importing their file again would. Returns how many.
 */
export async function matchLateLines(services: CoreServices): Promise<number> {
  const found = await services.database.directory(PAYMENTS_FOUND, [LINES_A_SWEEP])
  const others = await documentsFound(services)
  const record = services.commands.open(recordBatch)
  let recorded = 0
  for (const lines of groupBy(
    [...found, ...others],
    ({ rail, batchUtr, fileId }) => `${rail} ${batchUtr} ${fileId}`,
  ).values()) {
    const { rail, batchUtr, valueDate, isAwaited, fileId } = lines[0]!
    const done = await record.run({
      rail,
      batchUtr,
      valueDate,
      isDayStated: false,
      isAwaited,
      netPaise: undefined,
      fileId,
      lines,
      isLast: false,
      isLate: true,
    })
    recorded += done.others.changed.length
    for (const { inserted, changed } of done.payments) recorded += inserted.length + changed.length
  }
  return recorded
}

/** Lines of other kinds that fit a document by now. */
async function documentsFound({
  database,
}: CoreServices): Promise<(Found & BatchLine & { reference: string })[]> {
  const found: (Found & BatchLine & { reference: string })[] = []
  let after = ''
  for (;;) {
    const page = await database.directory(UNMATCHED, [after, LINES_A_SWEEP])
    for (const [rail, lines] of groupBy(page, ({ rail }) => rail)) {
      const documents = await findDocuments(database, rail, lines)
      for (const { date, note, place: _, ...line } of lines)
        if (fitOf(line, documents.get(line.reference)))
          found.push({ ...line, line: 0, date: date ?? undefined, note: note ?? undefined })
    }
    if (page.length < LINES_A_SWEEP) return found
    after = page.at(-1)!.place
  }
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
