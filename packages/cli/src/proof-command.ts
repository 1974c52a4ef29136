import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { businessToday } from '@svc/core/statements/change-line'
import { type ProofFile, proofFiles, proofProgram } from '@svc/core/statements/export-proof'
import { isWhole, proveFunds, type SignedProof, signProof } from '@svc/core/statements/proof'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printJson, printRows } from './print.ts'
import { readDay } from './read-day.ts'

interface ProofOptions {
  readonly date: string
  readonly export?: string
  readonly json?: boolean
}

export function addProofCommand(books: Command): void {
  books
    .command('proof')
    .description(
      'prove that our money at banks is what the books say, and covers what is owed; exit code 1 if not',
    )
    .requiredOption('--date <day>', 'at the end of which day, YYYY-MM-DD', readDay)
    .option('--export <folder>', 'write the proof, all it is made of and a program that verifies it')
    .option('--json', 'print JSON, with the signature')
    .addHelpText(
      'after',
      `
A proof is provisional while a statement of the day is missing, or the day is not over.

Example:
  svc admin books proof --date 2026-04-01 --export proof-2026-04-01`,
    )
    .action(prove)
}

async function prove({ date, export: folder, json = false }: ProofOptions): Promise<void> {
  const proof = await withInstallation(({ config, database, keyMaker: { keyring } }) => {
    const today = businessToday(Date.now(), config.BUSINESS_TIME_ZONE)
    const work = async (tx: Tx) => {
      const made = signProof(keyring, await proveFunds(tx, date, today))
      if (folder !== undefined) await exportTo(folder, tx, made)
      return made
    }
    return database.report(work, 'repeatable read', 'long')
  })
  if (json) printJson(proof)
  else printProof(proof)
  if (!isWhole(proof)) process.exitCode = 1
}

/** What was proven, as the files say it; `verify.mjs` last, since it has the hashes of the others. */
async function exportTo(folder: string, tx: Tx, proof: SignedProof): Promise<void> {
  await mkdir(folder, { recursive: true })
  const hashes: Record<string, string> = {}
  for (const file of proofFiles(tx, proof)) hashes[file.name] = await written(folder, file)
  await writeFile(join(folder, 'proof.json'), `${JSON.stringify(proof, null, 2)}\n`)
  await writeFile(join(folder, 'verify.mjs'), await proofProgram(tx, proof, hashes))
}

/** The SHA-256 of what was written. */
async function written(folder: string, { name, lines }: ProofFile): Promise<string> {
  const hash = createHash('sha256')
  const hashed = async function* () {
    for await (const line of lines()) {
      hash.update(line)
      yield line
    }
  }
  await pipeline(hashed(), createWriteStream(join(folder, name)))
  return hash.digest('hex')
}

function printProof({ accounts, coverage, date, provisional }: SignedProof): void {
  process.stdout.write(`Proof of funds at the end of ${date}${provisional ? ', provisional' : ''}\n\n`)
  printRows(
    accounts.flatMap(({ purpose, statementBalance, booksBalance, differences, unexplained }) => [
      { purpose, what: 'books', count: '', amount: booksBalance },
      ...differences.map(({ kind, count, amount }) => ({ purpose, what: kind, count, amount })),
      { purpose, what: 'unexplained', count: '', amount: unexplained },
      { purpose, what: 'statement', count: '', amount: statementBalance },
    ]),
    false,
  )
  process.stdout.write('\n')
  printRows(
    coverage.map(({ purpose, bank, required, surplus }) => ({ purpose, bank, required, surplus })),
    false,
  )
}
