import { randomBytes } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'

/** Writes a file that only its owner may read (mode 0600), at once: a reader sees the old one or the new one, never half. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const part = `${file}.${randomBytes(4).toString('hex')}`
  await writeFile(part, text, { mode: 0o600, flag: 'wx' })
  await rename(part, file)
}
