// Compiles src/ to dist/ and the console to console/dist/ when something changed since the last time, so that a second
// start compiles nothing. With names it builds only those: `node scripts/build.mjs console`.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

const TARGETS = {
  svc: {
    sources: ['src', 'scripts/bundle.mjs', 'package.json', 'package-lock.json'],
    into: 'dist',
    needs: 'esbuild',
    compiler: ['scripts/bundle.mjs'],
  },
  console: {
    sources: [
      'console/src',
      'console/public',
      'console/index.html',
      'console/vite.config.ts',
      'console/package.json',
      'package-lock.json',
    ],
    into: 'console/dist',
    needs: 'vite',
    compiler: ['node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'warn'],
  },
}

function filesOf(source) {
  const path = join(root, source)
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function hashOf(sources) {
  const hash = createHash('sha256')
  for (const file of sources.flatMap(filesOf))
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** Resolves with the exit code; 0 too when there was nothing to do. */
async function build(name) {
  const { sources, into, needs, compiler } = TARGETS[name]
  const stamp = join(root, into, '.built-from')
  const wanted = hashOf(sources)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return 0
  if (!existsSync(join(root, 'node_modules', needs))) {
    console.error(
      `${name} must be compiled, and its compiler is not installed. Run: npm ci (without --omit=dev), then npm run build`,
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
const codes = await Promise.all((args.length > 0 ? args : Object.keys(TARGETS)).map(build))
const failed = codes.find((code) => code !== 0)
if (failed) process.exit(failed)
