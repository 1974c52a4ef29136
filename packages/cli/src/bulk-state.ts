import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { writeWhole } from '@svc/platform/write-whole'
import { UsageError } from './usage-error.ts'

/** Rows that are sent together: the line of the CSV, and the JWE or load of each. */
export interface Chunk {
  jobId?: string
  readonly rows: readonly (readonly [line: number, text: string])[]
}

/**
 * What a second run needs to go on where the first stopped: the JWEs. A JWE counts once, so whatever became of the
 * first run, sending the same JWEs again issues nothing twice. They hold nothing in the open.
 */
export interface IssueState {
  readonly version: 1
  readonly partnerId: string
  /** SHA-256 of the CSV that was encrypted. */
  readonly fileHash: string
  readonly chunks: Chunk[]
}

const CHUNK_ROWS_MAX = 5_000
const CHUNK_BYTES_MAX = 15 * 1024 * 1024

export const stateFile = (csvFile: string): string => `${csvFile}.issue.json`
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export const linesOf = ({ rows }: Chunk): string => rows.map(([, text]) => `${text}\n`).join('')

/** Rows that are sent together. */
export function toChunks(rows: readonly (readonly [number, string])[]): Chunk[] {
  const chunks: (readonly [number, string])[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of rows) {
    const size = Buffer.byteLength(row[1]) + 1
    if (bytes + size > CHUNK_BYTES_MAX || chunks.at(-1)!.length === CHUNK_ROWS_MAX) {
      chunks.push([])
      bytes = 0
    }
    chunks.at(-1)!.push(row)
    bytes += size
  }
  return chunks.map((rows) => ({ rows }))
}

export const writeState = (csvFile: string, state: IssueState): Promise<void> =>
  writeWhole(stateFile(csvFile), JSON.stringify(state))

/** The state of a previous run of the same file for the same partner; refuses to go on when either has changed. */
export async function readState(
  csvFile: string,
  partnerId: string,
  fileHash: string,
): Promise<IssueState | undefined> {
  let text: string
  try {
    text = await readFile(stateFile(csvFile), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const state = JSON.parse(text) as IssueState
  if (state.fileHash === fileHash && state.partnerId === partnerId) return state
  const what = state.partnerId === partnerId ? 'The file has changed' : 'The partner is another one'
  throw new UsageError(
    `${what} since ${csvFile} was issued, wholly or in part. Put new and corrected orders in a file of their own.\nTo issue every row of this file once more, also those that have a card, delete ${stateFile(csvFile)}.`,
  )
}
