import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { canonicalWord, type FileFormat } from '@svc/core/bank-files/file-format'
import { problemsToWire, readBankFile } from '@svc/core/bank-files/read-bank-file'
import {
  type BankOutcome,
  type BankResponse,
  type OutcomeWords,
  RESPONSE_FIELDS,
  responseReader,
} from '@svc/core/bank-files/response-rows'
import type { Paise } from '@svc/kernel/money'
import { formatRupees } from '@svc/kernel/money'
import {
  type BankFileOptions,
  chooseFormat,
  fileSource,
  readingDays,
  rejecting,
  reportProblems,
} from './bank-file-input.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRows } from './print.ts'
import { UsageError } from './usage-error.ts'

const RESPONSES_MAX = 100_000

/** Where the responses of a bank have their fields, as options say. */
export interface ResponseColumns {
  readonly id: string
  readonly status: string
  readonly utr: string
  readonly reason: string
  readonly amount: string
}

/** The words of each outcome, by the name of the option that has them, separated by commas. */
export type OutcomeOptions = Readonly<Record<string, readonly [outcome: BankOutcome, words: string]>>

/** Throws `UsageError` where a word would mean two things, or none is given: an outcome that is empty means nothing. */
export function readWords(options: OutcomeOptions): OutcomeWords {
  const names = Object.keys(options).map((name) => `--${name}`)
  const words = new Map<string, readonly [name: string, outcome: BankOutcome]>()
  for (const [name, [outcome, list]] of Object.entries(options))
    for (const word of list.split(',')) {
      const plain = canonicalWord(word)
      const other = words.get(plain)
      if (plain === '') throw new UsageError(`${inWords(names)} must name words`)
      if (other !== undefined && other[1] !== outcome)
        throw new UsageError(`${word} cannot mean both: it is in --${other[0]} and --${name}`)
      words.set(plain, [name, outcome])
    }
  return new Map([...words].map(([word, [, outcome]]) => [word, outcome]))
}

export const inWords = (names: readonly string[], last = 'and'): string =>
  `${names.slice(0, -1).join(', ')} ${last} ${names.at(-1)}`

export interface ResponseImport {
  /** What the file is of, as its rows name it: `payoutId`. */
  readonly idName: string
  readonly columns: ResponseColumns
  /** What to do where a column is missing. */
  readonly nameColumns: string
  readonly words: OutcomeOptions
  /** Records one response, and says what became of it. */
  readonly record: (context: CommandContext, response: BankResponse, by: Importing) => Promise<string>
  /** What recording it would do. */
  readonly preview: (context: CommandContext, response: BankResponse) => Promise<string>
  /** Results after which nothing is left to do. */
  readonly isDone: (result: string) => boolean
}

/** Who records what of which file: its SHA-256, in hexadecimal. */
export interface Importing {
  readonly actor: string
  readonly file: string
}

/** Reads a file of responses whole, then records them one by one. */
export async function importResponses(
  file: string,
  options: BankFileOptions,
  of: ResponseImport,
): Promise<void> {
  const words = readWords(of.words)
  const format = await formatOf(options, of.columns)
  const source = await fileSource(file)
  const digest = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  const { rows, problems } = await withInstallation(async (context) => {
    const actor = options.dryRun ? undefined : await moneyActor(context)
    const days = await readingDays(context)
    const reading = { format, days, reference: 'utr', read: responseReader(words, format) }
    const read = await rejecting(() => readBankFile(source, reading), of.nameColumns)
    reportProblems(file, read, options)
    if (read.lines > RESPONSES_MAX)
      throw new UsageError(`${file} has more than ${RESPONSES_MAX} lines: split it.`)
    const results = []
    for await (const response of read.rows()) {
      const result =
        actor === undefined
          ? await of.preview(context, response)
          : await of.record(context, response, { actor, file: digest })
      results.push({ line: response.line, [of.idName]: response.id, result })
    }
    return { rows: results, problems: read.problems }
  })
  const unread = problemsToWire(problems).map(({ line, column, reason }) => ({
    line,
    [of.idName]: '',
    result: `cannot be read: ${column} ${reason}`,
  }))
  printRows([...rows, ...unread], options.json ?? false)
  if (rows.some(({ result }) => !of.isDone(result))) process.exitCode = 1
}

async function formatOf(options: BankFileOptions, columns: ResponseColumns): Promise<FileFormat> {
  const named = await chooseFormat(options.format, {}, RESPONSE_FIELDS)
  return named ?? { columns: { ...columns }, optional: ['utr', 'reason', 'amount'] }
}

/** Nothing is recorded of a word that is none of the format's. */
export const notNamed = ({ word }: BankResponse, options: OutcomeOptions): string =>
  `nothing recorded: ${JSON.stringify(word)} is not in ${inWords(
    Object.keys(options).map((name) => `--${name}`),
    'or',
  )}`

/** A response that states another amount than what was sent is of something else. */
export const otherAmount = (
  { amountPaise: stated }: BankResponse,
  amountPaise: Paise | bigint,
): string | undefined =>
  stated === undefined || stated === amountPaise
    ? undefined
    : `nothing recorded: the bank states ${formatRupees(stated)}, and it is ${formatRupees(amountPaise)}`
