import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ENGINES } from './test/harness/engines.ts'

// What asks nothing of the database that other suites do not ask of both versions: long runs, and those of HTTP alone.
// EVERY_ENGINE=1 runs all of it on both.
const ONCE = process.env['EVERY_ENGINE']
  ? []
  : [
      'access',
      'admission',
      'backup',
      'bearer-tokens',
      'bodies',
      'bulk',
      'bulk-processes',
      'card-life',
      'cards-grown',
      'cards-interop',
      'cards-numbers',
      'cards-processes',
      'cards-jwe',
      'cards-jwe-replay',
      'cli',
      'cli-remote',
      'coins-model',
      'coins-races',
      'conformance',
      'conformance-drift',
      'conformance-faithful',
      'conformance-mutants',
      'console-guard',
      'costs',
      'crash',
      'deprecation',
      'documents',
      'drain',
      'events-listen',
      'examples',
      'failure-causes',
      'event-stream-credentials',
      'failures',
      'guessing',
      'guides',
      'guides-operators',
      'held-rows',
      'high-availability',
      'http-limits',
      'instants',
      'interpretations',
      'key-rotation',
      'live-mode',
      'logins',
      'master-key-rotation',
      'migrate',
      'money',
      'oauth',
      'oauth-forms',
      'operator-access',
      'operator-audit',
      'operator-lists',
      'operator-privacy',
      'oauth-scopes',
      'operator-metrics',
      'operator-requests',
      'operator-sign-ins',
      'operator-status',
      'operator-webhooks',
      'pages',
      'partitions-year',
      'point-in-time-recovery',
      'pooler',
      'problem-details',
      'races',
      'rail-adapters',
      'read-only',
      'refunds-to-the-bank',
      'samples',
      'sandbox-failures',
      'sandbox-reference',
      'sandbox-file',
      'shared-rate-limit',
      'silence',
      'stream-slots',
      'test-clock',
      'tls',
      'trusted-proxies',
      'webhooks',
      'webhooks-cli',
      'webhooks-faults',
      'write-path',
    ]

// The service's tests run on the embedded PostgreSQL 18, and once more on a PostgreSQL 15 where its binaries are found.
export default defineConfig({
  // Its package leads to what `npm run build -w @svc/sdk` builds for publication.
  resolve: { alias: { '@svc/sdk': fileURLToPath(new URL('packages/sdk/src/index.ts', import.meta.url)) } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: true,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'packages/!(embedded-postgres)/test/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'embedded',
          include: [
            'test/embedded/**/*.test.ts',
            'packages/embedded-postgres/test/**/*.test.ts',
            'lab/fuzz/**/*.test.ts',
          ],
        },
      },
      {
        // The program that ships, as processes of their own; the other projects run the sources, which is faster.
        extends: true,
        test: {
          name: 'built',
          include: ['test/built/**/*.test.ts'],
          globalSetup: 'test/harness/build.ts',
          env: { TEST_PROGRAM: 'built' },
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'console',
          include: ['test/console/**/*.test.ts'],
          globalSetup: ['test/harness/console-build.ts', 'test/harness/database-server.ts'],
          env: { TEST_POSTGRES: ENGINES[0]!.binaries },
        },
      },
      ...ENGINES.map(({ name, binaries }, index) => ({
        extends: true as const,
        test: {
          name,
          // The SDK talks HTTP, so one database is enough for it.
          include: [
            'test/service/**/*.test.ts',
            ...(index === 0 ? ['test/sdk/**/*.test.ts', 'lab/bank/**/*.test.ts'] : []),
          ],
          exclude: index === 0 ? [] : ONCE.map((suite) => `test/service/${suite}.test.ts`),
          globalSetup: 'test/harness/database-server.ts',
          env: { TEST_POSTGRES: binaries },
        },
      })),
    ],
  },
})
