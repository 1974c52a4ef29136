import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { TURN_LOCK } from '@svc/platform/db/turn'
import { saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import { type Journal, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { StoredPaise, storedArgs } from '../../ledger/stored-args.ts'
import { ACCRUED } from './fee-accrual.ts'
import { financialYear } from './gst.ts'
import { findTaxDocument, numberOf, TURN } from './issue-invoices.ts'
import {
  issuedEvent,
  PARTS,
  type Part,
  signedDocument,
  type TaxDocument,
  taxDocuments,
  totalOf,
} from './tax-document.ts'

/** The series of credit notes. */
const SERIES = 'C'

export interface IssueCreditNote {
  /** Of the invoice. */
  readonly number: string
  /** How much of its fees is given back, without tax. */
  readonly feePaise: Paise
  readonly reason: string
}

interface Prepared extends IssueCreditNote, PreparedCommand {
  readonly invoice: TaxDocument
  readonly documentId: string
  readonly eventId: string
  readonly transferIds: readonly string[]
  readonly keyring: Keyring
  readonly timeZone: string
}

interface Noted extends TaxDocument {
  readonly reason: string | null
}

interface State {
  /** Of the invoice, credit and debit notes; the latter have no reason. */
  readonly notes: readonly Noted[]
  /** The last number of the series by financial year. */
  readonly last: ReadonlyMap<string, bigint>
}

export interface IssuedCreditNote {
  readonly document: TaxDocument
  /** Absent where it was issued before. */
  readonly journal: Journal | undefined
  readonly financialYear: string
  readonly last: bigint
  readonly command: Prepared
}

const NOTES = statement<Noted>(
  'credit_notes_of_invoice',
  `select ${taxDocuments.columns}, (
     select max(j.reason) from ledger_transfers t join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
     where t.tenant_id = d.merchant_id and t.object_id = d.document_id and t.kind = 'credit_note') as reason
   from tax_documents d where d.merchant_id = $1 and d.original_number = $2 order by d.number`,
)
const LAST = statement<{ financialYear: string; last: bigint }>(
  'tax_note_series',
  `select financial_year as "financialYear", last_number as last from tax_series where series = $1`,
)
const TAKE = statement(
  'tax_note_series_take',
  `insert into tax_series (series, financial_year, last_number) values ($1, $2, $3)
   on conflict (series, financial_year) do update set last_number = excluded.last_number`,
)

/** The last number of a series by financial year; to be read in the turn of those who issue documents. */
export async function lastNumbers(tx: BatchTx, series: string): Promise<ReadonlyMap<string, bigint>> {
  const found = await tx.query(LAST, [series])
  return new Map(found.map((row) => [row.financialYear, row.last]))
}

export const takeNumber = (tx: Writes, series: string, year: string, last: bigint): void =>
  tx.write(TAKE, [series, year, last])

/**
 * Gives fees of an invoice back with their GST, by a credit note (decision R24): both are payable to the merchant, whose
 * next payout has them. The same fee for the same reason is issued once.
 */
export const issueCreditNote = moneyCommand({
  name: 'issueCreditNote',
  batchMax: 1,

  approval: {
    kinds: ['credit_note'],
    args: storedArgs(Type.Object({ number: Type.String(), feePaise: StoredPaise, reason: Type.String() })),
    moves: ({ document, journal, command: { feePaise, number, reason } }: IssuedCreditNote) =>
      journal && {
        kind: 'credit_note',
        amountPaise: totalOf(document),
        reference: journal.reference!,
        facts: { number, fee: formatRupees(feePaise), total: formatRupees(totalOf(document)) },
        reason,
        journalId: journal.journalId,
      },
    failures: ['tax_document_not_found', 'credit_note_over_invoice'],
  },

  prepare:
    ({ config, database, keyring, newId }) =>
    async (args: IssueCreditNote): Promise<Prepared> => {
      const invoice = await database.operate((tx) => findTaxDocument(tx, args.number))
      if (invoice?.kind !== 'INVOICE') return fail('tax_document_not_found')
      return {
        ...args,
        tenantId: invoice.merchantId,
        invoice,
        documentId: newId('txd'),
        eventId: newId('evt'),
        transferIds: PARTS.map(() => newId('trf')),
        keyring,
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx: BatchTx, [command]: readonly Prepared[]): Promise<ByTenant<State>> {
    const { invoice, tenantId } = command!
    const kinds = ['payable', ...ACCRUED.map(([kind]) => kind)] as const
    const [, , notes, last] = await Promise.all([
      // Others wait: numbers have no gaps, and no two give back the same fees.
      tx.query(TURN_LOCK, [TURN]),
      lockAccounts(
        tx,
        kinds.map((kind) => account(kind, tenantId)),
      ),
      tx.query(NOTES, [tenantId, invoice.number]),
      lastNumbers(tx, SERIES),
    ])
    return new ByTenant((): State => ({ notes, last }))
  },

  decide,

  save(tx, [decided]) {
    const { command, document, financialYear: year, journal, last } = decided!
    if (!journal) return
    takeNumber(tx, SERIES, year, last)
    taxDocuments.insert(tx, [document])
    saveJournals(tx, command.timeZone, [journal])
    saveEvents(tx, [issuedEvent(document, command.eventId)])
  },
})

/** What of each part is left of an invoice; what debit notes took back is there again. */
const leftOf = ({ invoice }: Prepared, notes: readonly TaxDocument[], part: Part): bigint =>
  notes.reduce<bigint>(
    (left, note) => (note.kind === 'CREDIT_NOTE' ? left - note[part] : left + note[part]),
    invoice[part],
  )

/** The share of a part of the invoice that belongs to so much of its fee; of the rest of the fee, all that is left. */
function shareOf(command: Prepared, notes: readonly TaxDocument[], part: Part): Paise {
  const { feePaise, invoice } = command
  const left = leftOf(command, notes, part)
  if (feePaise === leftOf(command, notes, 'taxablePaise')) return paise(left)
  const share = (2n * invoice[part] * feePaise + invoice.taxablePaise) / (2n * invoice.taxablePaise)
  return paise(share < left ? share : left)
}

function decide({ notes, last }: State, command: Prepared, now: Date): IssuedCreditNote {
  const { documentId, feePaise, invoice, keyring, reason } = command
  const issueDate = calendarDay(now, command.timeZone)
  const year = financialYear(issueDate)
  const next = (last.get(year) ?? 0n) + 1n
  const of = { financialYear: year, last: next, command }
  const takenBack = new Set(notes.map(({ creditNoteNumber }) => creditNoteNumber))
  const same = notes.find(
    ({ number, ...note }) =>
      note.taxablePaise === feePaise && note.reason === reason && !takenBack.has(number),
  )
  if (same) return { ...of, document: same, journal: undefined }
  const left = leftOf(command, notes, 'taxablePaise')
  if (feePaise > left)
    fail('credit_note_over_invoice', {
      description: `${formatRupees(left)} of the fees of ${invoice.number} is left`,
    })
  const [taxablePaise, cgstPaise, sgstPaise, igstPaise] = PARTS.map((part) =>
    shareOf(command, notes, part),
  ) as [Paise, Paise, Paise, Paise]
  const { signed: _, ...rest } = invoice
  const stated = {
    ...rest,
    documentId,
    number: numberOf(SERIES, year, next),
    kind: 'CREDIT_NOTE' as const,
    issueDate,
    paymentCount: 0,
    taxablePaise,
    cgstPaise,
    sgstPaise,
    igstPaise,
    originalNumber: invoice.number,
    createdAt: now,
  }
  const document: TaxDocument = { ...stated, signed: signedDocument(stated, keyring) }
  return { ...of, document, journal: journalOf(document, command, notes.length + 1) }
}

/** Effective on the day of the note; its reference is the invoice with the number of its notes. */
function journalOf(document: TaxDocument, { reason, transferIds }: Prepared, place: number): Journal {
  const { createdAt, documentId, issueDate, merchantId, originalNumber } = document
  const legs = ACCRUED.flatMap(([kind], i) => {
    const amountPaise = document[PARTS[i]!]
    return amountPaise === 0n ? [] : [{ kind, amountPaise, transferId: transferIds[i]! }]
  })
  return {
    tenantId: merchantId,
    journalId: `jrn_${transferIds[0]!.slice(4)}`,
    kind: 'credit_note',
    effectiveDate: issueDate,
    reference: `${originalNumber}/${place}`,
    reverses: null,
    reason,
    at: createdAt,
    transfers: legs.map(({ kind, amountPaise, transferId }) => ({
      transferId,
      tenantId: merchantId,
      kind: 'credit_note' as const,
      debitAccountId: accountId(kind, merchantId),
      creditAccountId: accountId('payable', merchantId),
      amountPaise,
      objectId: documentId,
      createdAt,
    })),
  }
}
