import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './sources.ts'

const run = promisify(execFile)

/** Builds and packs the SDK into a folder, away from `packages/sdk/dist`, which other tests may build. Returns the tarball. */
export async function packSdk(folder: string): Promise<string> {
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/pack.mjs'), folder, 'sdk'])
  return join(folder, stdout.trim())
}
