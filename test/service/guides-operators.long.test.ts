import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openGuideServer } from '../harness/guide-logins.ts'
import { blocksOf, type Checkout, openCheckout } from '../harness/guides.ts'
import { newDatabase } from '../harness/service.ts'

const RAIL_KEY = 'a-key-of-the-rail-with-more-than-32-characters'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let checkout: Checkout
beforeAll(async () => {
  checkout = await openCheckout({
    UPI_RAIL_KEYS: RAIL_KEY,
    CARD_RAIL_KEYS: RAIL_KEY,
    BANK_RAIL_KEYS: RAIL_KEY,
  })
})
afterAll(() => checkout?.close())

test('the guide to the console runs as it is printed: a first administrator, and the audit with an anchor', async () => {
  const printed = await checkout.runGuide('guides/console.md')
  expect(printed).toContain('asha')
  expect(printed).toMatch(/cardStatus +UL/)
  expect(printed).toMatch(/\/portal\/link#par_/)
  expect(printed.match(/All chains are whole/g)).toHaveLength(2)
})

test('the guide to the portal runs as it is printed: a member is invited, gets another link, and is disabled', async () => {
  const printed = await checkout.runGuide('guides/portal.md')
  expect(printed.match(/\/portal\/link#mer_/g)).toHaveLength(2)
  expect(printed).toMatch(/status +disabled/)
  expect(printed).toContain('All chains are whole')
})

test('the guides to personal data and to closing tenants run as they are printed', async () => {
  expect(await checkout.runGuide('guides/personal-data.md')).toMatch(/erasedAt +20/)
  const printed = await checkout.runGuide('guides/closing-tenants.md')
  expect(printed).toMatch(/status +clos(ing|ed)/)
})

test('the guide to the UPI rail runs as it is printed: a signed credit, refunds of both kinds and a notice in quarantine', async () => {
  const example = (await blocksOf('guides/upi-rail.md', 'sh')).find(({ output }) => output !== undefined)
  // The guide starts from the code that the tutorial creates.
  await checkout.runGuide('tutorial/first-token-and-qr-code.md')
  const printed = await checkout.runGuide('guides/upi-rail.md')
  expect(printed.startsWith(example!.output!)).toBe(true)
  for (const status of ['SUSPENSE', 'REFUNDED']) expect(printed).toContain(`"status":"${status}"`)
  expect(printed).toMatch(/amount +49\.96/)
  expect(printed).toMatch(/status +REFUNDED/)
})

test('the guide to the card rail runs as it is printed: an authorisation, captures, a void, a refund and an exception', async () => {
  const printed = await checkout.runGuide('guides/card-rail.md')
  for (const status of ['approved', 'declined', 'recorded', 'quarantined'])
    expect(printed).toContain(`"status":"${status}"`)
  expect(printed).toContain('"reason":"insufficient_funds"')
  expect(printed).toContain('unmatched_refund')
})

test('the guide to the bank rail runs as it is printed: a transfer, one entered before, one in quarantine, a withdrawal', async () => {
  const printed = await checkout.runGuide('guides/bank-rail.md')
  for (const status of ['CREDITED', 'ENTERED_BEFORE']) expect(printed).toContain(`"status":"${status}"`)
  expect(printed).toContain('unknown_virtual_account')
  expect(printed).toMatch(/withdrawn +1500\.00/)
})

test('the guide to the books runs as it is printed: a payment, its statement, the trial balance, a settlement file', async () => {
  await checkout.runGuide('tutorial/first-token-and-qr-code.md')
  const printed = await checkout.runGuide('guides/books.md')
  expect(printed).toMatch(/matched +1\b/)
  expect(printed).toMatch(/matchedAmount +249\.50/)
  expect(printed).not.toContain('missing')
  expect(printed).toMatch(/journal_reversal/)
  expect(printed).toMatch(/differing +1\b/)
  expect(printed).toMatch(/change +-0\.50/)
  expect(printed).toMatch(/adjustedAmount +249\.00/)
  expect(printed).toMatch(/payable +1250\.50/)
  expect(printed).toMatch(/entered +1\b/)
}, 240_000)

test('the guide to payouts runs as it is printed: account, fee, a payout of the sandbox, run, files, statement', async () => {
  const printed = await checkout.runGuide('guides/payouts.md')
  expect(printed).toContain('"status":"PAID"')
  expect(printed).toMatch(/Unexplained +.*0\.00/)
})

test('the guide to backups runs as it is printed: backup, restore, a rehearsal, snapshots', async () => {
  const rehearsal = await newDatabase()
  const printed = await checkout.runGuide('guides/backup.md', { REHEARSAL_URL: rehearsal.url })
  expect(printed).toContain('The books add up.')
}, 240_000)

test('the guide to operating runs as it is printed on a server of its own: settings, doctor, merchant, books, backup', async () => {
  const server = await openGuideServer()
  onTestFinished(() => server.close())
  // The first block has run: it made this server.
  const [, ...blocks] = await blocksOf('guides/operate.md', 'sh')
  const printed = await checkout.bash(blocks.map(({ code }) => code).join('\n'), server.env)
  expect(printed).toContain('Corner Shop')
  expect(printed).toContain('The books add up.')
}, 240_000)

/** Shell blocks that no test runs, by guide: each needs what a test does not have. */
const NOT_RUN: Readonly<Record<string, number>> = {
  // The settings of an identity provider.
  'guides/console.md': 1,
  // Patroni, etcd and a network to cut; an hour of fault injection.
  'guides/high-availability.md': 2,
  // `npm start`, which the tests run as a process of their own, an installation without development packages; Vault.
  'guides/operate.md': 3,
  // `npm start`.
  'guides/card-rail.md': 1,
  // ... and the other outcome of the refund.
  'guides/upi-rail.md': 2,
  'tutorial/first-token-and-qr-code.md': 1,
  // Commands that listen until they are stopped.
  'guides/command-line.md': 2,
  // A run of ten thousand deliveries.
  'guides/webhooks.md': 1,
}

/** Where the other blocks run. */
const RUN_IN: Readonly<Record<string, string>> = {
  'guides/backup.md': 'guides-operators',
  'guides/command-line.md': 'guides',
  'guides/coins.md': 'guides',
  'guides/companies.md': 'guides',
  'guides/conformance.md': 'guides',
  'guides/books.md': 'guides-operators',
  'guides/bank-rail.md': 'guides-operators',
  'guides/card-rail.md': 'guides-operators',
  'guides/console.md': 'guides-operators',
  'guides/encrypt-a-request.md': 'guides',
  'guides/operate.md': 'guides-operators',
  'guides/payouts.md': 'guides-operators',
  'guides/point-in-time-recovery.md': 'point-in-time-recovery',
  'guides/closing-tenants.md': 'guides-operators',
  'guides/personal-data.md': 'guides-operators',
  'guides/portal.md': 'guides-operators',
  'guides/qr-codes.md': 'guides',
  'guides/test-clocks.md': 'guides',
  'guides/upi-rail.md': 'guides-operators',
  'guides/webhooks.md': 'guides',
  'tutorial/first-token-and-qr-code.md': 'guides',
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
