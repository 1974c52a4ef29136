// Compiles src/ to dist/ when something changed since the last time, so that a second start compiles nothing.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'dist', '.built-from')
const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')

const hash = createHash('sha256')
const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort()
for (const file of [
  ...sources,
  join(root, 'tsconfig.json'),
  join(root, 'tsconfig.build.json'),
  join(root, 'package.json'),
])
  hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0')
const wanted = hash.digest('hex')

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) compile()

function compile() {
  if (!existsSync(compiler)) {
    console.error(
      'svc must be compiled, and the compiler is not installed. Run: npm ci (without --omit=dev), then npm run build',
    )
    process.exit(1)
  }
  console.error('Compiling svc (only after a change) …')
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(stamp, wanted)
}
