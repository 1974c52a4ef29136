import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let client: Client

beforeAll(async () => {
  service = await openService({ env: { QR_AMOUNT_CAPS: 'default=9999999999999.99' } })
  client = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

/** Rupees as text, of 1 to 13 digits before the point: what a caller writes, digit by digit. */
function randomRupees(index: number): string {
  const digits = Array.from({ length: 1 + (index % 13) }, () => randomInt(10)).join('')
  return `${BigInt(digits)}.${String(randomInt(1, 100)).padStart(2, '0')}`
}

test('1,000 random amounts are stored, returned and printed into the UPI string exact to the paisa', async () => {
  const amounts = Array.from({ length: 1_000 }, (_, index) => randomRupees(index))
  const responses = await Promise.all(
    amounts.map((amount) =>
      client.send('POST', '/api/v0/qr-code', `{"fixedAmount":true,"amount":${amount}}`, {
        'content-type': 'application/json',
      }),
    ),
  )
  const ids = responses.map((response) => payloadOf(response).qrCodeId as string)
  const stored = await asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query<{ qr_code_id: string; paise: string; am: string }>(
      `select qr_code_id, amount_paise::text as paise, substring(upi_uri from '[?&]am=([^&]*)') as am from qr_codes where qr_code_id = any ($1)`,
      [ids],
    )
    return new Map(rows.map((row) => [row.qr_code_id, row]))
  })
  const read = await Promise.all(ids.map((id) => client.get(`/api/v0/qr-code/${id}`)))
  for (const [i, amount] of amounts.entries()) {
    const { paise, am } = stored.get(ids[i]!)!
    expect({ paise, am }).toEqual({ paise: String(BigInt(amount.replace('.', ''))), am: amount })
    // The digits as they went over the wire, before any parser makes a double of them.
    for (const { text } of [responses[i]!, read[i]!])
      expect(Number(/"amount":([\d.]+)/.exec(text)![1]).toFixed(2)).toBe(amount)
  }
})
