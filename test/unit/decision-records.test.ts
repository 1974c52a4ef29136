import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { FAILURES } from '@svc/contract/errors'
import { expect, test } from 'vitest'

const folder = new URL('../../docs/decisions/', import.meta.url)
const records = (await readdir(folder)).filter((file) => file !== 'README.md')
const textOf = (file: string) => readFile(new URL(file, folder), 'utf8')

test('every decision record has its id in the title, a question, a decision and its reason', async () => {
  expect(records.length).toBeGreaterThan(50)
  for (const file of records) {
    const text = await textOf(file)
    expect(text, file).toMatch(new RegExp(`^# ${file.split('-')[0]}: `))
    for (const part of ['Question', 'Decision', 'Why']) expect(text, file).toContain(`\n**${part}.** `)
  }
})

/** Words of a record without its title and the targets of links, as `wc -w` counts them. */
const wordsOf = (text: string): number =>
  text
    .replace(/^# .*\n/, '')
    .replace(/\]\([^)]*\)/g, ']')
    .match(/\S+/g)!.length

test('every decision record has at most 200 words', async () => {
  const words = await Promise.all(records.map(async (file) => [file, wordsOf(await textOf(file))] as const))
  expect(words.filter(([, count]) => count > 200)).toEqual([])
})

test('the list of decisions names every record, and nothing else', async () => {
  const listed = [...(await textOf('README.md')).matchAll(/\]\(([A-Z]\d+-[\w-]+\.md)\)/g)].map(
    ([, file]) => file,
  )
  expect(listed.sort()).toEqual([...records].sort())
})

test('every file that a decision record names exists', async () => {
  const named = /`((?:packages|apps|migrations|test|lab|scripts|deploy|docs|bin)\/[\w./@-]+)`/g
  for (const record of records)
    for (const [, path] of (await textOf(record)).matchAll(named))
      expect([record, path, existsSync(new URL(`../../${path}`, import.meta.url))]).toEqual([
        record,
        path,
        true,
      ])
})

test('decision F3 names the errorType of every status of a failure, and no other', async () => {
  const [, decision] = /\n\*\*Decision\.\*\* (.*)/.exec(await textOf('F3-error-types-and-statuses.md'))!
  const named = [...decision!.matchAll(/`([A-Z_]+)`([^`]*)/g)].flatMap(([, errorType, text]) =>
    [...text!.matchAll(/\b[45]\d\d\b/g)].map(([status]) => `${errorType} ${status}`),
  )
  const returned = new Set(Object.values(FAILURES).map(({ errorType, status }) => `${errorType} ${status}`))
  expect(named.sort()).toEqual([...returned].sort())
})
