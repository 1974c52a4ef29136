import { createReadStream, existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { fail } from '@svc/contract/errors'
import { type FieldsOf, type FileFormat, readFormat } from '@svc/core/bank-files/file-format'
import { ColumnMissing, FileRejected, type FileSource } from '@svc/core/bank-files/file-source'
import type { ReadingDays } from '@svc/core/bank-files/line-reader'
import { problemText, type ReadFile } from '@svc/core/bank-files/read-bank-file'
import { readingDays as readingDaysOf } from '@svc/core/bank-files/reading-days'
import { systemClock } from '@svc/kernel/time'
import type { Command } from 'commander'
import type { CommandContext } from './context.ts'
import { parseJsonText, readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

const SHOWN_MAX = 20

export interface BankFileOptions {
  readonly format?: string
  readonly dryRun?: boolean
  readonly onlyReadable?: boolean
  readonly json?: boolean
}

/** The options of every import of a file. */
export const withFileOptions = (command: Command, formats: string): Command =>
  command
    .option('--format <format>', `how the file is written: ${formats}`)
    .option('--dry-run', 'print what would be done; record nothing')
    .option(
      '--only-readable',
      'record the lines that can be read, also where others cannot; without it, nothing is recorded then',
    )
    .option('--json', 'print JSON')

/**
 * A file by its path; `-` is standard input. It is of any size, and what was read of it is collected before the heap has
 * four times what lives in it, as V8 would have it.
 */
export async function fileSource(path: string): Promise<FileSource> {
  setFlagsFromString('--heap-growing-percent=150')
  if (path !== '-') {
    if (!existsSync(path)) throw new UsageError(`There is no file ${path}`)
    return { name: path, bytes: () => createReadStream(path) }
  }
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part as Buffer)
  const name = 'standard input'
  return {
    name,
    async *bytes() {
      yield Buffer.concat(parts)
    },
  }
}

/** A format that is shipped, or the path of one. */
export async function chooseFormat(
  given: string | undefined,
  shipped: Readonly<Record<string, FileFormat>>,
  fields: FieldsOf,
): Promise<FileFormat | undefined> {
  if (given === undefined) return undefined
  if (Object.hasOwn(shipped, given)) return shipped[given]
  if (!given.endsWith('.json')) {
    const names = [...Object.keys(shipped), 'the path of a JSON file']
    throw new UsageError(`There is no format ${given}. Give ${names.join(', ')}.`)
  }
  const json = parseJsonText(await readText(given, 'the format of the file'), 'a format as JSON')
  return rejecting(async () => readFormat(json, fields))
}

/** Days of files, by the clock of this machine. */
export const readingDays = (context: CommandContext): Promise<ReadingDays> =>
  readingDaysOf(context, systemClock)

/** A file that is refused has the code that the console gives it. */
export async function rejecting<T>(work: () => Promise<T>, nameColumns = 'Give --format.'): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FileRejected)
      fail('validation_failed', {
        description: `Nothing was imported. ${error.message}.${error instanceof ColumnMissing ? ` ${nameColumns}` : ''}`,
      })
    throw error
  }
}

/** Lists what cannot be read; throws where that stops the import. */
export function reportProblems(
  file: string,
  { problems, unreadable }: Pick<ReadFile<unknown>, 'problems' | 'unreadable'>,
  { dryRun = false, onlyReadable = false }: BankFileOptions,
): void {
  if (unreadable === 0) return
  const shown = problems.slice(0, SHOWN_MAX).map(problemText)
  const more = problems.length > SHOWN_MAX ? [`and more: ${unreadable} lines cannot be read`] : []
  const list = [...shown, ...more].join('\n')
  if (!dryRun && !onlyReadable)
    fail('validation_failed', {
      description: `Nothing was imported. ${file} has lines that cannot be read:\n${list}\nImport the others with --only-readable.`,
    })
  process.stderr.write(`${list}\n`)
  process.exitCode = 1
}
