// Writes the software bill of materials of what is shipped to standard output, in CycloneDX: `npm run -s sbom`.
// It is npm's, for a lock file that has these packages only.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isInstalled, ROOT, readLock, shippedPaths, withoutDevelopment } from './shipped.mjs'

const folder = mkdtempSync(join(tmpdir(), 'svc-sbom-'))
/**
 * @param {string} file
 * @param {unknown} content
 */
function write(file, content) {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), JSON.stringify(content))
}

try {
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
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, maxBuffer: 67_108_864 })
  process.stdout.write(stdout)
  if (status !== 0) process.stderr.write(stderr)
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
