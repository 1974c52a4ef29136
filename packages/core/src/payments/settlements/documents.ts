import { groupBy } from '@svc/kernel/group-by'
import type { Paise } from '@svc/kernel/money'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { BatchLine, SettlementRail } from './batch.ts'

/** What a line may be of: a refund, a returned credit, a dispute, a correction, a message of a card. */
export interface SettledDocument {
  readonly reference: string
  readonly kind: BatchLine['kind']
  readonly tenantId: string
  readonly documentId: string
  readonly amountPaise: Paise
}

const DOCUMENTS = statement<SettledDocument>(
  'directory_settled_documents',
  `select reference, kind, tenant_id as "tenantId", document_id as "documentId", amount_paise as "amountPaise"
   from directory_settled_documents($1, $2, $3)`,
)

const OWN_ID = /^(RFD|CMG)([0-9A-Z]{26})$/

/** A reference as one of our own ids, which banks write without separators and in any case. */
const asOwnId = (reference: string): string => {
  const [, prefix, rest] = OWN_ID.exec(reference) ?? []
  return prefix === undefined ? reference : `${prefix}_${rest}`.toLowerCase()
}

/** What the lines may be of, by reference: documents whose money the bank has moved, and that no line has settled. */
export async function findDocuments(
  database: Database,
  rail: SettlementRail,
  lines: readonly Pick<BatchLine, 'reference'>[],
): Promise<Map<string, readonly SettledDocument[]>> {
  const references = [...new Set(lines.flatMap(({ reference }) => reference ?? []))]
  if (references.length === 0) return new Map()
  const found = await database.directory(DOCUMENTS, [rail, references, references.map(asOwnId)])
  return groupBy(found, ({ reference }) => reference)
}

/** The one document that a line can be of; `undefined` where there is none, or several. */
export function fitOf(
  { kind, amountPaise }: Pick<BatchLine, 'kind' | 'amountPaise'>,
  documents: readonly SettledDocument[] = [],
  isSettled: (document: SettledDocument) => boolean = () => false,
): SettledDocument | undefined {
  const fitting = documents.filter(
    (each) => each.kind === kind && each.amountPaise === amountPaise && !isSettled(each),
  )
  const ids = new Set(fitting.map(({ documentId }) => documentId))
  return ids.size === 1 ? fitting[0] : undefined
}
