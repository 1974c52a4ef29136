import { recordAudit } from '@svc/platform/audit'
import type { Commands, CommandTools } from '@svc/platform/command'
import type { FileFormat } from '../../bank-files/file-format.ts'
import type { FileSource } from '../../bank-files/file-source.ts'
import type { ReadingDays } from '../../bank-files/line-reader.ts'
import { type ReadFile, readBankFile } from '../../bank-files/read-bank-file.ts'
import { SettlementReader, type SettlementRow } from '../../bank-files/settlement-rows.ts'
import { SettlementSummary } from '../../bank-files/settlement-summary.ts'
import type { BatchCounts, SettlementBatch, SettlementRail } from './batch.ts'
import {
  countBatch,
  type FileOfTransfers,
  type ImportedSettlement,
  importSettlement,
} from './import-settlement.ts'
import { previewBatch, type RecordedBatch, recordBatch } from './record-batch.ts'

/** A settlement file that was read once, whole. */
export interface SettlementFile {
  readonly transfers: FileOfTransfers
  readonly read: ReadFile<SettlementRow>
}

export interface ReadSettlement {
  readonly format: FileFormat
  readonly rail: SettlementRail
  readonly days: ReadingDays
}

/** Reads a file of transfers. Throws `FileRejected` for what is none. */
export async function readSettlementFile(
  source: FileSource,
  { format, rail, days }: ReadSettlement,
): Promise<SettlementFile> {
  const reader = new SettlementReader(format, rail)
  const summary = new SettlementSummary()
  const read = await readBankFile(source, {
    format,
    days,
    reference: 'reference',
    read: reader.read.bind(reader),
    seen: summary.add.bind(summary),
  })
  const fileId = `stf_${read.hash.slice(0, 26)}`
  return { read, transfers: { rail, fileId, summary } }
}

type PreviewTools = Pick<CommandTools, 'clock' | 'config' | 'database' | 'newId'>

/** What importing a file would do, without doing it. */
export async function previewSettlementFile(
  tools: PreviewTools,
  { transfers, read }: SettlementFile,
): Promise<ImportedSettlement> {
  const done = await importSettlement(previewBatch(tools), transfers, read.rows())
  const batches = done.batches.map((batch) => [batch, done.done.get(batch.batchId)!] as const)
  return { fileId: transfers.fileId, done, batches, read }
}

interface ImportTools extends Pick<CommandTools, 'database'> {
  readonly commands: Commands
}

interface By {
  readonly actor: string
  readonly requestId?: string
}

/** Imports the readable lines of a file, in the name of an operator. */
export async function importSettlementFile(
  { commands, database }: ImportTools,
  { transfers, read }: SettlementFile,
  by: By,
): Promise<ImportedSettlement> {
  const { fileId } = transfers
  const entry = { action: 'settlement.imported', target: fileId }
  await database.operate(async (tx) => recordAudit(tx, [{ ...by, ...entry }]))
  const audit = {
    ...by,
    action: 'settlement_batch.recorded',
    target: ({ batch }: RecordedBatch) => batch.batchId,
  }
  const { run } = commands.open(recordBatch)
  const done = await importSettlement((batch) => run(batch, audit), transfers, read.rows())
  const batches: [SettlementBatch, BatchCounts][] = []
  for (const batch of done.batches) batches.push([batch, await countBatch(database, batch.batchId)])
  return { fileId, done, batches, read }
}
