import { randomBytes } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file that only its owner may read (mode 0600), at once: a reader sees the old one or the new one, never half. Makes its directory. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const part = `${file}.${randomBytes(4).toString('hex')}`
  await writeFile(part, text, { mode: 0o600, flag: 'wx' })
  await rename(part, file)
}
