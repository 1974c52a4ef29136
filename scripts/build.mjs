// Bundles the packages into dist/, the documentation into dist-site/, the console to apps/console/dist/ and the portal to
// apps/console/dist-portal/ when something changed since the last time, so that a second start compiles nothing. With names it builds only those: `node scripts/build.mjs console`.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * @typedef {object} Target
 * @property {readonly string[]} sources
 * @property {string} into
 * @property {string} needs
 * @property {readonly string[]} compiler
 */

/**
 * A page of `apps/console`: the operators' or the tenants'.
 * @param {string} folder
 * @param {readonly string[]} mode
 * @returns {Target}
 */
const page = (folder, mode) => ({
  sources: [
    'apps/console/src',
    'apps/console/public',
    'apps/console/index.html',
    'apps/console/vite.config.ts',
    'apps/console/package.json',
    // What the pages share with the service.
    'packages/contract/src',
    'packages/kernel/src',
    'package-lock.json',
  ],
  into: `apps/console/${folder}`,
  needs: 'vite',
  compiler: ['node_modules/vite/bin/vite.js', 'build', 'apps/console', '--logLevel', 'warn', ...mode],
})

/** @type {Readonly<Record<string, Target>>} */
const TARGETS = {
  svc: {
    sources: ['packages', 'scripts/bundle.mjs', 'scripts/shipped.mjs', 'package.json', 'package-lock.json'],
    into: 'dist',
    needs: 'esbuild',
    compiler: ['scripts/bundle.mjs'],
  },
  site: {
    sources: [
      'docs',
      'clients',
      'scripts/site',
      'packages/sdk/README.md',
      'deploy/README.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CHANGELOG.md',
      'package.json',
      'package-lock.json',
    ],
    into: 'dist-site',
    needs: 'tsx',
    compiler: ['node_modules/tsx/dist/cli.mjs', 'scripts/site/main.ts'],
  },
  console: page('dist', []),
  portal: page('dist-portal', ['--mode', 'portal']),
}

/** Built from the OpenAPI documents by types.mjs, and nothing of them is left in what is compiled. */
const TYPES = new Set(
  ['packages/sdk/src/schema.ts', 'apps/console/src/api-types.ts', 'apps/console/src/portal/api-types.ts'].map(
    (file) => join(root, file),
  ),
)

/** @param {string} source */
function filesOf(source) {
  const path = join(root, source)
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !TYPES.has(file))
    .sort()
}

/**
 * Of the lock file only what it installs: npm 10 writes it again when it prunes, and leaves fields out.
 * @param {string} file
 */
function contentOf(file) {
  const content = readFileSync(file)
  if (basename(file) !== 'package-lock.json') return content
  const { packages } = JSON.parse(content.toString())
  return JSON.stringify(
    Object.entries(packages).map(([path, { version, integrity }]) => [path, version, integrity]),
  )
}

/** @param {readonly string[]} sources */
function hashOf(sources) {
  const hash = createHash('sha256')
  for (const file of sources.flatMap(filesOf))
    hash.update(file.slice(root.length)).update('\0').update(contentOf(file)).update('\0')
  return hash.digest('hex')
}

/**
 * Resolves with the exit code; 0 too when there was nothing to do.
 * @param {string} name
 * @param {Target} target
 * @returns {Promise<number>}
 */
async function build(name, { sources, into, needs, compiler }) {
  const stamp = join(root, into, '.built-from')
  const isBuilt = existsSync(stamp)
  // An image may hold what was built without what it was built from.
  if (isBuilt && !sources.every((source) => existsSync(join(root, source)))) return 0
  const wanted = hashOf(sources)
  if (isBuilt && readFileSync(stamp, 'utf8') === wanted) return 0
  if (!existsSync(join(root, 'node_modules', needs))) {
    console.error(
      `${name} ${isBuilt ? 'was built from other sources' : 'is not built'}, and its compiler is not installed. Run: npm ci && npm run build && npm prune --omit=dev`,
    )
    return 1
  }
  console.error(`Compiling ${name} (only after a change) …`)
  rmSync(join(root, into), { recursive: true, force: true })
  const code = await new Promise((resolve) => {
    // Whatever runs this, tests included: what is built is what is served.
    const env = { ...process.env, NODE_ENV: 'production' }
    const child = spawn(process.execPath, compiler, { cwd: root, stdio: 'inherit', env })
    child.on('error', () => resolve(1))
    child.on('close', (status) => resolve(status ?? 1))
  })
  if (code === 0) {
    mkdirSync(join(root, into), { recursive: true })
    writeFileSync(stamp, wanted)
  }
  return code
}

const args = process.argv.slice(2).filter((arg) => arg in TARGETS)
const targets = Object.entries(TARGETS).filter(([name]) => args.length === 0 || args.includes(name))
const codes = await Promise.all(targets.map(([name, target]) => build(name, target)))
const failed = codes.find((code) => code !== 0)
if (failed) process.exit(failed)
