import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const rootAbove = (folder: string): string =>
  existsSync(join(folder, 'migrations')) ? folder : rootAbove(dirname(folder))

/** The folder of the program's package.json, with the migrations and the console's page; from sources as from `dist/`. */
export const PACKAGE_ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)))

const manifest = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }

/** Version of the package, as its manifest has it. */
export const VERSION = manifest.version
