// `npm run test:fast`: what most changes break, in a minute and a half: the unit tests, and the suites of each area on the
// embedded PostgreSQL. Long runs, the second engine, the browser and the built program are left to `npm test`.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SUITES = [
  'access',
  'cards-create',
  'coins-awards',
  'coins-config',
  'create-and-search',
  'events',
  'idempotency',
  'isolation',
  'isolation-matrix',
  'ledger',
  'payments',
  'qr-codes',
  'tables',
  'tenant-references',
]
/** Those of the unit tests that compile everything. */
const LONG = ['test/unit/architecture.test.ts', 'test/unit/parsers.test.ts']

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const args = [
  'run',
  ...['unit', 'postgres 18'].flatMap((project) => ['--project', project]),
  ...LONG.flatMap((file) => ['--exclude', file]),
  ...SUITES.map((suite) => `test/service/${suite}.test.ts`),
  'test/unit/',
  'packages/',
  ...process.argv.slice(2),
]
const { status } = spawnSync(process.execPath, [vitest, ...args], { stdio: 'inherit' })
process.exitCode = status ?? 1
