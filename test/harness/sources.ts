import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Of the program `svc`; the SDK, the page and the lab are others. */
export const PROGRAM_PACKAGES = readdirSync(join(ROOT, 'packages')).filter((name) => name !== 'sdk')

interface Source {
  /** Its path from the root of the repository. */
  readonly file: string
  readonly text: string
}

const sourcesIn = (folder: string): Source[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `${folder}/${file}`)
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))

/** The sources of these packages. */
export const sourcesOf = (packages: readonly string[]): Source[] =>
  packages.flatMap((name) => sourcesIn(`packages/${name}/src`))

/** The sources of console and portal. */
export const pageSources = (): Source[] => sourcesIn('apps/console/src')
