// `npm run bench`: installs what svc is compared with, once, compiles, and runs lab/bench/run.ts.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/**
 * @param {string} command
 * @param {string[]} args
 */
const run = (command, ...args) => {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
if (!existsSync(`${root}/lab/bench/node_modules/oidc-provider`)) {
  console.log('Installing the peers that svc is compared with (lab/bench/package.json) …')
  run('npm', 'ci', '--prefix', 'lab/bench', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error')
}
await import('./build.mjs')
run(
  process.execPath,
  '--experimental-websocket',
  '--import',
  'tsx',
  'lab/bench/run.ts',
  ...process.argv.slice(2),
)
