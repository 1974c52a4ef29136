import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../harness/sources.ts'

/** Shell blocks that no test runs, by guide: each needs what a test does not have. */
const NOT_RUN: Readonly<Record<string, number>> = {
  // The settings of an identity provider.
  'guides/console.md': 1,
  // Patroni, etcd and a network to cut, for an hour.
  'guides/high-availability.md': 1,
  // `npm start`, which the tests run as a process of their own, an installation without development packages; Vault.
  'guides/operate.md': 6,
  // `npm start`.
  'guides/card-rail.md': 1,
  // ... the other outcome of the refund; a notice that waits for something to change.
  'guides/upi-rail.md': 3,
  // A payout that the bank paid twice.
  'guides/payouts.md': 1,
  'tutorial/first-token-and-qr-code.md': 1,
  // Commands that last until they are stopped; capsules.test.ts runs them.
  'guides/replay-a-failure.md': 3,
  // Commands that listen until they are stopped; a request id, which cli-remote.test.ts has.
  'guides/command-line.md': 3,
  'guides/coding-agents.md': 1,
  // What it prints is of the moment; event-proofs.test.ts runs the command.
  'guides/verify-the-feed.md': 1,
  // The month that built/month.test.ts runs, in a sandbox of its own.
  'guides/close-a-month.md': 1,
  // A run of ten thousand deliveries.
  'guides/webhooks.md': 1,
}

/** Where the other blocks run. */
const RUN_IN: Readonly<Record<string, string>> = {
  'guides/backup.md': 'guides-operators.long',
  'guides/command-line.md': 'guides',
  'guides/coding-agents.md': 'guides',
  'guides/coins.md': 'guides',
  'guides/companies.md': 'guides',
  'guides/spend-rules.md': 'guides',
  'guides/conformance.md': 'guides-conformance.long',
  'guides/books.md': 'guides-operators.long',
  'guides/bank-rail.md': 'guides-operators.long',
  'guides/card-rail.md': 'guides-operators.long',
  'guides/console.md': 'guides-operators.long',
  'guides/encrypt-a-request.md': 'guides',
  'guides/operate.md': 'guides-operators.long',
  'guides/payouts.md': 'guides-operators.long',
  'guides/point-in-time-recovery.md': 'point-in-time-recovery',
  'guides/closing-tenants.md': 'guides-operators.long',
  'guides/personal-data.md': 'guides-operators.long',
  'guides/portal.md': 'guides-operators.long',
  'guides/qr-codes.md': 'guides',
  'guides/test-clocks.md': 'guides',
  'guides/upi-rail.md': 'guides-operators.long',
  'guides/webhooks.md': 'guides',
  'tutorial/first-token-and-qr-code.md': 'guides',
  'tutorial/first-day.md': 'guides',
  'tutorial/gift-card.md': 'guides',
  'guides/test-in-ci.md': 'guides',
}

test('every shell block of every guide runs in a test, or is marked as not run', async () => {
  const marked: Record<string, number> = {}
  const run: string[] = []
  for (const folder of ['guides', 'tutorial'])
    for (const name of await readdir(join(ROOT, 'docs', folder))) {
      const text = await readFile(join(ROOT, 'docs', folder, name), 'utf8')
      const [blocks, out] = [/^ *```(?:sh|bash|shell|console)$/gm, /^ *```sh not-run$/gm].map(
        (pattern) => text.match(pattern)?.length ?? 0,
      )
      if (out) marked[`${folder}/${name}`] = out
      if (blocks) run.push(`${folder}/${name}`)
      expect(text, name).not.toMatch(/^\$ svc /m)
    }
  expect(marked).toEqual(NOT_RUN)
  expect(run.toSorted()).toEqual(Object.keys(RUN_IN).toSorted())
  for (const [file, suite] of Object.entries(RUN_IN))
    expect(await readFile(join(ROOT, `test/service/${suite}.test.ts`), 'utf8'), file).toContain(file)
})
