import { defineConfig } from 'vitest/config'

// One test that fails on purpose; test/service/failure-causes.long.test.ts reads what it prints.
export default defineConfig({
  test: {
    include: ['test/harness/failing/*.fails.ts'],
    globalSetup: 'test/harness/database-server.ts',
    env: { TEST_POSTGRES: process.env['TEST_POSTGRES']! },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
