import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const rootAbove = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))

/** The folder of package.json, in which migrations and the console's page lie too; from `src/` as from `dist/`. */
export const PACKAGE_ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)))

const manifest = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }

/** Version of the package, as its manifest has it. */
export const VERSION = manifest.version
