import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** What `postmaster.pid` says: the server of a cluster, alive or not. */
export interface Postmaster {
  pid: number
  port: number
  socketDir: string
}

/** Above every system's largest process id: a process that certainly does not live. */
const nobodysPid = 2_147_483_647

/** Reads `postmaster.pid`; undefined when there is none, or it is not yet complete. */
export function readPostmaster(cluster: string): Postmaster | undefined {
  const [pid, , , port, socketDir] = (read(path.join(cluster, 'postmaster.pid')) ?? '').split('\n')
  if (!pid || !port || !socketDir) return undefined
  return { pid: Math.abs(Number(pid)), port: Number(port), socketDir: socketDir.split(',')[0] ?? socketDir }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Whether a process lives. One that has ended and waits for its parent to notice does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  if (process.platform !== 'linux') return true
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat[stat.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}

/** Whether process `pid` is the server of this cluster, and not one that got the same id later. */
export function serves(pid: number, cluster: string): boolean {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') return commandOf(pid).includes(cluster)
  try {
    const [cwd, dir] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)]
    return cwd.ino === dir.ino && cwd.dev === dir.dev
  } catch {
    // Root in a container may not look at another user's working directory.
    return (read(`/proc/${pid}/cmdline`) ?? '').split('\0').includes(cluster)
  }
}

function commandOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}

/** Waits until a process has ended; false when it lives on after `timeoutMs`. */
export async function hasEnded(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false
    await sleep(10)
  }
  return true
}

/**
 * Clears the lock files of a server that died: PostgreSQL refuses to start while they name a living process,
 * and by now that may be another process's (after a reboot it often is). Only the process id is overwritten:
 * the rest of `postmaster.pid` lets PostgreSQL find, by their shared memory, sessions that outlive the server.
 * Call under the data directory's lock. Returns whether the last server was not stopped cleanly.
 */
export function clearStaleLocks(cluster: string, socketDir: string): boolean {
  const pidFile = path.join(cluster, 'postmaster.pid')
  const unclean = read(pidFile) !== undefined
  for (const file of [pidFile, path.join(socketDir, '.s.PGSQL.5432.lock')]) {
    const content = read(file)
    if (content === undefined) continue
    if (content.trim() === '') {
      rmSync(file, { force: true })
      continue
    }
    const pid = Math.abs(Number.parseInt(content, 10))
    if (!isAlive(pid) || serves(pid, cluster)) continue
    const fd = openSync(file, 'r+')
    try {
      // In place and in one write, never shorter than before: an interruption cannot leave an empty file.
      writeSync(fd, content.replace(/^-?\d+/, String(nobodysPid)), 0)
    } finally {
      closeSync(fd)
    }
  }
  return unclean
}
