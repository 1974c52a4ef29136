import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { invariant } from '@svc/kernel/invariant'

interface Manifest {
  readonly name: string
  readonly version: string
}

/** What is shipped with this code in it. */
const PROGRAMS = new Set(['@svc/partner-service', '@svc/cli'])

const readManifest = (folder: string): Manifest | undefined => {
  const file = join(folder, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined
}

/** The nearest package that is a program: above it may be any project, also one with folders like ours. */
function programAbove(folder: string): { readonly folder: string; readonly version: string } {
  const manifest = readManifest(folder)
  if (manifest && PROGRAMS.has(manifest.name)) return { folder, version: manifest.version }
  invariant(dirname(folder) !== folder, 'no package.json of the program is above its code')
  return programAbove(dirname(folder))
}

const program = programAbove(dirname(fileURLToPath(import.meta.url)))

/** The folder of the program's package.json, with the migrations and the console's page; from sources as from `dist/`. */
export const PACKAGE_ROOT = program.folder

/** Version of the program, as its manifest has it: the one place where it is set. */
export const VERSION = program.version
