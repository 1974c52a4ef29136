import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** From <fcntl.h> on macOS and the BSDs: open() takes the same lock as flock(). */
const bsdLockOnOpen = 0x20 | 0x4

/**
 * Takes the lock under which a data directory's server is created and started; returns what gives it back.
 *
 * It is a flock() lock, which the kernel takes back when its holder dies: nothing has to decide whether an
 * owner is stale. Node has no flock(), but such a lock belongs to the open file, not to the process, so the
 * `flock` program can take it on a descriptor that it inherits, and it stays with us when the program ends.
 *
 * @param timeoutMs how long to wait for another process
 */
export async function lockFile(file: string, timeoutMs: number): Promise<() => void> {
  const fd = process.platform === 'linux' ? openForFlock(file) : await openLocked(file, timeoutMs)
  try {
    if (process.platform === 'linux') await flock(fd, file, timeoutMs)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return () => closeSync(fd)
}

// Only readable to us is enough for flock(), and lets root and the directory's owner take turns.
const openForFlock = (file: string) => openSync(file, constants.O_RDONLY | constants.O_CREAT, 0o644)

async function flock(fd: number, file: string, timeoutMs: number): Promise<void> {
  const seconds = String(Math.ceil(timeoutMs / 1000))
  const child = spawn('flock', ['-x', '-w', seconds, '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
  const [status] = (await once(child, 'exit').catch((error: Error) => {
    throw new Error(
      `Cannot lock ${file}: the program \`flock\` (package util-linux) does not run: ${error.message}`,
    )
  })) as [number | null]
  if (status !== 0) throw stillLocked(file, timeoutMs)
}

async function openLocked(file: string, timeoutMs: number): Promise<number> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return openSync(file, constants.O_RDONLY | constants.O_CREAT | bsdLockOnOpen, 0o644)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      if (performance.now() > deadline) throw stillLocked(file, timeoutMs)
      await sleep(20)
    }
  }
}

const stillLocked = (file: string, timeoutMs: number) =>
  new Error(
    `Another process has been starting the database for ${Math.round(timeoutMs / 1000)} s and holds ${file}. ` +
      'See what it waits for, or end it, then start again.',
  )
