// Writes the software bill of materials of what is shipped to standard output, in CycloneDX: `npm run -s sbom`.
// It is npm's, for a lock file that has these packages only.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInstalled, ROOT, readLock, shippedPaths, withoutDevelopment } from './shipped.mjs'

/**
 * @typedef {object} Bill
 * @property {string} [serialNumber]
 * @property {{ timestamp?: string, component: object }} metadata
 * @property {{ 'bom-ref': string, name: string, version: string }[]} components
 * @property {{ ref: string, dependsOn: string[] }[]} dependencies
 */

/**
 * A lock file and manifests of what is shipped alone.
 * @param {string} folder
 */
function writeShipped(folder) {
  /** @type {(file: string, content: unknown) => void} */
  const write = (file, content) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), JSON.stringify(content))
  }
  const lock = readLock()
  const shipped = shippedPaths(lock)
  /** @type {typeof lock.packages} */
  const packages = {}
  for (const [path, entry] of Object.entries(lock.packages))
    if (!isInstalled(path)) {
      packages[path] = withoutDevelopment(path, entry)
      const manifest = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
      write(join(path, 'package.json'), withoutDevelopment(path, manifest))
    } else if (entry.link || shipped.has(path))
      packages[path] = Object.assign({}, entry, { dev: undefined, devOptional: undefined, peer: undefined })
  write('package-lock.json', { ...lock, packages })
}

/**
 * The bill of all that is shipped, without what differs from one run to the next: its number and its time.
 * @returns {Bill}
 */
function shippedBill() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sbom-'))
  try {
    writeShipped(folder)
    const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, maxBuffer: 67_108_864 })
    if (status !== 0) throw new Error(`npm sbom: ${stderr.toString()}`)
    /** @type {Bill} */
    const bill = JSON.parse(stdout.toString())
    delete bill.serialNumber
    delete bill.metadata.timestamp
    return bill
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The bill of one package of ours, as text: all that is shipped, or with `paths` what is bundled into it.
 * @param {string} workspace
 * @param {Iterable<string>} [paths]
 */
export function billOf(workspace, paths) {
  const bill = shippedBill()
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8'))
  const ref = `${name}@${version}`
  const { packages } = readLock()
  const bundled =
    paths && [...paths].map((path) => `${path.split('node_modules/').at(-1)}@${packages[path]?.version}`)
  const components = bundled
    ? bill.components.filter((each) => bundled.includes(each['bom-ref']))
    : bill.components
  const component = {
    'bom-ref': ref,
    type: 'application',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [{ license: { id: license } }],
  }
  const dependencies = bundled
    ? [{ ref, dependsOn: components.map((each) => each['bom-ref']) }]
    : bill.dependencies
  const metadata = { ...bill.metadata, component: bundled ? component : bill.metadata.component }
  return `${JSON.stringify({ ...bill, metadata, components, dependencies }, null, 2)}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(billOf('.'))
