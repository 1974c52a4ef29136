// Licences of packages that are in a file of ours, for THIRD-PARTY-LICENCES.txt beside it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './shipped.mjs'

/**
 * The licence of a package, with its name and version.
 * @param {string} path
 */
function licenceOf(path) {
  const folder = join(ROOT, path)
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`
  return `${name} ${version} (${license})\n\n${text}\n`
}

/**
 * The licences of the packages at these paths; those of other platforms are not installed, and in no file of ours.
 * @param {Iterable<string>} paths
 */
export const noticesOf = (paths) =>
  [...paths]
    .filter((path) => existsSync(join(ROOT, path)))
    .sort()
    .map(licenceOf)
    .join(`\n${'-'.repeat(72)}\n\n`)
