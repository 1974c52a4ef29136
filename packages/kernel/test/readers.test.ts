import { readReference } from '@svc/kernel/bank-reference'
import { CURRENCY_NAME, readAmount, readCurrency } from '@svc/kernel/money'
import { isStatusName, readDisputeOutcome, readOutcome } from '@svc/kernel/outcome-words'
import { readDay, readInstant } from '@svc/kernel/read-time'
import { isStated, type Reading, readFlag } from '@svc/kernel/reading'
import { readSignature, signatureElements } from '@svc/kernel/signature-bytes'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const INDIA = { utcOffset: '+05:30' }
const INSTANT = new Date('2026-11-27T10:53:36.000Z')
const read = <T>(reading: Reading<T>): T | string => ('value' in reading ? reading.value : reading.unreadable)

describe('amounts', () => {
  test.each([
    [249.5, 24_950n],
    ['249.50', 24_950n],
    ['249.500', 24_950n],
    ['250000.0000', 25_000_000n],
    ['1,24,950.00', 12_495_000n],
    ['124,950.00', 12_495_000n],
    ['12,34,567.8', 123_456_780n],
    ['₹ 249.50', 24_950n],
    ['Rs. 249.50', 24_950n],
    ['249.50 INR', 24_950n],
    ['.50', 50n],
    ['000000249.50', 24_950n],
    ['0249.50', 24_950n],
    ['000000024950', 'is filled with zeros, as amounts in paise are'],
    ['₹ 0249', 'is filled with zeros, as amounts in paise are'],
    ['0', 0n],
    ['249.50 Cr', 24_950n],
    ['0.00', 0n],
    ['249,50', 'has commas that are not between groups of thousands, as in 1,24,950.00 or 124,950.00'],
    ['1.249,50', 'has commas that are not between groups of thousands, as in 1,24,950.00 or 124,950.00'],
    ['249.505', 'has more than two decimals'],
    [0.1 + 0.2, 'has more than two decimals'],
    ['2.495E+02', 'is in the notation of a float, which loses digits'],
    ['-249.50', 'is below zero'],
    ['(249.50)', 'is below zero'],
    ['USD 249.50', 'is not in rupees'],
    ['$249.50', 'is not in rupees'],
    ['ten', 'is not an amount'],
    [true, 'is a truth value, not an amount'],
    [{ value: 1 }, 'is an object, not an amount'],
  ])('%j is %s', (stated, expected) => expect(read(readAmount(stated))).toBe(expected))

  test.each(['-12.00', '12.00-', '(12.00)', '12.00 Dr', '-₹12', '₹ -12.00'])('%s is signed', (stated) =>
    expect(read(readAmount(stated, { signed: true }))).toBe(-1_200n),
  )

  test.each(['+9.89 Dr', '-9.89 Cr', '-9.89 Dr', '(-9.89)', '(9.89) Dr', '+9.89-'])(
    '%s has two signs',
    (stated) => expect(readAmount(stated, { signed: true })).toHaveProperty('unreadable'),
  )

  test('paise are whole', () => {
    expect(read(readAmount('24,950', { unit: 'paise' }))).toBe(24_950n)
    expect(read(readAmount('000000024950', { unit: 'paise' }))).toBe(24_950n)
    expect(read(readAmount('24950.5', { unit: 'paise' }))).toBe('has decimals, and is in paise')
  })

  test('only rupees are rupees', () => {
    for (const name of ['orderCurrency', 'billing_currency', 'currency_iso', 'cur', 'currencyCode'])
      expect(CURRENCY_NAME.test(name), name).toBe(true)
    for (const word of ['INR', 'inr', 356, '356', '₹']) expect(read(readCurrency(word))).toBe('INR')
    for (const word of ['USD', 840, 'IDR', {}]) expect(readCurrency(word)).toHaveProperty('unreadable')
  })
})

describe('references', () => {
  test.each([
    ['432198765009', '432198765009'],
    [432_198_765_009, '432198765009'],
    ["'432198765009", '432198765009'],
    ['="432198765009"', '432198765009'],
    ['４３２１９８７６５００９', '432198765009'],
    ['hdfcr-52026 0001', 'HDFCR520260001'],
  ])('%j is %s', (stated, expected) => expect(read(readReference(stated))).toBe(expected))

  test.each([
    'undefined',
    'N/A',
    'NOT AVAILABLE',
    'NOTPROVIDED',
    'NONREF',
    'NOT FOUND',
    'TO BE UPDATED',
    'UTR NOT AVAILABLE',
    'AWAITED',
    'SUCCESS',
    'INVALID DATE',
    'XXXXXXXXXXXX',
    'XXXXXXXX5009',
    '********5009',
    '000000000000',
    '#REF!',
    '[object Object]',
    '4.32199E+11',
    '4.32198765009E11',
    '432198765009.0',
    432_198_765_009.5,
    '43219876500',
    43_219_876_500,
    '432198765009120000',
    '٤٣٢١٩٨٧٦٥٠٠٩',
    'AB1',
    true,
    {},
    [],
  ])('%j is no reference', (stated) => expect(readReference(stated)).toHaveProperty('unreadable'))

  test('a reference of a bank or network of its own has no common length, and may be a word', () => {
    const own = { min: 4, max: 64, digits: 'any' } as const
    for (const text of ['98765432', '1234', 'ADJUSTED']) expect(read(readReference(text, own))).toBe(text)
    for (const none of ['N/A', 'AB1']) expect(readReference(none, own)).toHaveProperty('unreadable')
  })
})

describe('times', () => {
  test.each([
    '2026-11-27T16:23:36+05:30',
    '2026-11-27T16:23:36+0530',
    '2026-11-27 16:23:36 +0530',
    '2026-11-27T10:53:36Z',
    '2026-11-27T16:23:36+05:30[Asia/Kolkata]',
    'Fri, 27 Nov 2026 16:23:36 +0530',
    'Fri Nov 27 16:23:36 IST 2026',
    'Fri Nov 27 2026 16:23:36 GMT+0530 (India Standard Time)',
    1_795_776_816,
    '1795776816000',
  ])('%j names its zone', (stated) => expect(read(readInstant(stated))).toEqual(INSTANT))

  test.each([
    '2026-11-27T16:23:36',
    '2026-11-27 16:23:36.0',
    '20261127162336',
    '27-11-2026 16:23:36',
    '27/11/26 16:23:36',
    '27-Nov-2026 4:23:36 PM',
  ])('%j is read with an offset only', (stated) => {
    expect(read(readInstant(stated))).toBe('has no zone')
    expect(read(readInstant(stated, INDIA))).toEqual(INSTANT)
  })

  test.each([
    '2026-02-30T00:00:00Z',
    '2026-11-27T24:00:00Z',
    '11/27/2026 10:00',
    '46353',
    '',
    0,
    'yesterday',
    {},
  ])('%j is no instant', (stated) => expect(readInstant(stated, INDIA)).toHaveProperty('unreadable'))
})

describe('days and patterns', () => {
  test('a pattern decides what is ambiguous', () => {
    const compact = { ...INDIA, pattern: 'ddMMyyyyHHmmss' }
    expect(read(readInstant('27112026162336', compact))).toEqual(INSTANT)
    expect(read(readDay('11/27/2026', 'Asia/Kolkata', { pattern: 'MM/dd/yyyy' }))).toBe('2026-11-27')
    for (const other of ['11-12-2026', '11/12/26'])
      expect(readDay(other, 'Asia/Kolkata', { pattern: 'MM/dd/yyyy' })).toHaveProperty('unreadable')
    for (const other of ['2026-11-27', '27-Nov-2026'])
      expect(read(readDay(other, 'Asia/Kolkata', { pattern: 'MM/dd/yyyy' }))).toBe('2026-11-27')
  })

  test.each([
    '2026-11-27',
    '27-11-2026',
    '27/11/2026',
    '27/11/26',
    '27-Nov-2026',
    '20261127',
    '27 November 2026 04:23 PM',
    '2026-11-26T18:30:00Z',
    1_795_776_816,
  ])('%j is a day in India', (stated) => expect(read(readDay(stated, 'Asia/Kolkata'))).toBe('2026-11-27'))

  test('whatever a clock of the service writes is read back', () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date('2001-09-10T00:00:00Z'),
          max: new Date('2286-01-01T00:00:00Z'),
          noInvalidDate: true,
        }),
        (at) => {
          expect(read(readInstant(at.toISOString()))).toEqual(at)
          expect(read(readInstant(at.getTime()))).toEqual(at)
        },
      ),
    )
  })
})

describe('statuses', () => {
  test.each([
    ['SUCCESS', 'success'],
    ['TXN_SUCCESS', 'success'],
    ['payment.captured', 'success'],
    ['DEEMED', 'not_yet'],
    ['TIMEOUT', 'not_yet'],
    ['Cancelled', 'failed'],
    ['Charge Back', 'gone_back'],
    ['REVERSED', 'gone_back'],
  ] as const)('%s is %s', (word, outcome) =>
    expect(readOutcome(word, 'payment')).toMatchObject({ value: { outcome } }),
  )

  test('the status of something else is none', () => {
    expect(readOutcome('REFUND_SUCCESS', 'payment')).toHaveProperty('unreadable')
    expect(readOutcome('REFUND_SUCCESS', 'refund')).toMatchObject({ value: { word: 'SUCCESS' } })
    expect(readOutcome('TRANSFER_FAILED', 'payment')).toHaveProperty('unreadable')
    expect(readOutcome('TRANSFER_FAILED', 'transfer')).toMatchObject({ value: { outcome: 'failed' } })
    expect(readOutcome({}, 'payment')).toHaveProperty('unreadable')
  })

  test.each([
    ['transferStatus', 'transfer'],
    ['Transfer Status', 'payout'],
    ['payout_status', 'payout'],
    ['refundStatus', 'refund'],
    ['dispute_status', 'dispute'],
    ['chargebackStatus', 'dispute'],
    ['settlementStatus', 'settlement'],
    ['tranStatus', 'transfer'],
    ['trn_status', 'payment'],
    ['bankStatus', 'payment'],
    ['npci_txn_state', 'payment'],
    ['captureStatus', 'payment'],
  ] as const)('%s is the status of a %s', (name, of) => {
    expect(isStatusName(name, of)).toBe(true)
  })

  test('the status of something else is no status', () => {
    for (const name of ['refundStatus', 'settlement_status', 'kycStatus', 'state'])
      expect(isStatusName(name, 'payment'), name).toBe(false)
  })

  test('disputes have words of their own; those that do not say by whom are unknown', () => {
    expect(read(readDisputeOutcome('under_review'))).toBe('OPEN')
    expect(read(readDisputeOutcome('DISPUTE_MERCHANT_WON'))).toBe('WON')
    for (const word of ['accepted', 'rejected', 'x'])
      expect(readDisputeOutcome(word)).toHaveProperty('unreadable')
  })
})

describe('signatures', () => {
  const bytes = new Uint8Array(32).map((_, i) => i * 7)
  const hex = Buffer.from(bytes).toString('hex')

  test('hex in any case and both alphabets of Base64 are the same bytes', () => {
    for (const text of [
      hex,
      hex.toUpperCase(),
      ` sha256=${hex} `,
      `sha512=${hex}`,
      `"${hex}"`,
      Buffer.from(bytes).toString('base64'),
      Buffer.from(bytes).toString('base64url'),
    ])
      expect([...(readSignature(text, 32) as { value: Uint8Array }).value]).toEqual([...bytes])
    for (const text of ['', hex.slice(2), `${hex}00`, 'nothing'])
      expect(readSignature(text, 32)).toHaveProperty('unreadable')
  })

  test('spaces, empty and unknown elements of a header do no harm', () =>
    expect(Object.fromEntries(signatureElements(' T=5, v1=aa,,v2=x ,v1=bb==,'))).toEqual({
      t: ['5'],
      v1: ['aa', 'bb=='],
      v2: ['x'],
    }))
})

test('absent, null and blank text are one thing, zero and false are not', () => {
  for (const value of [undefined, null, '', '  ', '\u200b\ufeff']) expect(isStated(value)).toBe(false)
  for (const value of [0, false, '0', [], {}]) expect(isStated(value)).toBe(true)
  expect(['Y', 'true', 1].map((value) => read(readFlag(value)))).toEqual([true, true, true])
  expect(readFlag('maybe')).toHaveProperty('unreadable')
})
