import { FAILURES } from '@svc/contract/errors'
import { expect } from 'vitest'
import type { ApiResponse } from './client.ts'

/** The envelope of spec section 2.2, whole, and what the headers repeat of it (decision F7). */
export function expectFailure(response: ApiResponse, code: keyof typeof FAILURES): void {
  const { status, errorType } = FAILURES[code]
  expect([response.status, response.error], response.text).toEqual([status, code])
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.json).toMatchObject({ response_code: 1, response_message: 'Failure' })
  expect(response.json.errorResponse).toEqual({
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    requestId: response.headers['x-request-id'],
    errorType,
    errorMessage: response.json.payload,
  })
  expect(JSON.parse(response.json.payload)).toEqual({ error: code, error_description: expect.any(String) })
  expect(response.errorDescription).not.toBe('')
}
