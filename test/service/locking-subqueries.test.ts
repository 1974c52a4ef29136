import { expect, test } from 'vitest'
import { asSuperuser, newDatabase } from '../harness/service.ts'
import { PROGRAM_PACKAGES, sourcesOf } from '../harness/sources.ts'

/** The text from an opening parenthesis to its end. */
function parenthesised(text: string, from: number): string {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')' && --depth === 0) return text.slice(from, at + 1)
  }
  return text.slice(from)
}

/**
 * Subqueries behind `in` that lock rows. A plan may read one for each row of the table, and each time it passes over
 * the rows that this statement has changed: its limit limits nothing. `= any (array(select …))` is read once.
 */
const readOften = (sql: string): string[] =>
  [...sql.matchAll(/\bin\s*(?=\(\s*select\b)/gi)]
    .map(({ index, 0: { length } }) => parenthesised(sql, index + length))
    .filter((subquery) => /\bfor\s+(?:no\s+key\s+)?(?:update|share)\b/i.test(subquery))

test('no statement of the program reads a subquery that locks rows more than once', () => {
  const found = sourcesOf(PROGRAM_PACKAGES).flatMap(({ file, text }) =>
    readOften(text).map((subquery) => `${file}: ${subquery}`),
  )
  expect(found).toEqual([])
})

test('no function of the database does either', async () => {
  const { database } = await newDatabase()
  const functions = await asSuperuser(database, async (admin) => {
    const { rows } = await admin.query<{ name: string; text: string }>(
      `select proname::text as name, prosrc as text from pg_proc where pronamespace = 'svc'::regnamespace`,
    )
    return rows
  })
  expect(functions.length).toBeGreaterThan(50)
  const found = functions.flatMap(({ name, text }) =>
    readOften(text).map((subquery) => `${name}: ${subquery}`),
  )
  expect(found).toEqual([])
})

test.each([
  'update a set b = 1 where c in (select c from a order by (d + 1) limit $1 for update skip locked)',
  'delete from a where (c, d) in (\n  select c, d from a limit 5 for no key update)',
])('such a subquery is detected: %s', (sql) => {
  expect(readOften(sql)).toHaveLength(1)
})

test.each([
  'update a set b = 1 where c = any (array(select c from a limit $1 for update skip locked))',
  'select c from a where c in (select d from b limit 5) for update',
])('no other is detected: %s', (sql) => {
  expect(readOften(sql)).toEqual([])
})
