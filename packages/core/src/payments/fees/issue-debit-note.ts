import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees, paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { TURN_LOCK } from '@svc/platform/db/turn'
import { saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import { type Journal, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { storedArgs } from '../../ledger/stored-args.ts'
import { ACCRUED } from './fee-accrual.ts'
import { financialYear } from './gst.ts'
import { lastNumbers, takeNumber } from './issue-credit-note.ts'
import { findTaxDocument, numberOf, TURN } from './issue-invoices.ts'
import {
  issuedEvent,
  PARTS,
  signedDocument,
  type TaxDocument,
  taxDocuments,
  totalOf,
} from './tax-document.ts'

/** The series of debit notes. */
const SERIES = 'D'

export interface IssueDebitNote {
  /** Of the credit note. */
  readonly number: string
  readonly reason: string
}

interface Prepared extends IssueDebitNote, PreparedCommand {
  readonly note: TaxDocument
  readonly documentId: string
  readonly eventId: string
  /** Each part is payable, an advance, or some of both. */
  readonly transferIds: readonly string[]
  readonly keyring: Keyring
  readonly timeZone: string
}

interface State {
  readonly before: TaxDocument | undefined
  readonly last: ReadonlyMap<string, bigint>
  readonly balances: ReadonlyMap<string, bigint>
}

export interface IssuedDebitNote {
  readonly document: TaxDocument
  /** Absent where it was issued before. */
  readonly journal: Journal | undefined
  readonly opens: readonly Account[]
  readonly financialYear: string
  readonly last: bigint
  readonly command: Prepared
}

const BEFORE = statement<TaxDocument>(
  'debit_note_of_credit_note',
  `select ${taxDocuments.columns} from tax_documents d
   where d.merchant_id = $1 and d.original_number = $2 and d.credit_note_number = $3`,
)

/**
 * Takes a credit note back that was issued by mistake, whole and once, by a debit note (CGST section 34(3), decision R27):
 * fee and tax are owed to us again. What the merchant was paid already is an advance, which its next payout deducts.
 */
export const issueDebitNote = moneyCommand({
  name: 'issueDebitNote',
  batchMax: 1,

  approval: {
    kinds: ['debit_note'],
    args: storedArgs(Type.Object({ number: Type.String(), reason: Type.String() })),
    moves: ({ document, journal, command: { number, reason } }: IssuedDebitNote) =>
      journal && {
        kind: 'debit_note',
        amountPaise: totalOf(document),
        reference: number,
        facts: { number, fee: formatRupees(document.taxablePaise), total: formatRupees(totalOf(document)) },
        reason,
        journalId: journal.journalId,
      },
    failures: ['tax_document_not_found'],
  },

  prepare:
    ({ config, database, keyring, newId }) =>
    async (args: IssueDebitNote): Promise<Prepared> => {
      const note = await database.operate((tx) => findTaxDocument(tx, args.number))
      if (note?.kind !== 'CREDIT_NOTE') return fail('tax_document_not_found')
      return {
        ...args,
        tenantId: note.merchantId,
        note,
        documentId: newId('txd'),
        eventId: newId('evt'),
        transferIds: [...PARTS, ...PARTS].map(() => newId('trf')),
        keyring,
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx: BatchTx, [command]: readonly Prepared[]): Promise<ByTenant<State>> {
    const { note, tenantId } = command!
    const kinds = ['payable', 'merchant_advances', ...ACCRUED.map(([kind]) => kind)] as const
    const [, accounts, [before], last] = await Promise.all([
      // Others wait: numbers have no gaps.
      tx.query(TURN_LOCK, [TURN]),
      lockAccounts(
        tx,
        kinds.map((kind) => account(kind, tenantId)),
      ),
      tx.query(BEFORE, [tenantId, note.originalNumber, note.number]),
      lastNumbers(tx, SERIES),
    ])
    return new ByTenant((): State => ({ before, last, balances: accounts.of(tenantId) }))
  },

  decide,

  save(tx, [decided]) {
    const { command, document, financialYear: year, journal, last, opens } = decided!
    if (!journal) return
    takeNumber(tx, SERIES, year, last)
    taxDocuments.insert(tx, [document])
    saveJournals(tx, command.timeZone, [journal], opens)
    saveEvents(tx, [issuedEvent(document, command.eventId)])
  },
})

function decide({ balances, before, last }: State, command: Prepared, now: Date): IssuedDebitNote {
  const { documentId, keyring, note } = command
  const issueDate = calendarDay(now, command.timeZone)
  const year = financialYear(issueDate)
  const next = (last.get(year) ?? 0n) + 1n
  const of = { financialYear: year, last: next, command }
  if (before) return { ...of, document: before, journal: undefined, opens: [] }
  const { signed: _, ...rest } = note
  const stated = {
    ...rest,
    documentId,
    number: numberOf(SERIES, year, next),
    kind: 'DEBIT_NOTE' as const,
    issueDate,
    creditNoteNumber: note.number,
    createdAt: now,
  }
  const document: TaxDocument = { ...stated, signed: signedDocument(stated, keyring) }
  const advances = account('merchant_advances', note.merchantId)
  const journal = journalOf(document, command, balances.get(accountId('payable', note.merchantId)) ?? 0n)
  const isAdvanced = journal.transfers.some(({ debitAccountId }) => debitAccountId === advances.accountId)
  return {
    ...of,
    document,
    journal,
    opens: isAdvanced && !balances.has(advances.accountId) ? [advances] : [],
  }
}

/** Effective on the day of the note; its reference is the credit note, which is taken back once. */
function journalOf(document: TaxDocument, { reason, transferIds }: Prepared, payable: bigint): Journal {
  const { createdAt, creditNoteNumber, documentId, issueDate, merchantId } = document
  let left = payable
  const legs = ACCRUED.flatMap(([kind], i) => {
    const amount = document[PARTS[i]!]
    const fromPayable = amount < left ? amount : left
    left -= fromPayable
    return [
      ['payable', kind, fromPayable],
      ['merchant_advances', kind, amount - fromPayable],
    ] as const
  }).filter(([, , amount]) => amount > 0n)
  return {
    tenantId: merchantId,
    journalId: `jrn_${transferIds[0]!.slice(4)}`,
    kind: 'debit_note',
    effectiveDate: issueDate,
    reference: creditNoteNumber,
    reverses: null,
    reason,
    at: createdAt,
    transfers: legs.map(([debit, credit, amount], i) => ({
      transferId: transferIds[i]!,
      tenantId: merchantId,
      kind: 'debit_note' as const,
      debitAccountId: accountId(debit, merchantId),
      creditAccountId: accountId(credit, merchantId),
      amountPaise: paise(amount),
      objectId: documentId,
      createdAt,
    })),
  }
}
