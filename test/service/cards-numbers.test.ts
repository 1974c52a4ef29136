import { randomBytes } from 'node:crypto'
import type { RandomBytes } from '@svc/kernel/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { asPartner, countRows, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const BIN = '99991234'
let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService({ env: { CARD_BIN: BIN, TENANT_QUEUE_MAX: '5000' } })
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(() => service.close())

/** The check of ISO/IEC 7812-1 by a table of doubled digits: another implementation than the one under test. */
function passesLuhn(number: string): boolean {
  const doubled = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]
  const digits = [...number].map(Number)
  return digits.reduce((sum, d, i) => sum + ((number.length - i) % 2 === 0 ? doubled[d]! : d), 0) % 10 === 0
}

test('the check of this file recognises numbers known to be valid and invalid', () => {
  for (const good of ['4111111111111111', '5500005555555559', '378282246310005', '79927398713'])
    expect(passesLuhn(good), good).toBe(true)
  for (const bad of ['4111111111111112', '5500005555555595', '79927398710'])
    expect(passesLuhn(bad), bad).toBe(false)
})

interface Encrypted {
  svc_card_id: string
  number_encrypted: Buffer
  number_digest: Buffer
  masked_number: string
}

const encryptedNumbers = async (database: string): Promise<Encrypted[]> =>
  (
    await asSuperuser(database, (db) =>
      db.query<Encrypted>(
        'select svc_card_id, number_encrypted, number_digest, masked_number from cards order by 1',
      ),
    )
  ).rows

test('5,000 cards have 5,000 numbers: 16 digits of the BIN, Luhn-valid, unique, encrypted for their card', async () => {
  let sent = 0
  const masks = new Map<string, string>()
  const caller = async () => {
    while (sent++ < 5_000) {
      const card = payloadOf(await createCard(client, partner, { userId: partner.userId, loadAmount: 1 }))
      masks.set(card.svcCardId, card.maskedNumber)
    }
  }
  await Promise.all(Array.from({ length: 100 }, caller))
  const { keyring } = service.app.services
  const rows = await encryptedNumbers(service.db.database)
  expect(rows).toHaveLength(5_000)
  const numbers = new Set<string>()
  for (const {
    svc_card_id: id,
    number_encrypted: encrypted,
    number_digest: digest,
    masked_number: mask,
  } of rows) {
    const number = keyring.open('card_number', encrypted, id).toString()
    numbers.add(number)
    if (!/^99991234\d{8}$/.test(number) || !passesLuhn(number))
      expect.fail('a number is not of its BIN or not valid')
    expect(encrypted.includes(number.slice(6))).toBe(false)
    expect(digest).toEqual(keyring.digest('card_number_digest', number))
    expect(mask).toBe(`${number.slice(0, 6)}XXXXXX${number.slice(-4)}`)
    expect(masks.get(id)).toBe(mask)
  }
  expect(numbers.size).toBe(5_000)
  const [first, second] = rows
  expect(() => keyring.open('card_number', first!.number_encrypted, second!.svc_card_id)).toThrow()
  expect(() => keyring.open('card_number', second!.number_encrypted, first!.svc_card_id)).toThrow()
}, 300_000)

/** Of the three numbers drawn for a card the first two are drawn by everybody, again and again; the third is one's own. */
function crowded(own: number): RandomBytes {
  let draws = 0
  return (size) => {
    if (size !== 16) return randomBytes(size)
    const digits = draws % 3 < 2 ? draws % 7 : 1_000_000 * own + draws
    draws++
    return Uint8Array.from(String(digits).padStart(9, '0').padEnd(16, '0'), Number)
  }
}

test('numbers already in use are skipped, also when two services draw the same ones at once', async () => {
  const first = await openService({ random: crowded(1) })
  const second = await openService({ random: crowded(2), db: first.db })
  const own = await newPartner(first)
  const callers = await Promise.all([first, second].map(({ client: http }) => asPartner(http, own)))
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      createCard(callers[i % 2]!, own, { userId: own.userId, loadAmount: 1 }, { 'idempotency-key': `k${i}` }),
    ),
  )
  for (const response of responses) payloadOf(response)
  const { keyring } = first.app.services
  const rows = await encryptedNumbers(first.db.database)
  const numbers = rows.map((row) =>
    keyring.open('card_number', row.number_encrypted, row.svc_card_id).toString(),
  )
  expect(new Set(numbers).size).toBe(100)
  // The seven that everybody draws were taken once each.
  expect(numbers.filter((number) => /^99991200000000\d/.test(number)).length).toBe(7)
  await Promise.all([first.close(), second.close()])
})

test('when every drawn number is in use, the order fails and writes nothing', async () => {
  const constant = await openService({
    random: (size) => (size === 16 ? new Uint8Array(16) : randomBytes(size)),
  })
  const own = await newPartner(constant)
  const caller = await asPartner(constant.client, own)
  payloadOf(await createCard(caller, own, { userId: own.userId }))
  const before = await countRows(constant.db.database)
  const response = await createCard(caller, own, { mobile: '9000000001' })
  expect([response.status, response.error]).toEqual([500, 'internal_error'])
  expect(await countRows(constant.db.database)).toEqual(before)
  await constant.close()
})
