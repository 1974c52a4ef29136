import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ENGINES } from './test/harness/engines.ts'
import { LONG } from './test/harness/long.ts'

// Suites that ask something of the database itself: they run on every version of PostgreSQL that is found, the others on
// the embedded one. EVERY_ENGINE=1 runs all of them on all versions.
const ON_EVERY_ENGINE = process.env['EVERY_ENGINE']
  ? [LONG ? '*' : '!(*.long)']
  : [
      'as-of',
      'card-end',
      'card-rail',
      'cards-search',
      'coins-spending',
      'database-rights',
      'disputes',
      'events',
      'invariants',
      'ledger',
      'operator-search',
      'partitions',
      'payments',
      'payouts',
      'refunds',
      'schema',
      'settlement',
      'tables',
      ...(LONG
        ? [
            'approvals',
            'books',
            'card-rail-races',
            'cards-create',
            'closing',
            'coins-awards',
            'commit-queue',
            'exact-expiry',
            'operator-payments',
            'payout-terms',
            'posting-rules',
            'reversals',
            'rows-read.long',
            'suspense',
          ]
        : []),
    ]

/** `npm run test:long` runs the files of `*.long.test.ts` as well; every other run leaves them out. */
const FILES = LONG ? '*.test.ts' : '!(*.long).test.ts'
/** Measures a page, so nothing else may run. */
const MEASURED = 'test/console/long-list.test.ts'
const testsIn = (folder: string) => `${folder}/**/${FILES}`

// The service's tests run on the embedded PostgreSQL 18, and once more on a PostgreSQL 15 where its binaries are found.
export default defineConfig({
  // Its package leads to what `npm run build -w @svc/sdk` builds for publication.
  resolve: { alias: { '@svc/sdk': fileURLToPath(new URL('packages/sdk/src/index.ts', import.meta.url)) } },
  test: {
    testTimeout: 60_000,
    // One second is too short for a page on a machine with two workers.
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 60_000,
    fileParallelism: true,
    // On two cores: a test waits for its database and for processes as long as it computes.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          isolate: false,
          include: [testsIn('test/unit'), testsIn('packages/!(embedded-postgres)/test')],
        },
      },
      {
        extends: true,
        test: {
          name: 'embedded',
          include: ['test/embedded', 'packages/embedded-postgres/test', 'lab/fuzz'].map(testsIn),
          globalSetup: 'test/harness/build.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'built',
          include: [testsIn('test/built')],
          globalSetup: 'test/harness/build.ts',
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      // `npm run image:test` alone: it builds deploy/Containerfile, which takes minutes, root and Podman.
      ...(process.env['TEST_IMAGE']
        ? [
            {
              extends: true as const,
              test: {
                name: 'image',
                include: ['test/image/**/*.test.ts'],
                testTimeout: 600_000,
                hookTimeout: 600_000,
              },
            },
          ]
        : []),
      ...[
        { name: 'console', exclude: [MEASURED] },
        // After all others: what runs beside it makes a page's tasks longer, by processor time too.
        { name: 'console measured', include: [MEASURED], sequence: { groupOrder: 1 } },
      ].map((test) => ({
        extends: true as const,
        test: {
          include: [testsIn('test/console')],
          globalSetup: ['test/harness/build.ts', 'test/harness/database-server.ts'],
          env: { TEST_POSTGRES: ENGINES[0]!.binaries },
          ...test,
        },
      })),
      ...ENGINES.map(({ name, binaries }, index) => ({
        extends: true as const,
        test: {
          name,
          // The service's modules are loaded once for each worker: for each file they take as long as its tests.
          isolate: false,
          // The SDK talks HTTP, so one database is enough for it.
          include:
            index === 0
              ? ['test/service', 'test/sdk', 'lab/bank'].map(testsIn)
              : ON_EVERY_ENGINE.map((suite) => `test/service/${suite}.test.ts`),
          globalSetup: ['test/harness/build.ts', 'test/harness/database-server.ts'],
          env: { TEST_POSTGRES: binaries },
        },
      })),
    ],
  },
})
