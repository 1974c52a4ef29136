// Writes everything that a publisher needs into release/, or the folder given, and publishes nothing: `npm run release`.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { installedWithServer, pack } from './pack.mjs'
import { ROOT, readLock } from './shipped.mjs'

const into = resolve(process.argv[2] ?? join(ROOT, 'release'))
const { version, name: server } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/**
 * @param {string} file
 * @param {'sha256' | 'sha512'} algorithm
 */
const digest = (file, algorithm) => createHash(algorithm).update(readFileSync(file)).digest()

/** The changelog's section of this version; until it has one, what is not released. */
function changes() {
  const sections = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m)
  const named = sections.find(
    (each) => each.startsWith(`## ${version}`) || each.startsWith(`## [${version}]`),
  )
  const section = named ?? sections.find((each) => each.startsWith('## Unreleased'))
  if (!section) throw new Error(`CHANGELOG.md has no section of ${version}`)
  return section.replace('## Unreleased', `## ${version}`)
}

/**
 * The lock file of an image: the tarball, and beside it the very versions that are tested here.
 * @param {string} tarball
 */
function imageLock(tarball) {
  const { packages, ...lock } = readLock()
  const dependencies = { [server]: `file:${tarball}` }
  const integrity = `sha512-${digest(join(into, tarball), 'sha512').toString('base64')}`
  const manifest = JSON.parse(
    execFileSync('tar', ['-xOzf', join(into, tarball), 'package/package.json'], { encoding: 'utf8' }),
  )
  const own = { ...manifest, name: undefined, type: undefined, description: undefined }
  const installed = [...installedWithServer()].sort().map((path) => {
    const { dev: _, devOptional: __, ...entry } = /** @type {Record<string, unknown>} */ (packages[path])
    return [path, entry]
  })
  const root = { name: 'svc-image', dependencies }
  const image = {
    ...lock,
    ...root,
    version: undefined,
    packages: {
      '': root,
      [`node_modules/${server}`]: { ...own, resolved: `file:${tarball}`, integrity },
      ...Object.fromEntries(installed),
    },
  }
  return { manifest: { private: true, ...root }, lock: image }
}

/**
 * What `docker build` needs, in a folder.
 * @param {string} name
 * @param {string} tarball
 */
function buildContext(name, tarball) {
  const folder = join(into, `image-${name}`)
  mkdirSync(folder)
  cpSync(join(ROOT, 'deploy', `Containerfile.${name}`), join(folder, 'Containerfile'))
  cpSync(join(into, tarball), join(folder, tarball))
  const { manifest, lock } = imageLock(tarball)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
}

/** @param {string[]} args */
function git(...args) {
  try {
    return execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

/** @param {readonly string[]} tarballs */
function provenance(tarballs) {
  const commit = git('rev-parse', 'HEAD')
  const state =
    git('status', '--porcelain') === '' ? 'clean' : 'with changes that are not committed: do not publish it'
  const npm = execFileSync('npm', ['--version'], { encoding: 'utf8' }).trim()
  const base = /^FROM (\S+)/m.exec(readFileSync(join(ROOT, 'deploy/Containerfile.live'), 'utf8'))?.[1]
  return `Provenance of svc ${version}

Commit       ${commit ?? 'unknown: built outside of Git'}
Date         ${commit ? git('show', '-s', '--format=%cI', commit) : 'unknown'}
Work tree    ${commit ? state : 'unknown'}
Lock file    sha256 ${digest(join(ROOT, 'package-lock.json'), 'sha256').toString('hex')}
Built with   Node ${process.version}, npm ${npm}, by npm ci && npm run release
Base image   ${base}; its digest is in the registry: pin it when you build

The same commit, Node and npm make the same tarballs, byte for byte. To verify a release, build it and compare:

${tarballs.map((file) => `sha256 ${digest(join(into, file), 'sha256').toString('hex')}  ${file}`).join('\n')}

Each tarball contains its bill of materials (sbom.cdx.json, CycloneDX) and the licences of what is bundled in it
(THIRD-PARTY-LICENCES.txt). SHA256SUMS has all files of this folder: sha256sum --check SHA256SUMS
`
}

/** @param {string} folder @returns {string[]} */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()

rmSync(into, { recursive: true, force: true })
mkdirSync(into, { recursive: true })
const [tarball, ...others] = [pack('server', into), pack('sdk', into), pack('cli', into)]
for (const image of ['live', 'sandbox']) buildContext(image, tarball)
const docs = ['scripts/site/main.ts', '--base', `/v${version}`, '--into', join(into, 'docs')]
execFileSync(process.execPath, ['node_modules/tsx/dist/cli.mjs', ...docs], { cwd: ROOT, stdio: 'inherit' })
// The clients that are copied into a project, with what a client of another language is held to.
cpSync(join(ROOT, 'clients'), join(into, 'clients'), {
  recursive: true,
  filter: (path) => !path.includes('__pycache__'),
})
writeFileSync(join(into, 'CHANGES.md'), changes())
writeFileSync(join(into, 'PROVENANCE.txt'), provenance([tarball, ...others]))
const sums = filesIn(into).map((file) => `${digest(join(into, file), 'sha256').toString('hex')}  ${file}`)
writeFileSync(join(into, 'SHA256SUMS'), `${sums.join('\n')}\n`)
console.log(
  `${into}: ${[tarball, ...others].join(', ')}, clients of three languages, build contexts of two images, the documentation below /v${version}. Nothing was published.`,
)
