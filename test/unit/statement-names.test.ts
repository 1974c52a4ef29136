import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROGRAM_PACKAGES, ROOT, sourcesOf } from '../harness/sources.ts'

const NAME = /\bstatement(?:<[^()]*?>)?\(\s*'(\w+)'/g

/** The names of statements in a text. */
const namesIn = (text: string): string[] => [...text.matchAll(NAME)].map(([, name]) => name!)

const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(ROOT, 'test', file), 'utf8'))

// A worker runs several files, and the second statement of a name throws: which tests meet depends on their order.
test('a statement of a test has a name that no other one has, nor the program', () => {
  const all = [...tests, ...sourcesOf(PROGRAM_PACKAGES).map(({ text }) => text)].flatMap(namesIn)
  expect(all.length).toBeGreaterThan(100)
  expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([])
})
