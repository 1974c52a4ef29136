import { checkUpiUri } from '@svc/upi-qr/upi-check'
import {
  amountText,
  isMcc,
  isNote,
  isPayeeName,
  isTransactionRef,
  isVpa,
  parseUpiUri,
  shownNote,
  type UpiParts,
  upiUri,
} from '@svc/upi-qr/upi-uri'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const parts: UpiParts = {
  vpa: 'asha.stores@okaxis',
  name: 'Asha Stores',
  mcc: '5411',
  tr: 'QR0198f3c2a7b4',
  note: 'Counter 1',
  amountPaise: 14950n,
  fixedAmount: true,
  multipleUse: false,
}

/** Reads a query the plain way, with nothing of ours or of `URL`. */
const readPlainly = (uri: string) =>
  Object.fromEntries(
    uri
      .slice('upi://pay?'.length)
      .split('&')
      .map((pair) => pair.split('=').map(decodeURIComponent)),
  )

const awkward = fc.constantFrom(
  ...'नक्षत्र"\'&#%+@=?/\\ 🍵é<>;,()!*~`​'.split(''),
  '👨‍👩‍👧',
  '%20',
  '%40',
  '+',
  'श्री',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u3000',
)
const phrase = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
    fc.string({ unit: awkward, minLength: 1, maxLength: 100 }),
  )
  .map((text) => [...text].slice(0, 100).join(''))
/** As a merchant may have been named before overrides were refused. */
const payeeName = phrase
  .filter(isPayeeName)
  .chain((name) => fc.constantFrom(name, `\u202e${name}`.slice(0, 100), [...name].join('\u2067')))
const partsArbitrary = fc.record({
  vpa: fc.stringMatching(/^[A-Za-z0-9._-]{2,40}@[a-z]{2,20}$/),
  name: payeeName,
  mcc: fc.stringMatching(/^[0-9]{4}$/).filter((mcc) => mcc !== '6540'),
  tr: fc.stringMatching(/^[A-Za-z0-9]{1,35}$/),
  note: fc.option(phrase, { nil: undefined }),
  amountPaise: fc.option(fc.bigInt(1n, 10n ** 12n), { nil: undefined }),
  fixedAmount: fc.boolean(),
  multipleUse: fc.boolean(),
})

describe('building', () => {
  test('the parameters are in the agreed order, with %20 for a space and a literal @', () => {
    expect(upiUri(parts)).toBe(
      'upi://pay?pa=asha.stores@okaxis&pn=Asha%20Stores&mc=5411&tr=QR0198f3c2a7b4&tn=Counter%201&am=149.50&cu=INR&mode=15',
    )
  })

  const withoutOverrides = (text: string) => text.replace(/[\u202A-\u202E\u2066-\u2069]/gu, '')

  test('whatever the name and the note contain, they are read back as payers see them', () => {
    fc.assert(
      fc.property(partsArbitrary, (generated) => {
        const uri = upiUri(generated)
        const { note, amountPaise } = generated
        const tn = note === undefined ? undefined : shownNote(note)
        const wanted = {
          pa: generated.vpa,
          pn: withoutOverrides(generated.name),
          mc: generated.mcc,
          tr: generated.tr,
          ...(tn !== undefined && { tn }),
          ...(amountPaise !== undefined && { am: amountText(amountPaise) }),
          ...(amountPaise !== undefined && !generated.fixedAmount && { mam: '0.01' }),
          cu: 'INR',
          mode: generated.multipleUse || amountPaise === undefined ? '01' : '15',
        }
        expect(readPlainly(uri)).toEqual(wanted)
        expect(parseUpiUri(uri)).toEqual(wanted)
        // Nothing that a payer sees of a short note is lost.
        const seen = withoutOverrides(note ?? '')
        if (isNote(seen)) expect(tn).toBe(seen)
        else if (tn !== undefined) expect(seen.startsWith(tn)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('strings that the package builds are plain ASCII, and the doctor has not one word against them', () => {
    fc.assert(
      fc.property(partsArbitrary, (generated) => {
        const uri = upiUri(generated)
        expect(uri).toMatch(/^upi:\/\/pay\?[A-Za-z0-9=&%@._~-]+$/)
        expect(checkUpiUri(uri).filter(({ ok }) => !ok)).toEqual([])
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['a VPA without @', { vpa: 'asha.stores' }],
    ['a VPA of 256 characters', { vpa: `${'a'.repeat(250)}@okaxi` }],
    ['an amount of −5', { amountPaise: -500n }],
    ['an amount of zero', { amountPaise: 0n }],
    ['an amount beyond any payment', { amountPaise: 10n ** 18n }],
    ['MCC abc', { mcc: 'abc' }],
    ['the MCC of stored-value load', { mcc: '6540' }],
    ['a reference of 36 characters', { tr: 'a'.repeat(36) }],
    ['a reference that would need encoding', { tr: 'a&am=1' }],
    ['a blank name', { name: '  ' }],
    ['a name of 101 characters', { name: 'न'.repeat(101) }],
    ['a name with half a character', { name: 'a\uD83C' }],
    ['a name that nobody can see', { name: '\u200b\u202e' }],
  ])('%s is rejected', (_, broken) => {
    expect(() => upiUri({ ...parts, ...broken })).toThrow(/breaks its rule/)
  })
})

describe('the amount and the mode', () => {
  test('one paisa is 0.01 and a crore keeps both decimals', () => {
    expect(amountText(1n)).toBe('0.01')
    expect(amountText(1_000_000_000n)).toBe('10000000.00')
  })

  test('a code without amount or note has neither am nor tn, and a code for many uses has mode 01', () => {
    const uri = upiUri({ ...parts, note: undefined, amountPaise: undefined, multipleUse: true })
    expect(uri).toBe(
      'upi://pay?pa=asha.stores@okaxis&pn=Asha%20Stores&mc=5411&tr=QR0198f3c2a7b4&cu=INR&mode=01',
    )
  })

  test('a code for one use without an amount is static: dynamic modes need am', () => {
    const uri = upiUri({ ...parts, note: undefined, amountPaise: undefined, fixedAmount: false })
    expect(uri).toBe(
      'upi://pay?pa=asha.stores@okaxis&pn=Asha%20Stores&mc=5411&tr=QR0198f3c2a7b4&cu=INR&mode=01',
    )
  })

  test('apps let the payer change a suggested amount, by mam, and lock a fixed one, which has none', () => {
    for (const multipleUse of [true, false]) {
      const suggested = parseUpiUri(upiUri({ ...parts, fixedAmount: false, multipleUse }))
      expect(suggested).toMatchObject({ am: '149.50', mam: '0.01' })
      const least = upiUri({ ...parts, fixedAmount: false, minimumPaise: 10_000n, multipleUse })
      expect(parseUpiUri(least)).toMatchObject({ am: '149.50', mam: '100.00' })
      expect(parseUpiUri(upiUri({ ...parts, multipleUse }))).not.toHaveProperty('mam')
    }
  })
})

describe('a note', () => {
  test.each([
    ['of 60 characters is cut where apps cut it', 'x'.repeat(60), 'x'.repeat(50)],
    ['is not cut within a character', `${'x'.repeat(49)}👨‍👩‍👧 and more`, 'x'.repeat(49)],
    ['of blanks is none', ' \t\u3000\u200b', undefined],
    ['of one character that is longer than a note is none', `a${'\u0301'.repeat(60)}`, undefined],
  ])('%s', (_, note, shown) => {
    expect(parseUpiUri(upiUri({ ...parts, note }))?.tn).toBe(shown)
  })
})

describe('the rules of the parts', () => {
  test.each(['asha@upi', '9876543210@ybl', 'a.b-c_d@okhdfcbank', '1234@HDFC0000001.ifsc.npci'])(
    '%s is a VPA',
    (vpa) => {
      expect(isVpa(vpa)).toBe(true)
    },
  )
  test.each([
    'asha',
    '@upi',
    'asha@',
    'a b@upi',
    'asha@upi@upi',
    'asha@upi&am=1',
    'asha@1',
    'asha@upi\n',
    '',
  ])('%j is not a VPA', (vpa) => {
    expect(isVpa(vpa)).toBe(false)
  })
  test('lengths count characters as users see them, not halves of an emoji', () => {
    expect(isPayeeName('🍵'.repeat(100))).toBe(true)
    expect(isPayeeName('🍵'.repeat(101))).toBe(false)
  })
  test('a hundred thousand hostile characters are checked at once', () => {
    const hostile = [
      'a'.repeat(1e5),
      `${'a'.repeat(252)}@`.repeat(400),
      ' '.repeat(1e5),
      `${'9'.repeat(1e5)}.`,
    ]
    const before = process.cpuUsage()
    for (const text of hostile) {
      for (const rule of [isVpa, isMcc, isTransactionRef, isNote, isPayeeName]) rule(text)
      checkUpiUri(`upi://pay?${text}`)
    }
    // Of the processor: what else the machine does takes none of it.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
  })
})

describe('reading', () => {
  test.each([
    ['another scheme', 'upi://mandate?pa=asha@upi&pn=Asha'],
    ['a parameter twice', 'upi://pay?pa=asha@upi&pn=Asha&pa=eve@upi'],
    ['broken escapes', 'upi://pay?pa=asha@upi&pn=%zz'],
    ['no payee', 'upi://pay?pn=Asha'],
  ])('%s is not read', (_, text) => {
    expect(parseUpiUri(text)).toBeUndefined()
  })
  test('a parameter named __proto__ is an ordinary parameter', () => {
    const fields = parseUpiUri('upi://pay?pa=asha@upi&pn=Asha&__proto__=x')
    expect(Object.keys(fields ?? {})).toContain('__proto__')
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype)
  })
})
