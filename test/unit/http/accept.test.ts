import { preferredType, prefersProblem } from '@svc/server/http/accept'
import { expect, test } from 'vitest'
import { PROGRAM_PACKAGES, sourcesOf } from '../../harness/sources.ts'

const JOSE = 'application/jose'
const JSON_TYPE = 'application/json'

test.each([
  [undefined, JSON_TYPE],
  ['', JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['application/*', JSON_TYPE],
  ['application/json, application/jose', JSON_TYPE],
  ['application/jose, application/json', JOSE],
  ['application/json, application/jose, application/problem+json, */*', JSON_TYPE],
  ['application/jose, application/problem+json', JOSE],
  ['application/jose;q=0.5, application/json', JSON_TYPE],
  ['application/json;q=0.5, application/jose', JOSE],
  ['application/json; q=0.5 , application/jose;q=0.501', JOSE],
  ['*/*;q=0.9, application/jose;q=0.8', JSON_TYPE],
  ['*/*, application/jose', JOSE],
  ['*/*;q=0.1, application/jose', JOSE],
  ['application/jose;q=0', JSON_TYPE],
  ['Application/JOSE', JOSE],
  ['text/html, image/png', JSON_TYPE],
])('Accept: %s prefers %s of JSON and JOSE', (accept, type) => {
  expect(preferredType({ accept }, [JSON_TYPE, JOSE])).toBe(type)
})

test('a failure is problem details only where the caller prefers them to JSON', () => {
  const chosen = (accept: string) => prefersProblem({ accept })
  expect(
    [
      'application/problem+json',
      'application/problem+json, application/json',
      'text/csv, application/problem+json',
    ].map(chosen),
  ).toEqual([true, true, true])
  expect(
    [
      'application/json, application/problem+json',
      '*/*',
      'application/problem+json;q=0.5, application/json',
    ].map(chosen),
  ).toEqual([false, false, false])
})

test('nothing but accept.ts reads Accept', () => {
  const READS = /headers(?:\?)?\.accept\b|headers\??(?:\.)?\[['"]accept['"]\]|\bnegotiator\b/i
  const readers = sourcesOf(PROGRAM_PACKAGES)
    .filter(({ text }) => READS.test(text))
    .map(({ file }) => file)
  expect(readers).toEqual(['packages/server/src/http/accept.ts'])
})
