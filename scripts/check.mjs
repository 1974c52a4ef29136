// Everything that can be said of the code without running the service: `npm run check`. Runs all, reports all.
// With names it runs only those; with --json=<file> it also writes what passed, for CI.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** @param {string[]} path */
const program = (...path) => join(root, 'node_modules', ...path)

const TSC = program('typescript7', 'bin', 'tsc')
// The packages, each with those that it may import, then all that is not shipped; the page runs in browsers.

/**
 * The programs that make up each check.
 * @type {Readonly<Record<string, readonly (readonly string[])[]>>}
 */
const CHECKS = {
  types: [['scripts/types.mjs'], [TSC, '-b'], [TSC, '--noEmit', '-p', 'apps/console/tsconfig.json']],
  lint: [[program('oxlint', 'bin', 'oxlint'), '--type-aware', '--deny-warnings']],
  format: [[program('@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings']],
  arrows: [
    [
      program('dependency-cruiser', 'bin', 'dependency-cruise.mjs'),
      '--config',
      '.dependency-cruiser.cjs',
      'packages',
    ],
  ],
  'dead code': [[program('knip', 'bin', 'knip.js'), '--no-progress']],
  sizes: [[program('tsx', 'dist', 'cli.mjs'), 'scripts/sizes.ts']],
  language: [[program('tsx', 'dist', 'cli.mjs'), 'scripts/language.ts']],
  migrations: [[program('tsx', 'dist', 'cli.mjs'), 'scripts/migrations.ts']],
  generated: [[program('tsx', 'dist', 'cli.mjs'), 'scripts/generate-reference.ts', '--check']],
  licences: [['scripts/licences.mjs']],
  openapi: [
    [program('@redocly', 'cli', 'bin', 'cli.js'), 'lint', 'docs/reference/openapi.json', '--format=stylish'],
    [
      program('@stoplight', 'spectral-cli', 'dist', 'index.js'),
      'lint',
      'docs/reference/openapi.json',
      '--ruleset=.spectral.yaml',
      '--fail-severity=hint',
    ],
  ],
}
// The OpenAPI linter would otherwise report its use and ask for news.
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

const args = process.argv.slice(2)
const report = args.find((arg) => arg.startsWith('--json='))?.slice('--json='.length)
const wanted = args.filter((arg) => !arg.startsWith('--'))
const unknown = wanted.filter((name) => !(name in CHECKS))
if (unknown.length > 0) {
  console.error(`No such check: ${unknown.join(', ')}. There are: ${Object.keys(CHECKS).join(', ')}`)
  process.exit(2)
}

/**
 * @param {readonly string[]} command
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
const run = (command) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
    child.on('error', (error) => resolve({ ok: false, output: error.message }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })

/** @type {{ name: string, ok: boolean }[]} */
const results = []
const waiting = Object.entries(CHECKS).filter(([name]) => wanted.length === 0 || wanted.includes(name))

/** Takes the next check until none is left. */
async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, commands] = next
    const startedAtMs = performance.now()
    let ok = true
    let output = ''
    for (const command of commands) {
      const ran = await run(command)
      ok &&= ran.ok
      output += ran.output
    }
    const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1)
    console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(10)} ${seconds.padStart(5)} s`)
    if (!ok) console.log(output.trim().replace(/^/gm, '      '))
    results.push({ name, ok })
  }
}
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work))
const failed = results.filter(({ ok }) => !ok)
if (report)
  writeFileSync(report, JSON.stringify({ passed: results.length - failed.length, failed: failed.length }))
if (failed.length > 0) {
  console.log(
    `\n${failed.length} of ${results.length} checks failed: ${failed.map(({ name }) => name).join(', ')}`,
  )
  process.exitCode = 1
}
