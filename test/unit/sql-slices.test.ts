import { expect, test } from 'vitest'
import { sourcesOf } from '../harness/sources.ts'

/** `packages/core/src/cards/card/card.ts` is of the slice `cards`. */
const sliceOf = (file: string): string => file.split('/')[3]!
/** Tables of these may be read and joined by every slice: who is who, and where money is. */
const SHARED = new Set(['ledger', 'tenants'])
/** A payment changes its code with it, and the end of a code counts its payments. */
const TOGETHER = new Set(['payments', 'qr-codes'])
const areTogether = (...slices: readonly string[]): boolean => slices.every((slice) => TOGETHER.has(slice))

const CORE = sourcesOf(['core'])
const ownerOf = new Map(
  CORE.flatMap(({ file, text }) =>
    [...text.matchAll(/\btable\(\s*'(\w+)'/g)].map(([, table]): [string, string] => [table!, sliceOf(file)]),
  ),
)

const NAMED = /\b(?:from|join|into|update|using)\s+(?:only\s+)?([a-z_]+)\b/g

/** Tables of other slices that the SQL of a file names, as `file: table of slice`. */
const foreignTables = (file: string, text: string): string[] =>
  [...text.matchAll(NAMED)]
    .map(([, table]) => [table!, ownerOf.get(table!)] as const)
    .filter(([, owner]) => owner !== undefined && owner !== sliceOf(file) && !SHARED.has(owner))
    .filter(([, owner]) => !areTogether(sliceOf(file), owner!))
    .map(([table, owner]) => `${file}: ${table} of ${owner}`)

test('no statement of a slice names a table of another one: slices meet in the ledger, in tenants, or by events', () => {
  expect(ownerOf.size).toBeGreaterThan(15)
  expect(CORE.flatMap(({ file, text }) => foreignTables(file, text))).toEqual([])
})

test.each([
  ['select 1 from qr_codes q where true', 'qr_codes of qr-codes'],
  ['update cards c set x = 1', 'cards of cards'],
  ['select 1 from coin_lots l join users u using (user_id) join cards c using (user_id)', 'cards of cards'],
])('a statement that crosses slices is detected: %s', (sql, crossing) => {
  expect(foreignTables('packages/core/src/coins/planted.ts', sql)).toEqual([
    `packages/core/src/coins/planted.ts: ${crossing}`,
  ])
})

/** Behind row-level security no index serves such a condition before PostgreSQL 18. */
const COMPUTED_KEY = /\w+_id\s*=\s*'\w+:'\s*\|\|/

test('no statement run by tenants’ requests looks an account up by a key that it computes in the condition', () => {
  const found = sourcesOf(['core', 'server'])
    // Cards as operators alone read them, past row-level security.
    .filter(({ file, text }) => !/\/reconcile-|\/card-resource\.ts$/.test(file) && COMPUTED_KEY.test(text))
    .map(({ file }) => file)
  expect(found).toEqual([])
  expect("join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id").toMatch(COMPUTED_KEY)
})
