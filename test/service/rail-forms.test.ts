import { gzipSync } from 'node:zlib'
import { FAILURES } from '@svc/contract/errors'
import { signNotice } from '@svc/server/http/notice-signature'
import { isRail } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  asSuperuser,
  BANK_RAIL_KEY,
  CARD_RAIL_KEY,
  openService,
  RAIL_KEY,
  type TestService,
} from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const KEYS: Record<string, string> = { rail: RAIL_KEY, bankRail: BANK_RAIL_KEY, cardRail: CARD_RAIL_KEY }
const YEARS_MS = 20 * 365 * 86_400_000
const RAILS = OPERATIONS.filter(isRail)

/** What is stored of a message that cannot be read is acknowledged; a terminal that waits gets a decision (decision R1). */
const DECIDED = new Set(['authorizeCard', 'inquireCardBalance'])
const expectStored = (id: string, { status, text }: { status: number; text: string }): void => {
  expect(status, text).toBe(DECIDED.has(id) ? 200 : 202)
  if (DECIDED.has(id))
    expect(JSON.parse(text).payload).toMatchObject({ status: 'declined', responseCode: '30' })
}

interface Form {
  readonly query?: string
  /** Names and values in turn: a name may come twice. */
  readonly headers?: readonly string[]
  readonly encode?: (text: Buffer) => Buffer
  /** How far the time of its signature is off. */
  readonly offMs?: number
}

/** What banks, gateways and proxies put around a message. */
const FORMS: Record<string, Form> = {
  'a field in its query': { query: '?source=prod' },
  'a hundred fields in its query': { query: `?${'x=1&'.repeat(150)}` },
  'a name of 33 characters as its bank': { query: `?bank=${'b'.repeat(33)}` },
  'two banks': { query: '?bank=a&bank=a' },
  'a NUL in its query': { query: '?bank=a%00&%00=%00' },
  'a query that is not well-formed': { query: '?bank=%E0%A4%A&&=&__proto__=1&?#' },
  'an Idempotency-Key with a space': { headers: ['idempotency-key', 'of the bank'] },
  'an Idempotency-Key of 300 characters': { headers: ['idempotency-key', 'k'.repeat(300)] },
  'headers that come twice': {
    headers: ['authorization', 'api-key', 'partnerid', 'idempotency-key', 'content-type'].flatMap((name) => [
      name,
      'a',
      name,
      'b',
    ]),
  },
  'a media type that is none': { headers: ['content-type', 'json'] },
  'an empty media type': { headers: ['content-type', ''] },
  'a charset that is none': { headers: ['content-type', 'application/json; charset=; q'] },
  'media types that it accepts': { headers: ['accept', 'application/jose, text/plain;q=0'] },
  'a body that is compressed': { headers: ['content-encoding', 'gzip'], encode: gzipSync },
  'a signature of twenty years ago': { offMs: -YEARS_MS },
  'a signature of a time to come': { offMs: YEARS_MS },
}

const send = async (path: string, auth: string, text: string, form: Form) => {
  const { query = '', headers = [], encode, offMs = 0 } = form
  const body = encode ? encode(Buffer.from(text)) : Buffer.from(text)
  const signature = signNotice(body, KEYS[auth]!, service.clock.now() + offMs)
  const { statusCode, body: answer } = await request(`${service.baseUrl}${path}${query}`, {
    method: 'POST',
    headers: ['x-rail-signature', signature, ...headers],
    body,
  })
  return { status: statusCode, text: await answer.text() }
}

const stored = (): Promise<number> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      'select (select count(*) from rail_notices) + (select count(*) from card_exceptions) as count',
    )
    return Number(rows[0].count)
  })

describe.each(RAILS.map(({ id, path, auth }) => [id, path, auth] as const))('%s', (id, path, auth) => {
  test.each(Object.entries(FORMS))('stores a signed message with %s', async (what, form) => {
    const before = await stored()
    const response = await send(path, auth, JSON.stringify({ remarks: `${id} with ${what}` }), form)
    expectStored(id, response)
    expect(await stored()).toBe(before + 1)
  })

  test('stores a signed message without a body', async () => {
    for (const headers of [[], ['content-type', 'application/json']]) {
      expectStored(id, await send(path, auth, '', { headers }))
    }
  })

  test('stores every signed message of a sender that has one Idempotency-Key for all', async () => {
    const before = await stored()
    for (const n of [1, 2]) {
      const text = JSON.stringify({ remarks: `${id} number ${n}` })
      expectStored(id, await send(path, auth, text, { headers: ['idempotency-key', 'constant'] }))
    }
    expect(await stored()).toBe(before + 2)
  })
})

test('the error of a wrong signature states no age, since none is too old', () => {
  const { description, ...rest } = FAILURES.invalid_signature
  expect([description, JSON.stringify(rest)].join()).not.toMatch(/too old|minute/)
})
