import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { eventually } from './eventually.ts'
import { killChildren } from './processes.ts'

/** A directory for one test, which every user may enter. */
export function newScratch(): string {
  const scratch = realpathSync(mkdtempSync(path.join(tmpdir(), 'embedded-')))
  chmodSync(scratch, 0o755)
  return scratch
}

/** Ends the processes of the test and the servers under the directory, then removes it. */
export async function removeScratch(scratch: string): Promise<void> {
  await killChildren()
  for (const file of readdirSync(scratch, { recursive: true, encoding: 'utf8' })) {
    if (path.basename(file) !== 'postmaster.pid') continue
    const pid = Number.parseInt(readFileSync(path.join(scratch, file), 'utf8'), 10)
    if (servesUnder(scratch, pid)) process.kill(pid, 'SIGKILL')
    await eventually(() => !servesUnder(scratch, pid))
  }
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10 })
}

/** A test may have put any process's id in the file: only a server of this test may be ended. */
function servesUnder(scratch: string, pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(scratch)
  } catch {
    return false
  }
}
