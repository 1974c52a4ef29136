import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyCheckout } from '../harness/checkout.ts'
import { PROGRAM_PACKAGES, ROOT, sourcesOf } from '../harness/sources.ts'

const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
const copies: string[] = []
afterAll(() => copies.forEach((copy) => rmSync(copy, { recursive: true, force: true })))

/** A copy of the sources with these files put among them. */
function copyWith(offences: Record<string, string>): string {
  const copy = mkdtempSync(join(tmpdir(), 'svc-architecture-'))
  copies.push(copy)
  copyCheckout(copy, ['packages', 'test/harness', 'package.json', ...SETTINGS])
  for (const [file, text] of Object.entries(offences)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), text)
  }
  return copy
}
const SETTINGS = ['tsconfig.json', 'tsconfig.base.json', '.dependency-cruiser.cjs']

interface Violation {
  rule: { name: string }
  from: string
}

/** Each breaks a rule, and is put among a copy of the sources. */
const OFFENCES: Readonly<Record<string, string>> = {
  'packages/kernel/src/a.ts': `import 'node:fs'`,
  'packages/core/src/ledger/a.ts': `import '../qr-codes/qr-code.ts'`,
  'packages/core/src/tenants/a.ts': `import '../cards/card/card.ts'`,
  'packages/core/src/a-new-slice/a.ts': `import '../coins/wallet.ts'`,
  'packages/server/src/http/a.ts': `import '../operations.ts'`,
  'packages/server/src/http/b.ts': `import '@svc/core/ledger/accounts'`,
  'packages/server/src/cards/a.ts': `import '../sandbox/demo.ts'`,
  'packages/core/src/qr-codes/a.ts': `import '../../../../test/harness/engines.ts'`,
  'packages/core/src/qr-codes/b.ts': `import 'fast-check'`,
  'packages/core/src/qr-codes/c.ts': `import './d.ts'`,
  'packages/core/src/qr-codes/d.ts': `import './c.ts'`,
  'packages/core/src/qr-codes/e.ts': `import './nowhere.ts'`,
  'packages/core/src/qr-codes/f.ts': `import '../payments/payment.ts'`,
  'packages/core/src/payments/a.ts': `import '../cards/card/card.ts'`,
}

/** What the rules say of the sources and of these files among them. */
let violations: readonly Violation[]
beforeAll(() => {
  const args = [CRUISER, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'packages']
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: copyWith(OFFENCES),
    encoding: 'utf8',
    maxBuffer: 2 ** 27,
  })
  const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } }
  violations = summary.violations
}, 300_000)

/** As `rule: file`, of those that are put among the sources or of the others. */
const found = (planted: boolean): string[] =>
  violations
    .filter(({ from }) => from in OFFENCES === planted)
    .map(({ rule, from }) => `${rule.name}: ${from}`)
    .sort()

test('no file imports against the arrows of the design', () => {
  expect(found(false)).toEqual([])
})

test('every arrow is reported when a file imports against it', () => {
  expect(found(true)).toEqual([
    'everything-resolves: packages/core/src/qr-codes/e.ts',
    'http-knows-no-product: packages/server/src/http/a.ts',
    'http-knows-no-product: packages/server/src/http/b.ts',
    'kernel-does-no-io: packages/kernel/src/a.ts',
    'ledger-knows-no-slice: packages/core/src/ledger/a.ts',
    'no-circles: packages/core/src/qr-codes/c.ts',
    'no-dev-packages: packages/core/src/qr-codes/b.ts',
    'packages-stand-alone: packages/core/src/qr-codes/a.ts',
    'payments-know-their-codes: packages/core/src/payments/a.ts',
    'server-knows-no-sandbox: packages/server/src/cards/a.ts',
    'slices-do-not-meet: packages/core/src/a-new-slice/a.ts',
    'slices-do-not-meet: packages/core/src/qr-codes/f.ts',
    'tenants-know-no-slice: packages/core/src/tenants/a.ts',
  ])
})

test('the raw URL of a request is recorded or forwarded, and used for nothing else: guards decide by the matched route', () => {
  const readers = sourcesWith(/\b(?:request|req|raw)\.(?:url|originalUrl)\b/)
  // One records the path, one reads the whole query of a signed notice, one forwards to the pages of the reference.
  expect(readers).toEqual([
    'packages/console-api/src/records/request-log.ts',
    'packages/server/src/http/notice-form.ts',
    'packages/server/src/http/reference.ts',
  ])
})

/** The sources that contain the pattern. */
const sourcesWith = (pattern: RegExp): string[] =>
  sourcesOf(PROGRAM_PACKAGES)
    .filter(({ text }) => pattern.test(text))
    .map(({ file }) => file)
    .sort()

const HIDDEN_PART = /new WeakMap<\s*(?:\w*Services|Metrics|App|Config|Database|Keyring|FastifyInstance)\b/

test('no module stores a part of the service by the composition that it belongs to: parts are created by name', () => {
  expect(sourcesWith(HIDDEN_PART)).toEqual([])
})

test.each([
  'const opened = new WeakMap<Services, Sessions>()',
  'const opened = new WeakMap<ConsoleServices, Sessions>()',
  'const timers = new WeakMap<Metrics, Map<string, Timer>>()',
  'const checks = new WeakMap<\n  Services,\n  BackgroundCheck<Verdict>\n>()',
])('a part that is stored by its composition is detected: %s', (text) => {
  expect(text).toMatch(HIDDEN_PART)
})

test('repeated work runs in a `Loop`', () => {
  // The embedded PostgreSQL is watched before there are metrics.
  expect(sourcesWith(/\bsetInterval\(/)).toEqual(['packages/app/src/installation.ts'])
})

const TENANT = '(?:tenant|partner|merchant)(?:Id|_id)\\b'
const HOLE = '\\$\\{[^{}]*\\}'
const TENANT_HOLE = `\\$\\{[^{}]*${TENANT}[^{}]*\\}`
/** How a tenant and an id become one text: side by side in a template, added up, joined, or as JSON of a list. */
const JOINED = [
  `${TENANT_HOLE}\\W{0,3}${HOLE}`,
  `${HOLE}\\W{0,3}${TENANT_HOLE}`,
  `[\\w.]*${TENANT}\\s*\\+(?![+=])`,
  `(?<!\\+)\\+\\s*[\\w.]*${TENANT}`,
  `\\[[^\\][]*${TENANT}[^\\][]*\\]\\s*\\.join\\(`,
  `JSON\\.stringify\\(\\s*\\[[^\\][]*${TENANT}`,
].map((pattern) => new RegExp(pattern, 'g'))

const joinedIn = (text: string): string[] => JOINED.flatMap((pattern) => text.match(pattern) ?? [])

test('commands that move money or change who may act do so in an operator’s name: the machine account is for the others', () => {
  const inNameOfAccount = sourcesOf(['cli']).flatMap(({ file, text }) =>
    text.includes('cliActor(') ? [file.split('/').at(-1)] : [],
  )
  expect(inNameOfAccount.sort()).toEqual([
    // By the login that owns the databases of the cells.
    'cell-commands.ts',
    // Where nothing asks who acts, and a sandbox.
    'command-caller.ts',
    'context.ts',
    'move-command.ts',
    'signed-in-operator.ts',
    // Of a dry run, which records nothing.
    'statement-import.ts',
  ])
})

test('no tenant and id are joined into a key: state is looked up by tenant, then by id', () => {
  const found = sourcesOf(PROGRAM_PACKAGES).flatMap(({ file, text }) =>
    joinedIn(text).map((joined) => `${file}: ${joined}`),
  )
  expect(found.sort()).toEqual([
    // Contexts of encryption and of an HMAC: nothing is looked up by them.
    'packages/console-api/src/portal/member-store.ts: ${tenantId} ${secret}',
    // What a link holds: each request begins in its tenant.
    'packages/console-api/src/portal/member-store.ts: ${tenantId}.${secret}',
    // What an authenticator lists.
    'packages/console-api/src/portal/portal-face.ts: ${name} · ${await nameOfTenant(services, tenantId)}',
    'packages/core/src/tenants/jwe-keys.ts: ${partnerId} ${kid}',
    'packages/core/src/tenants/jwe-keys.ts: ${partnerId} ${kid}',
    'packages/platform/src/db/idempotency-store.ts: ${tenantId} ${route}',
    'packages/server/src/access/partner-session.ts: ${partnerId} ${session}',
    // Two columns of printed text.
    'packages/server/src/sandbox/banner.ts: ${demo.merchant.merchantId}  ${dim(demo.merchant.vpa)}',
    'packages/server/src/sandbox/banner.ts: ${demo.otherMerchant.merchantId}  ${dim(demo.otherMerchant.vpa)}',
  ])
})

test.each([
  'state.get(`${tenantId} ${id}`)',
  'state.get(`${id}/${command.tenantId}`)',
  'const keyOf = (row) => `${row.partner_id}:${row.company_id}`',
  'known.has(`id ${partnerId} ${userId}`)',
  "const key = merchantId + ' ' + code.qrCodeId",
  "const key = id + '/' + row.tenant_id",
  "[tenantId, route, key].join(' ')",
  'JSON.stringify([card.partnerId, svcCardId])',
])('a key of tenant and id is detected: %s', (text) => {
  expect(joinedIn(text)).not.toEqual([])
})
