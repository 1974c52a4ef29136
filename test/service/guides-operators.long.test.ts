import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { openGuideServer } from '../harness/guide-logins.ts'
import { blocksOf, type Checkout, openCheckout } from '../harness/guides.ts'
import { asSuperuser, newDatabase } from '../harness/service.ts'

// Dozens of commands a guide, a process each: it only ends a wait in vain.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const RAIL_KEY = 'a-key-of-the-rail-with-more-than-32-characters'

let checkout: Checkout
beforeAll(async () => {
  checkout = await openCheckout({
    UPI_RAIL_KEYS: RAIL_KEY,
    CARD_RAIL_KEYS: RAIL_KEY,
    BANK_RAIL_KEYS: RAIL_KEY,
  })
})
afterAll(() => checkout?.close())

test('the guide to the console runs as printed: a first administrator, and the audit with an anchor', async () => {
  const printed = await checkout.runGuide('guides/console.md')
  expect(printed).toContain('asha')
  expect(printed).toMatch(/cardStatus +UL/)
  expect(printed).toMatch(/\/portal\/link#par_/)
  expect(printed.match(/All chains are whole/g)).toHaveLength(2)
})

test('the guide to the portal runs as printed: a member is invited, gets another link, and is disabled', async () => {
  const printed = await checkout.runGuide('guides/portal.md')
  expect(printed.match(/\/portal\/link#mer_/g)).toHaveLength(2)
  expect(printed).toMatch(/status +disabled/)
  expect(printed).toContain('All chains are whole')
})

test('the guides to personal data and to closing tenants run as printed', async () => {
  expect(await checkout.runGuide('guides/personal-data.md')).toMatch(/erasedOn +20/)
  const printed = await checkout.runGuide('guides/closing-tenants.md')
  expect(printed).toMatch(/closingOn +20/)
})

test('the guide to the UPI rail runs as printed: a signed credit, refunds of both kinds and a quarantined notice', async () => {
  const example = (await blocksOf('guides/upi-rail.md', 'sh')).find(({ output }) => output !== undefined)
  // The guide starts from the code that the tutorial creates.
  await checkout.runGuide('tutorial/first-token-and-qr-code.md')
  const printed = await checkout.runGuide('guides/upi-rail.md')
  expect(printed.startsWith(example!.output!)).toBe(true)
  for (const status of ['SUSPENSE', 'REFUNDED']) expect(printed).toContain(`"status":"${status}"`)
  expect(printed).toMatch(/amount +49\.96/)
  expect(printed).toMatch(/status +REFUNDED/)
})

test('the guide to the card rail runs as printed: an authorisation, captures, a void, a refund and an exception', async () => {
  const printed = await checkout.runGuide('guides/card-rail.md')
  for (const status of ['approved', 'declined', 'recorded', 'quarantined'])
    expect(printed).toContain(`"status":"${status}"`)
  expect(printed).toContain('"reason":"insufficient_funds"')
  expect(printed).toContain('unmatched_refund')
  expect(printed).toMatch(/outcome +WRITTEN_OFF\nopen +0\.00/)
})

test('the guide to the bank rail runs as printed: a transfer, one entered before, one in quarantine, a withdrawal', async () => {
  const printed = await checkout.runGuide('guides/bank-rail.md')
  for (const status of ['CREDITED', 'ENTERED_BEFORE']) expect(printed).toContain(`"status":"${status}"`)
  expect(printed).toContain('unknown_virtual_account')
  expect(printed).toMatch(/amount +1500\.00/)
})

test('the guide to the books runs as printed: a payment, its statement, the trial balance, a settlement file, the proof of funds', async () => {
  await checkout.runGuide('tutorial/first-token-and-qr-code.md')
  const printed = await checkout.runGuide('guides/books.md')
  expect(printed).toMatch(/matched +1\b/)
  expect(printed).toMatch(/matchedAmount +249\.50/)
  expect(printed).not.toContain('missing')
  expect(printed).toMatch(/journal_reversal/)
  expect(printed).toMatch(/differing +1\b/)
  expect(printed).toMatch(/change +-0\.50/)
  expect(printed).toMatch(/adjustedAmount +249\b/)
  expect(printed).toMatch(/payable +1250\.50/)
  expect(printed).toMatch(/entered +1\b/)
  expect(printed).toMatch(/matched +1\ndiffers +0\nunmatched +1\n/)
  expect(printed).toContain('The files agree with the proof of')
})

test('the guide to payouts runs as printed: account, fee, a payout of the sandbox, run, files, statement', async () => {
  const printed = await checkout.runGuide('guides/payouts.md')
  expect(printed).toContain('"status":"PAID"')
  expect(printed).toMatch(/Unexplained +.*0\.00/)
  const calendar = (await blocksOf('guides/payouts.md', 'sh')).find(({ code }) =>
    code.includes('calendar list'),
  )
  expect(printed).toContain(calendar!.output!)
})

test('the guide to backups runs as printed, with URLs in files and standbys for reports too: a rehearsal verifies what it restored', async () => {
  const rehearsal = await newDatabase()
  const url = join(checkout.folder, 'database-url')
  await writeFile(url, checkout.databaseUrl)
  const settings = {
    REHEARSAL_URL: rehearsal.url,
    DATABASE_OPERATOR_URL_FILE: url,
    DATABASE_OWNER_URL_FILE: url,
    DATABASE_READ_URL_FILE: url,
    REPLICATION: 'required',
  }
  const printed = await checkout.runGuide('guides/backup.md', settings)
  expect(printed).toContain('The books add up.')
  const [first, ...others] = (await blocksOf('guides/backup.md', 'sh')).map(({ code }) => code)
  const [svc] = first!.split('\n')
  const [rehearse] = others.find((code) => code.startsWith('rehearse()'))!.split('rehearse restore')
  const reconcile = [svc, rehearse, 'rehearse reconcile'].join('\n')
  expect(await checkout.bash(reconcile, settings)).toContain('The books add up.')
  await asSuperuser(rehearsal.database, (db) =>
    db.query(`update ledger_accounts set balance = balance + 1
      where account_id = (select max(account_id) from ledger_accounts)`),
  )
  await expect(checkout.bash(reconcile, settings)).rejects.toThrow('exit code 1')
})

test('the guide to operating runs as printed on its own server: settings, doctor, merchant, books, backup', async () => {
  const server = await openGuideServer()
  onTestFinished(() => server.close())
  // The first block has run: it made this server.
  const [, ...blocks] = await blocksOf('guides/operate.md', 'sh')
  const printed = await checkout.bash(blocks.map(({ code }) => code).join('\n'), server.env)
  expect(printed).toContain('Corner Shop')
  expect(printed).toContain('The books add up.')
})
