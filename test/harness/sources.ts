import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Of the program `svc`; the SDK, the page and the lab are others. */
export const PROGRAM_PACKAGES = readdirSync(join(ROOT, 'packages')).filter((name) => name !== 'sdk')

/** The sources of these packages: path from the root of the repository, and text. */
export const sourcesOf = (packages: readonly string[]): { file: string; text: string }[] =>
  packages.flatMap((name) =>
    readdirSync(join(ROOT, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `packages/${name}/src/${file}`)
      .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') })),
  )
