import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { changeWebhook } from '@svc/console-api/faces/webhook-changes'
import { Failure } from '@svc/contract/errors'
import { expect, test } from 'vitest'
import { sourcesOf } from '../../harness/sources.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly description?: string
}

const NAMES = /^(?:k|secret|apiKey|clientSecret|.*Secret)$/

/** Paths of the fields that have a secret; those that may be absent only where asked for. */
const secretsIn = (schema: Schema, withOptional: boolean, at = ''): string[] => [
  ...Object.entries(schema.properties ?? {})
    .filter(([name]) => withOptional || (schema.required ?? []).includes(name))
    .flatMap(([name, field]) =>
      NAMES.test(name) || /shown here and never again/.test(field.description ?? '')
        ? [`${at}${name}`]
        : secretsIn(field, withOptional, `${at}${name}.`),
    ),
  ...(schema.items ? secretsIn(schema.items, withOptional, at) : []),
  ...(schema.anyOf ?? []).flatMap((each) => secretsIn(each, withOptional, at)),
]

/** Secrets of the operators themselves, and credentials that are absent in live mode. */
const OF_OPERATORS = new Set(['console.startSecondFactor'])
const ABSENT_IN_LIVE_MODE = ['console.createMerchant', 'console.createPartner']

const showing = (withOptional: boolean) =>
  CONSOLE_OPERATIONS.filter(({ result }) => secretsIn(result as Schema, withOptional).length > 0).filter(
    ({ id }) => !OF_OPERATORS.has(id),
  )

test('operations of operators that may show a secret are known', () => {
  const always = showing(false).map(({ id }) => id)
  expect(always).toContain('console.issueCredential')
  expect(
    showing(true)
      .map(({ id }) => id)
      .filter((id) => !always.includes(id))
      .sort(),
  ).toEqual(ABSENT_IN_LIVE_MODE)
})

test.each(showing(false).map((operation) => [operation.id, operation] as const))(
  'in live mode %s, whose result has a secret of a tenant, does nothing',
  (_, { errors, mount }) => {
    expect(errors).toContain('secret_not_shown')
    // Nothing of the service is used: there is nothing but the settings.
    const handle = mount({ config: { SVC_MODE: 'live' } } as never)
    expect(() => handle({} as never)).toThrow(Failure)
  },
)

test('in live mode operators stop the events of a tenant, and do not redirect them with its secret headers', async () => {
  const change = (mode: 'live' | 'sandbox', body: object) =>
    changeWebhook.mount({
      config: { SVC_MODE: mode, BUSINESS_TIME_ZONE: 'Asia/Kolkata' },
      commands: { open: () => ({ respond: async () => ({ body: 'changed' }) }) },
      database: { operate: async () => 'mer_1' },
    } as never)({ params: { endpointId: 'whe_1' }, query: {}, headers: {}, body, caller: {} } as never)
  const url = 'https://elsewhere.example/events'
  await expect(change('live', { url })).rejects.toThrow(Failure)
  expect(await change('sandbox', { url })).toEqual({ body: 'changed' })
  expect(await change('live', { enabled: false })).toEqual({ body: 'changed' })
})

test('operators’ code opens the secrets of tenants in one place, and members’ code in none but its sheet', () => {
  const opened = sourcesOf(['console-api', 'cli'])
    .filter(({ text }) => /(?:secret|Secret|\bk|sharedKey\.k)\.reveal\(\)/.test(text))
    .map(({ file }) => file)
  expect(opened.sort()).toEqual([
    // A member who issues a credential or an encryption key, or opens the link of a hand-over.
    'packages/console-api/src/faces/credential-records.ts',
    'packages/console-api/src/faces/sandbox-secret.ts',
    'packages/console-api/src/portal/encryption-key-operations.ts',
    'packages/console-api/src/portal/handover-sheet.ts',
  ])
})
