import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from './usage-error.ts'

/** The text of a file, or of standard input for `-` and for nothing; `what` is asked for in words. */
export async function readText(file: string | undefined, what: string): Promise<string> {
  if (file === undefined || file === '-') {
    if (process.stdin.isTTY) throw new UsageError(`Give ${what} as a file, or on standard input.`)
    return text(process.stdin)
  }
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`Cannot read ${file} (${code}). Give ${what}.`)
  }
}

export function parseJsonText(json: string, what: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new UsageError(`This is not JSON. Give ${what}.`)
  }
}
