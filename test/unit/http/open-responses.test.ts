import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { CONSOLE_DOCUMENT } from '@svc/console-api/console-schema'
import { PORTAL_DOCUMENT, PORTAL_DOCUMENTED } from '@svc/console-api/portal/portal-operations'
import { FAILURES } from '@svc/contract/errors'
import { EVENT_TYPES, EVENTS } from '@svc/contract/events'
import { FIELD_RULES } from '@svc/contract/field-errors'
import { ALL_SCOPES } from '@svc/contract/scopes'
import { API_DOCUMENT } from '@svc/server/api-document'
import { type About, openApiDocument } from '@svc/server/http/openapi'
import type { Operation } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../../harness/sources.ts'

type Json = Readonly<Record<string, unknown>>
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Json }>>>>
  readonly components: Readonly<Record<'schemas' | 'responses', Readonly<Record<string, Json>>>>
}

const documentOf = (operations: readonly Operation[], about: About) =>
  openApiDocument(operations, about, 'http://127.0.0.1:8080', {}) as unknown as Document

const API = documentOf(OPERATIONS as readonly Operation[], API_DOCUMENT)
const DOCUMENTS = [
  ['API', API],
  ['console', documentOf(CONSOLE_OPERATIONS as readonly Operation[], CONSOLE_DOCUMENT)],
  ['portal', documentOf(PORTAL_DOCUMENTED as readonly Operation[], PORTAL_DOCUMENT)],
] as const

/** Calls `visit` with every node and the names on the way to it, through references too, each once. */
function walk(document: Document, from: unknown, visit: (node: Json, way: readonly string[]) => void): void {
  const seen = new Set<string>()
  const step = (node: unknown, way: readonly string[]): void => {
    if (node === null || typeof node !== 'object') return
    const { $ref } = node as { readonly $ref?: unknown }
    const [, kind, name] = /^#\/components\/(schemas|responses)\/(\w+)$/.exec(String($ref)) ?? []
    if (name !== undefined && !seen.has(`${kind} ${name}`)) {
      seen.add(`${kind} ${name}`)
      step(document.components[kind as 'schemas' | 'responses'][name], [name])
    }
    if (!Array.isArray(node)) visit(node as Json, way)
    for (const [key, value] of Object.entries(node))
      if (key !== 'examples' && key !== 'example') step(value, [...way, key])
  }
  step(from, [])
}

const responsesOf = ({ paths }: Document): unknown[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods).map(({ responses }) => responses))

const GROWING = [Object.keys(FAILURES), EVENT_TYPES, FIELD_RULES, ALL_SCOPES].map(
  (values) => new Set<unknown>(values),
)

describe.each(DOCUMENTS)('the document of the %s', (_, document) => {
  test('has no closed list of values that may be added in a response: error codes, event types, rules, scopes, reasons', () => {
    const closed: string[] = []
    const open = new Set<string>()
    walk(document, responsesOf(document), (node, way) => {
      const values = node['enum'] ?? node['x-extensible-enum']
      if (!Array.isArray(values)) return
      const field = way.findLast((name) => !/^(?:items|anyOf|oneOf|allOf|\d+)$/.test(name)) ?? ''
      const grows = /reason$/i.test(field) || GROWING.some((set) => values.every((value) => set.has(value)))
      if (grows && node['enum']) closed.push(way.join('.'))
      if (grows) open.add(field)
    })
    expect(closed).toEqual([])
    expect([...open]).toEqual(expect.arrayContaining(['error', 'rule', 'types', 'reason']))
  })

  test('writes maps with `additionalProperties`, which every client generator supports', () => {
    const found: string[] = []
    walk(document, document, (node, way) => {
      if ('patternProperties' in node) found.push(way.join('.'))
    })
    expect(found).toEqual([])
  })
})

test('requests keep their closed lists: a value unknown to the service is rejected', () => {
  const { types } = API.components.schemas['CreateWebhookEndpointRequest']!['properties'] as Json
  expect((types as { readonly items: Json }).items['enum']).toEqual(EVENT_TYPES)
})

test('the page of events names the schemas that `data` has in the document', () => {
  const page = readFileSync(join(ROOT, 'docs/reference/events.md'), 'utf8')
  const stored = JSON.parse(readFileSync(join(ROOT, 'docs/reference/openapi.json'), 'utf8')) as Document
  const named = Object.fromEntries(
    [...page.matchAll(/^\| <a id="([\w.]+)">.*\| ([^|]*) \|$/gm)].map(([, type, data]) => [
      type,
      [...data!.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    ]),
  )
  const inDocument = Object.fromEntries(
    Object.keys(EVENTS).map((type) => {
      const name = `${type.replace(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase())}Event`
      const { data } = stored.components.schemas[name]!['properties'] as Json
      const names = [...JSON.stringify(data).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, ref]) => ref)
      return [type, names]
    }),
  )
  expect(named).toEqual(inDocument)
})
