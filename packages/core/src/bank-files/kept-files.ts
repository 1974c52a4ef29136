import type { Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  bytes,
  instant,
  integer,
  nullable,
  paise,
  type RowOf,
  secret,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import { inspectFile } from './file-source.ts'

export const BANK_FILE_KINDS = ['settlement', 'statement', 'payouts', 'refunds'] as const
export type BankFileKind = (typeof BANK_FILE_KINDS)[number]

/** Files of banks as they were recorded. */
export const bankFiles = table('bank_files', 'f', ['tenantId', 'bankFileId'], {
  tenantId: text,
  bankFileId: text,
  kind: textOf<BankFileKind>(),
  /** As the person had it. */
  name: text,
  sha256: text,
  content: secret(bytes),
  lines: integer,
  /** Lines that fitted nothing, or something else, when it was recorded. */
  unfitting: integer,
  /** The net of transfers, or how a statement closes; none of responses. */
  amountPaise: nullable(paise),
  recordedBy: text,
  recordedAt: instant,
})
export type KeptFile = RowOf<typeof bankFiles>

const KEPT = statement(
  'bank_file_kept',
  `select pg_advisory_xact_lock(hashtextextended('bank_file ' || $1::text, 0))`,
)
const FOUND = statement<Pick<KeptFile, 'name'> & { content: Buffer }>(
  'bank_file_found',
  `select f.name, f.content from bank_files f where f.tenant_id = '${PLATFORM_TENANT}' and f.bank_file_id = $1`,
)

export interface RecordedFile {
  readonly kind: BankFileKind
  readonly name: string
  readonly content: Buffer
  readonly lines: number
  readonly unfitting: number
  readonly amountPaise: Paise | null
  readonly by: string
  readonly at: Date
}

/** Keeps a file with what became of it. The same file again changes nothing. */
export async function keepFile(tx: Tx, { by, at, content, ...file }: RecordedFile): Promise<void> {
  const source = {
    name: file.name,
    async *bytes() {
      yield content
    },
  }
  const { hash: sha256 } = await inspectFile(source)
  const bankFileId = `bkf_${sha256.slice(0, 26)}`
  await tx.query(KEPT, [bankFileId])
  if ((await tx.query(FOUND, [bankFileId])).length > 0) return
  bankFiles.insert(tx, [
    { ...file, tenantId: PLATFORM_TENANT, bankFileId, sha256, content, recordedBy: by, recordedAt: at },
  ])
}

export const findFile = async (tx: Tx, bankFileId: string) => (await tx.query(FOUND, [bankFileId]))[0]
