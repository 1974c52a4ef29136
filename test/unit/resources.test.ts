import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reader, Resource } from '@svc/server/http/resource'
import { PARTS, RESOURCES } from '@svc/server/resources'
import { describe, expect, test } from 'vitest'
import { ROOT, sourcesOf } from '../harness/sources.ts'

type Schema = Readonly<Record<string, unknown>>
interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: Readonly<Record<string, Schema>> }>>
  }
}

const documentOf = (file: string) =>
  JSON.parse(readFileSync(join(ROOT, 'docs/reference', file), 'utf8')) as Document

/** The record that each reader gets, as its own document publishes it. */
const PUBLISHED: Readonly<Record<Reader, Document>> = {
  tenant: documentOf('openapi.json'),
  operator: documentOf('console-openapi.json'),
}

const published = ({ titles }: Resource<never>, reader: Reader) =>
  PUBLISHED[reader].components.schemas[titles[reader] ?? '']?.properties ?? {}

// Merchants and partners are read by operators alone.
const OF_TENANTS = Object.entries<Resource<never>>({ ...RESOURCES, ...PARTS }).filter(
  ([, { titles }]) => titles.tenant !== undefined,
)

describe.each(OF_TENANTS)('%s', (_, noun: Resource<never>) => {
  const operatorOnly = Object.entries(noun.fields).filter(([, field]) => field.operatorOnly)

  test('tenants and operators get the same fields under the same names and types', () => {
    const [tenant, operator] = [published(noun, 'tenant'), published(noun, 'operator')]
    expect(Object.keys(tenant).length).toBeGreaterThan(0)
    for (const [name, schema] of Object.entries(tenant)) expect(operator[name], name).toEqual(schema)
    expect(Object.keys(operator).sort()).toEqual(
      [...Object.keys(tenant), ...operatorOnly.map(([name]) => name)].sort(),
    )
  })

  test('no field for operators alone reaches a tenant', () => {
    for (const [name] of operatorOnly) expect(Object.keys(published(noun, 'tenant'))).not.toContain(name)
  })

  test('whatever an operator filters by, a tenant can within its own records', () => {
    const withheld = Object.entries(noun.filters).flatMap(([name, { operatorOnly: is }]) =>
      is ? [name] : [],
    )
    // Which tenant is no question to a tenant, and `q` finds by what other filters or the tenant’s own lists show.
    expect(withheld.filter((name) => !['merchantId', 'partnerId', 'tenantId', 'q'].includes(name))).toEqual(
      [],
    )
  })
})

/** Statements that read, outside of resources. A noun that becomes a resource lowers the number; nothing raises it. */
const READS = 163

test('no list or record of a noun is read by more SQL of its own', () => {
  // What opens alerts, and what adds up, is no list of a noun.
  const sources = sourcesOf(['server', 'console-api']).filter(
    ({ file }) => !/\/(?:alerts\/|portal\/home-|figure)/.test(file),
  )
  const reads = sources.flatMap(({ text }) => text.match(/[`'"]\s*(?:with|select)\s/g) ?? [])
  expect(reads.length).toBeLessThanOrEqual(READS)
})
