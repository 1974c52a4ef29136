import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file that only its owner may read (mode 0600), at once: a reader sees the old one or the new one, never half,
 * also after a crash. Makes its directory.
 */
export const writeWhole = (file: string, text: string): Promise<void> =>
  writeBy((part) => rename(part, file), file, text)

/** The same for a file that must not be replaced: if there is one already, also one made at this instant, it stays. */
export const createWhole = (file: string, text: string): Promise<void> =>
  writeBy(
    async (part) => {
      await link(part, file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      await rm(part)
    },
    file,
    text,
  )

async function writeBy(publish: (part: string) => Promise<void>, file: string, text: string): Promise<void> {
  const folder = dirname(file)
  await mkdir(folder, { recursive: true })
  const part = `${file}.${randomBytes(4).toString('hex')}`
  try {
    await writeFile(part, text, { mode: 0o600, flag: 'wx', flush: true })
    await publish(part)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/** The name of a file is on the disk only when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows has no way to do this.
  if (process.platform === 'win32') return
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
