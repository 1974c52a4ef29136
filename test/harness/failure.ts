import { expect } from 'vitest'
import { FAILURES } from '../../src/errors.ts'
import type { ApiAnswer } from './client.ts'

/** The envelope of spec section 2.2, whole, and what the headers repeat of it (decision F7). */
export function expectFailure(answer: ApiAnswer, word: keyof typeof FAILURES): void {
  const { status, errorType } = FAILURES[word]
  expect([answer.status, answer.error], answer.text).toEqual([status, word])
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.json).toMatchObject({ response_code: 1, response_message: 'Failure' })
  expect(answer.json.errorResponse).toEqual({
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    requestId: answer.headers['x-request-id'],
    errorType,
    errorMessage: answer.json.payload,
  })
  expect(JSON.parse(answer.json.payload)).toEqual({ error: word, error_description: expect.any(String) })
  expect(answer.errorDescription).not.toBe('')
}
