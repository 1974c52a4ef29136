import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { LIMIT_MAX, PAGE_IN_QUERY, readLimit } from '@svc/server/http/page'
import { lazyValidators } from '@svc/server/http/validator'
import { OPERATIONS } from '@svc/server/operations'
import { expect, test } from 'vitest'

const compile = lazyValidators()
const validatorOf = (schema: object) =>
  compile({ schema, method: 'POST', url: '/', httpPart: 'body' }) as (value: unknown) => boolean

test('the schemas of every operation compile: they use no format and no keyword unknown to the validator', () => {
  for (const { body, params, query } of [...OPERATIONS, ...CONSOLE_OPERATIONS])
    for (const schema of [body, params, query])
      if (schema) expect(typeof validatorOf(schema)({})).toBe('boolean')
  expect(() => validatorOf({ type: 'string', format: 'email' })('x')).toThrow(/unknown format/)
})

test('the schema of a page and its parser accept the same limits: whole numbers from 1 to the maximum', () => {
  const accepts = validatorOf(PAGE_IN_QUERY.limit)
  const reads = (limit: string) => {
    try {
      return readLimit(limit)
    } catch {
      return undefined
    }
  }
  for (let n = 0; n <= 10_000; n++)
    for (const text of [String(n), `0${n}`]) {
      const right = n >= 1 && n <= LIMIT_MAX && text === String(n)
      expect([text, accepts(text), reads(text)]).toEqual([text, right, right ? n : undefined])
    }
})
