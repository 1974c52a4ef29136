// Packs what is published as npm packages that need no checkout: `npm run pack` the server, `npm run pack -- FOLDER` for the
// tarball to go elsewhere, `npm run pack -- FOLDER sdk` or `cli` the others. Each contains its licences and bill of materials.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { noticesOf } from './notices.mjs'
import { billOf } from './sbom.mjs'
import { KEPT_APART, neededBy, ROOT, readLock, shippedPaths } from './shipped.mjs'

/** What the server reads when it runs. */
const PARTS = [
  'bin',
  'dist',
  'migrations',
  'dist-site',
  'apps/console/dist',
  'apps/console/dist-portal',
  'CHANGELOG.md',
  'LICENSE',
]

/** @param {string} workspace */
const manifestOf = (workspace) => JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8'))

/** @param {string[]} args */
const node = (...args) =>
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })

/**
 * Copies parts of a workspace into a folder that is packed.
 * @param {string} from
 * @param {string} folder
 * @param {readonly string[]} parts
 */
function copy(from, folder, parts) {
  for (const part of parts) cpSync(join(ROOT, from, part), join(folder, part), { recursive: true })
}

/** What is bundled in dist/ is no dependency any more; what is kept apart from it is. */
function serverManifest() {
  const { name, version, description, license, type, engines, bin, optionalDependencies } = manifestOf('.')
  const { packages } = readLock()
  const dependencies = Object.fromEntries(
    KEPT_APART.map((each) => {
      const locked = packages[`node_modules/${each}`]?.version
      if (!locked) throw new Error(`${each} is not in the lock file: what is packed would miss it`)
      return [each, locked]
    }),
  )
  return { name, version, description, license, type, engines, bin, dependencies, optionalDependencies }
}

/** The packages that npm installs beside the packed server, by their paths. */
export function installedWithServer() {
  const { packages } = readLock()
  const { dependencies, optionalDependencies } = serverManifest()
  const direct = Object.keys({ ...dependencies, ...optionalDependencies }).map(
    (name) => `node_modules/${name}`,
  )
  return new Set([...direct, ...neededBy(packages, direct)])
}

/** @param {string} folder */
function server(folder) {
  node('scripts/build.mjs')
  copy('.', folder, PARTS)
  copy('packages/app', folder, ['README.md'])
  const apart = installedWithServer()
  const inPages = [...shippedPaths(readLock())].filter((path) => !apart.has(path))
  /** @type {string[]} */
  const bundled = JSON.parse(readFileSync(join(ROOT, 'dist/packages.json'), 'utf8'))
  writeFileSync(join(folder, 'THIRD-PARTY-LICENCES.txt'), noticesOf(new Set([...inPages, ...bundled])))
  writeFileSync(join(folder, 'sbom.cdx.json'), billOf('.'))
  return serverManifest()
}

/** @param {string} folder */
function sdk(folder) {
  const { scripts: _, devDependencies: __, ...manifest } = manifestOf('packages/sdk')
  copy('packages/sdk', folder, ['README.md', 'LICENSE'])
  node('scripts/build-sdk.mjs', join(folder, 'dist'))
  return manifest
}

/** @param {string} folder */
function cli(folder) {
  const { name, version, license, type } = manifestOf('packages/cli')
  const { engines } = manifestOf('.')
  copy('packages/cli', folder, ['README.md'])
  copy('.', folder, ['LICENSE'])
  node('scripts/bundle-cli.mjs', join(folder, 'dist'))
  const description =
    'The command line of svc, without a server: sign in, requests, events, encryption, conformance.'
  return { name, version, description, license, type, engines, bin: { svc: 'dist/svc.mjs' }, files: ['dist'] }
}

const PACKAGES = { server, sdk, cli }
/** @typedef {keyof typeof PACKAGES} Name */

/**
 * Writes the tarball of a package into a folder; returns its name. The same sources make the same bytes.
 * @param {Name} name
 * @param {string} into
 */
export function pack(name, into) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pack-'))
  try {
    const manifest = PACKAGES[name](folder)
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    mkdirSync(into, { recursive: true })
    const args = [
      'pack',
      '--json',
      '--ignore-scripts',
      '--loglevel=error',
      '--pack-destination',
      resolve(into),
    ]
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }))
    return String(filename)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [into = '.', name = 'server'] = process.argv.slice(2)
  if (!(name in PACKAGES)) {
    console.error(`No such package: ${name}. There are: ${Object.keys(PACKAGES).join(', ')}`)
    process.exit(2)
  }
  const file = pack(/** @type {Name} */ (name), into)
  console.log(file)
}
