import { Failure } from '@svc/contract/errors'
import { inWindows } from '@svc/kernel/in-windows'
import { andList } from '@svc/kernel/lists'
import type { Database } from '@svc/platform/db/database'
import { canonicalWord, type FileFormat } from '../../bank-files/file-format.ts'
import { FileRejected, type FileSource } from '../../bank-files/file-source.ts'
import type { ReadingDays } from '../../bank-files/line-reader.ts'
import { type ReadFile, readBankFile } from '../../bank-files/read-bank-file.ts'
import { type BankOutcome, type BankResponse, responseReader } from '../../bank-files/response-rows.ts'
import type { By } from '../payouts/take-step.ts'
import { type AnyBankRunSteps, type AnyBankRuns, type BankRunTools, type Became, WINDOW } from './bank-run.ts'
import { left } from './results.ts'

const RESPONSES_MAX = 100_000

/** The words of each outcome, by its name, separated by commas. */
export type OutcomeWords = Readonly<Record<string, string>>

/** The words that banks usually have. */
export const usualWords = ({ outcomes }: AnyBankRuns): OutcomeWords =>
  Object.fromEntries(Object.entries(outcomes).map(([name, [, words]]) => [name, words]))

/** Where the responses of a bank have their fields. */
export interface ResponseColumns {
  readonly id: string
  readonly status: string
  readonly utr: string
  readonly reason: string
  readonly amount: string
}

/** A format of the columns alone; what is optional may be missing. */
export const formatOf = (columns: ResponseColumns): FileFormat => ({
  columns: { ...columns },
  optional: ['utr', 'reason', 'amount'],
})

/** In any case. Throws `FileRejected` where a word would mean two things, or none is given. */
function meaningsOf({ outcomes }: AnyBankRuns, words: OutcomeWords): ReadonlyMap<string, BankOutcome> {
  const meanings = new Map<string, readonly [name: string, outcome: BankOutcome]>()
  for (const [name, [outcome]] of Object.entries(outcomes))
    for (const word of (words[name] ?? '').split(',')) {
      const plain = canonicalWord(word)
      const other = meanings.get(plain)
      if (plain === '') throw new FileRejected(`${andList(Object.keys(outcomes))} must name words`)
      if (other !== undefined && other[1] !== outcome)
        throw new FileRejected(`${word} cannot mean both ${other[0]} and ${name}`)
      meanings.set(plain, [name, outcome])
    }
  return new Map([...meanings].map(([word, [, outcome]]) => [word, outcome]))
}

export interface ResponseReading {
  readonly words: OutcomeWords
  readonly format: FileFormat
  readonly days: ReadingDays
}

/** Reads a file of responses whole. Throws `FileRejected`. */
export async function readResponses(
  of: AnyBankRuns,
  source: FileSource,
  { words, format, days }: ResponseReading,
): Promise<ReadFile<BankResponse>> {
  const reading = { format, days, reference: 'utr', read: responseReader(of.name, meaningsOf(of, words)) }
  const read = await readBankFile(source, reading)
  if (read.lines > RESPONSES_MAX)
    throw new FileRejected(`${source.name} has more than ${RESPONSES_MAX} lines: split it`)
  return read
}

export interface ResponseResult extends Became {
  readonly line: number
  readonly id: string
}

/** Those of one payout or refund in the order of the file. */
const WINDOWS = { size: WINDOW, keyOf: ({ id }: BankResponse) => id }

/** What recording the readable responses would do. */
export const previewed = (
  of: AnyBankRuns,
  database: Database,
  { rows }: Pick<ReadFile<BankResponse>, 'rows'>,
): AsyncGenerator<ResponseResult> =>
  inWindows(rows(), WINDOWS, async (response) => resultOf(response, await of.preview(database, response)))

/** Records the readable responses. */
export const recorded = (
  { record }: Pick<AnyBankRunSteps, 'record'>,
  services: Pick<BankRunTools, 'commands' | 'database'>,
  { hash: file, rows }: Pick<ReadFile<BankResponse>, 'hash' | 'rows'>,
  by: By,
): AsyncGenerator<ResponseResult> =>
  inWindows(rows(), WINDOWS, async (response) =>
    resultOf(response, await record(services, response, { ...by, file }).catch(refusal)),
  )

const resultOf = ({ line, id }: BankResponse, became: Became): ResponseResult => ({ line, id, ...became })

/** One that is refused stands in the list; the others are recorded. */
function refusal(error: unknown): Became {
  if (error instanceof Failure) return left(error.message)
  throw error
}
