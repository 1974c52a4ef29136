// Packs the server as an npm package that needs no checkout: `npm run pack`, or `npm run pack -- FOLDER` for the tarball to
// go elsewhere. What is bundled in dist/ is no dependency any more; what is kept apart from it is.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { KEPT_APART, ROOT, readLock } from './shipped.mjs'

/** What the program reads when it runs. */
const PARTS = [
  'bin',
  'dist',
  'migrations',
  'docs',
  'apps/console/dist',
  'apps/console/dist-portal',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
]

await import('./build.mjs')
if (process.exitCode) process.exit()
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const { name, version, description, license, type, engines, bin, optionalDependencies } = manifest
const { packages } = readLock()
/** @param {string} name */
function versionOf(name) {
  const version = packages[`node_modules/${name}`]?.version
  if (!version) throw new Error(`${name} is not in the lock file: what is packed would miss it`)
  return version
}
const dependencies = Object.fromEntries(KEPT_APART.map((each) => [each, versionOf(each)]))
const into = resolve(process.argv[2] ?? '.')
const folder = mkdtempSync(join(tmpdir(), 'svc-pack-'))
try {
  for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  const packed = {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin,
    dependencies,
    optionalDependencies,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`)
  const { status } = spawnSync('npm', ['pack', '--loglevel=error', '--pack-destination', into], {
    cwd: folder,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
