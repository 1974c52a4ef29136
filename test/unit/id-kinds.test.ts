import { EXAMPLES } from '@svc/app/examples'
import { ID_KINDS } from '@svc/contract/id-kinds'
import { expect, test } from 'vitest'
import { PROGRAM_PACKAGES, sourcesOf } from '../harness/sources.ts'

const ID = /^([a-z]+)_[0-9a-z]{16,}$/

/** The fields of all worked examples that have an id, by its prefix. */
function fieldsByPrefix(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  const walk = (value: unknown, field: string): void => {
    if (typeof value === 'string') {
      // A tenant is a merchant or a partner.
      const prefix = field === 'tenantId' ? undefined : ID.exec(value)?.[1]
      if (prefix !== undefined) found.set(prefix, (found.get(prefix) ?? new Set()).add(field))
    } else if (Array.isArray(value)) value.forEach((item) => walk(item, field))
    else if (value !== null && typeof value === 'object')
      for (const [name, item] of Object.entries(value)) walk(item, name)
  }
  walk(EXAMPLES, '')
  return found
}

test('every prefix of an id names one kind of object: in all examples it is in the fields of that kind only', () => {
  const found = fieldsByPrefix()
  expect(found.size).toBeGreaterThan(10)
  for (const [prefix, fields] of found) {
    const kind = (ID_KINDS as Record<string, { fields: readonly string[] }>)[prefix]
    expect(kind, `${prefix} in ${[...fields].join()}`).toBeDefined()
    expect(
      [...fields].filter((field) => !kind!.fields.includes(field)),
      prefix,
    ).toEqual([])
  }
})

test('two kinds share neither a description nor a field, except the cursor of a page', () => {
  const kinds = Object.values(ID_KINDS)
  expect(new Set(kinds.map(({ of }) => of)).size).toBe(kinds.length)
  const fields = kinds
    .flatMap(({ fields: names }) => names as readonly string[])
    .filter((name) => name !== 'after')
  expect(new Set(fields).size).toBe(fields.length)
})

test('a prefix that the sources put before random characters directly is registered, too', () => {
  const written = sourcesOf(PROGRAM_PACKAGES).flatMap(({ text }) =>
    [...text.matchAll(/`([a-z]+)_\$\{(?:sortableId|base32)\(/g)].map(([, prefix]) => prefix!),
  )
  expect(written).toContain('req')
  expect(written.filter((prefix) => !Object.hasOwn(ID_KINDS, prefix))).toEqual([])
})
