import { WRAPPING_NAMES } from '@svc/contract/payload-string'
import { API_DOCUMENT } from '@svc/server/api-document'
import { openApiDocument } from '@svc/server/http/openapi'
import type { Operation } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'

const { paths } = openApiDocument(
  OPERATIONS as readonly Operation[],
  API_DOCUMENT,
  'http://127.0.0.1:8080',
  {},
) as {
  readonly paths: Record<string, Record<string, { readonly requestBody: Body }>>
}
interface Body {
  readonly content: Record<string, { readonly schema: { readonly contentSchema: object } }>
}

test('the document shows every form in which the creation of a card accepts its JWE (decision C2)', () => {
  const { content } = paths['/api/v0/partner/svcCard']!['post']!.requestBody
  expect(Object.keys(content)).toEqual(['application/json', 'application/jose'])
  const accepts = (mediaType: string, body: unknown): boolean => {
    const { contentSchema, ...schema } = content[mediaType]!.schema
    expect(contentSchema).toEqual({ $ref: '#/components/schemas/GiftCardOrder' })
    return new Ajv2020({ strict: false }).validate(schema, body)
  }
  for (const body of ['eyJ', ...WRAPPING_NAMES.map((name) => ({ [name]: 'eyJ' }))])
    expect(accepts('application/json', body)).toBe(true)
  expect(WRAPPING_NAMES).toEqual(['payload', 'request', 'data', 'encryptedPayload'])
  for (const body of [
    {},
    { payload: 'eyJ', note: 'x' },
    { data: 'eyJ', request: 'eyJ' },
    { jwe: 'eyJ' },
    { companyId: 'com_1' },
    ['eyJ'],
  ])
    expect(accepts('application/json', body)).toBe(false)
  expect([accepts('application/jose', 'eyJ'), accepts('application/jose', { payload: 'eyJ' })]).toEqual([
    true,
    false,
  ])
})
