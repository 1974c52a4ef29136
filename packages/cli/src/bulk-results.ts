import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { progress as progressBar } from '@clack/prompts'
import { csvLine } from '@svc/kernel/csv'
import type { BulkClient, BulkResult } from './bulk-client.ts'

const POLL_MS = 300

/** What came of a row, and the line of the file that it ends on. */
export type LineResult = BulkResult & { readonly line: number }

export const resultsFile = (csvFile: string): string => `${csvFile}.results.csv`

/** Waits for a job; returns what came of its rows. */
export async function resultsOf(
  client: BulkClient,
  jobId: string,
  onDone: (done: number) => void,
): Promise<BulkResult[]> {
  for (;;) {
    const { status, done } = await client.progress(jobId)
    onDone(done)
    if (status === 'DONE') return client.results(jobId)
    await sleep(POLL_MS)
  }
}

/** A bar on a terminal; elsewhere a plain line whenever another tenth is done. */
export function shower(doing: string, rows: string, total: number): (done: number, end?: boolean) => void {
  let shown = 0
  if (!process.stderr.isTTY)
    return (done) => {
      if (Math.floor((done * 10) / total) <= Math.floor((shown * 10) / total)) return
      shown = done
      process.stderr.write(`${done} of ${total} ${rows} done\n`)
    }
  const bar = progressBar({ max: total, output: process.stderr })
  bar.start(doing)
  return (done, end = false) => {
    bar.advance(done - shown, `${done} of ${total} ${rows} done`)
    shown = done
    if (end) bar.stop(`${total} ${rows} done`)
  }
}

type Column = 'svcCardId' | 'loadId'

/** One line for each of the file, with what came of it. */
export async function writeResults(
  file: string,
  results: readonly LineResult[],
  columns: readonly Column[] = ['svcCardId'],
): Promise<void> {
  const header = csvLine(['line', 'status', ...columns, 'error', 'errorDescription'])
  const lines = results.map(({ line, status, error, errorDescription, ...result }) =>
    csvLine([line, status, ...columns.map((column) => result[column]), error, errorDescription]),
  )
  await writeFile(resultsFile(file), [header, ...lines].join(''))
}
