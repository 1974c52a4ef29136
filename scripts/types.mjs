// Builds the SDK's and the console's types from the stored OpenAPI documents, when a document changed since the last time.
// `npm ci` and `npm run check` run it; nothing that it writes is stored.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

/**
 * @typedef {object} Operation
 * @property {{ name: string, required?: boolean }[]} parameters
 * @property {{ content: Record<string, unknown> }} [requestBody]
 * @property {Record<string, { description?: string, content?: Record<string, unknown> }>} responses
 */
/** @typedef {{ paths: Record<string, Record<string, Operation>> }} Document */

/** Fields that the client adds to every request that needs them. */
const SENT_BY_THE_CLIENT = new Set(['partnerId', 'SVCSESSION', 'Cookie'])
const KEY = 'Idempotency-Key'

/**
 * The SDK's view: without what the client does by itself, such as the form in which it sends a JWE. It reports every
 * failure in one way, so all of an operation's are one here.
 * @param {Document} document
 */
function forTheSdk(document) {
  for (const methods of Object.values(document.paths))
    for (const operation of Object.values(methods)) {
      operation.parameters = operation.parameters.filter(({ name }) => !SENT_BY_THE_CLIENT.has(name))
      delete operation.responses['200']?.content?.['application/jose']
      const { content } = operation.requestBody ?? {}
      if (content?.['application/jose']) content['application/json'] = content['application/jose']
      const responses = Object.entries(operation.responses)
      const failure = responses.find(([status]) => status >= '400')?.[1]
      operation.responses = Object.fromEntries(responses.filter(([status]) => status < '400'))
      if (failure) operation.responses['default'] = { ...failure, description: 'Failure' }
    }
  return document
}

/**
 * The pages' view: what can be sent with a key is sent with one. A change without a key does not compile.
 * @param {Document} document
 */
function forAPage(document) {
  for (const methods of Object.values(document.paths))
    for (const { parameters } of Object.values(methods))
      for (const parameter of parameters) if (parameter.name === KEY) parameter.required = true
  return document
}

/**
 * The type of a text of which the values so far are known: a union of them, so that an editor completes them and a
 * comparison with a wrong one does not compile. Nothing rejects a later value when a program runs.
 * @param {object} schema
 */
function knownValues(schema) {
  const values = /** @type {{ 'x-extensible-enum'?: readonly string[] }} */ (schema)['x-extensible-enum']
  if (!values) return undefined
  const { factory } = ts
  return factory.createUnionTypeNode(
    values.map((value) => factory.createLiteralTypeNode(factory.createStringLiteral(value))),
  )
}

/** The page's own type of keys, so that only a form's key fits. */
const withFormKeys = (/** @type {string} */ types, /** @type {string} */ module) =>
  `import type { FormKey } from '${module}'\n\n${types.replaceAll(`"${KEY}": string`, `"${KEY}": FormKey`)}`

const TYPES = [
  { of: 'docs/reference/openapi.json', into: 'packages/sdk/src/schema.ts', view: forTheSdk },
  {
    of: 'docs/reference/console-openapi.json',
    into: 'apps/console/src/api-types.ts',
    view: forAPage,
    finish: (/** @type {string} */ types) => withFormKeys(types, './form-key.ts'),
  },
  {
    of: 'docs/reference/portal-openapi.json',
    into: 'apps/console/src/portal/api-types.ts',
    view: forAPage,
    finish: (/** @type {string} */ types) => withFormKeys(types, '../form-key.ts'),
  },
]

const root = new URL('../', import.meta.url)
const program = readFileSync(new URL(import.meta.url))
for (const { of, into, view, finish = (/** @type {string} */ types) => types } of TYPES) {
  const document = readFileSync(new URL(of, root))
  const digest = createHash('sha256').update(program).update(document).digest('hex')
  const head = `// Built from ${of} by scripts/types.mjs: ${digest}\n`
  const file = new URL(into, root)
  let previous = ''
  try {
    previous = readFileSync(file, 'utf8')
  } catch {
    // Not built yet.
  }
  if (previous.startsWith(head)) continue
  const types = await openapiTS(/** @type {never} */ (view(JSON.parse(document.toString()))), {
    silent: true,
    transform: knownValues,
  })
  writeFileSync(file, head + finish(astToString(types)))
}
