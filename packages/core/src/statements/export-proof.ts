import { type CsvValue, csvLine } from '@svc/kernel/csv'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { listBankAccounts } from './bank-account.ts'
import type { SignedProof } from './proof.ts'
import { bankEntriesOf, linesOf } from './proof-entries.ts'
import { verifyProgram } from './verify-proof.ts'

/** A file of an exported proof, line by line. */
export interface ProofFile {
  readonly name: string
  readonly lines: () => AsyncIterable<string>
}

async function* csv(
  names: readonly string[],
  rows: AsyncIterable<readonly CsvValue[]>,
): AsyncGenerator<string> {
  yield csvLine(names)
  for await (const row of rows) yield csvLine(row)
}

/** What a proof is made of, in files that another program reads; in the transaction of the proof. */
export const proofFiles = (tx: Tx, proof: SignedProof): readonly ProofFile[] => {
  const purposes = proof.accounts.map(({ purpose }) => purpose)
  const lines = async function* () {
    for (const purpose of purposes)
      for await (const line of linesOf(tx, purpose, proof.date)) {
        const { lineId, date, amountPaise, reference, status, documentId } = line
        yield [lineId, purpose, date, formatRupees(amountPaise), reference, status, documentId]
      }
  }
  const entries = async function* () {
    for (const purpose of purposes)
      for await (const entry of bankEntriesOf(tx, purpose, proof.date)) {
        const { journalId, tenantId, kind, effectiveDate, amountPaise, reference, documentId } = entry
        yield [
          journalId,
          tenantId,
          purpose,
          kind,
          effectiveDate,
          formatRupees(amountPaise),
          reference,
          documentId,
        ]
      }
  }
  return [
    {
      name: 'statement-lines.csv',
      lines: () => csv(['lineId', 'purpose', 'date', 'amount', 'reference', 'status', 'documentId'], lines()),
    },
    {
      name: 'bank-entries.csv',
      lines: () =>
        csv(
          ['journalId', 'tenantId', 'purpose', 'kind', 'effectiveDate', 'amount', 'reference', 'documentId'],
          entries(),
        ),
    },
    {
      name: 'differences.csv',
      lines: () =>
        csv(
          ['purpose', 'kind', 'documentId', 'reference', 'date', 'amount', 'ageDays', 'owner'],
          differences(proof),
        ),
    },
    {
      name: 'trial-balance.csv',
      lines: () => csv(['kind', 'unit', 'debit', 'credit'], trialBalance(proof)),
    },
  ]
}

async function* differences(proof: SignedProof): AsyncGenerator<CsvValue[]> {
  for (const { purpose, differences } of proof.accounts)
    for (const { kind, items } of differences)
      for (const { documentId, reference, date, amount, ageDays, owner } of items)
        yield [purpose, kind, documentId, reference, date, amount, ageDays, owner]
}

async function* trialBalance({ trialBalance }: SignedProof): AsyncGenerator<CsvValue[]> {
  for (const { kind, unit, debit, credit } of trialBalance) yield [kind, unit, debit, credit]
}

/** The program that verifies the files, by their hashes. */
export async function proofProgram(
  tx: Tx,
  proof: SignedProof,
  hashes: Readonly<Record<string, string>>,
): Promise<string> {
  const accounts = (await listBankAccounts(tx)).filter(({ openedOn }) => openedOn <= proof.date)
  const opened = proof.accounts.map(({ purpose }) => {
    const its = accounts.filter((account) => account.purpose === purpose)
    const [from] = its.map(({ openedOn }) => openedOn).sort()
    const opening = its.reduce((sum, { openingPaise }) => sum + openingPaise, 0n)
    return [purpose, { from: from!, opening: formatRupees(opening) }] as const
  })
  return verifyProgram(proof, { hashes, opened: Object.fromEntries(opened) })
}
