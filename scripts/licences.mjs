// Whether every package of the lock file has a licence that the project may use. `npm run check -- licences`.
import { isInstalled, readLock, shippedPaths } from './shipped.mjs'

/** Of what is shipped: permissive licences. */
const SHIPPED = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'Python-2.0',
  'MIT OR Apache-2.0',
  'MIT OR CC0-1.0',
  'MIT AND ISC AND BSD-3-Clause',
  // A font, whose licence allows to embed it in documents of any kind.
  'MIT AND OFL-1.1',
])
/** Of what builds and tests it, and is in no file of the program. */
const DEVELOPMENT = new Set([...SHIPPED, 'MPL-2.0', 'LGPL-3.0-only'])
/** Packages whose manifest names no licence, and where it is written. */
const WRITTEN_ELSEWHERE = new Map([
  ['reserved@0.1.2', 'MIT, in its LICENSE-MIT'],
  ['png-js@2.0.0', 'MIT, in its LICENSE'],
])

const lock = readLock()
const shipped = shippedPaths(lock)
const installed = Object.entries(lock.packages).filter(([path, { link }]) => isInstalled(path) && !link)
const refused = installed.flatMap(([path, { version, license }]) => {
  const name = `${path.split('node_modules/').at(-1)}@${version}`
  const isShipped = shipped.has(path)
  if (license === undefined) return WRITTEN_ELSEWHERE.has(name) ? [] : [`${name} names no licence`]
  return (isShipped ? SHIPPED : DEVELOPMENT).has(license.replace(/^\((.*)\)$/, '$1'))
    ? []
    : [`${name} has ${license}, which ${isShipped ? 'no shipped package' : 'no package'} may have`]
})
if (refused.length > 0) {
  console.error(
    `${refused.join('\n')}\nUse another package, or add the licence to scripts/licences.mjs and say why.`,
  )
  process.exit(1)
}
console.log(
  `${installed.length} packages, ${shipped.size} of them shipped, all under licences that are allowed`,
)
