import { checkUpiUri, isFit } from '@svc/upi-qr/upi-check'
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

const brokenRules = (text: string) =>
  checkUpiUri(text)
    .filter(({ ok, level }) => !ok && level === 'error')
    .map(({ rule }) => rule)
const verdictOf = (rule: string, text: string) =>
  checkUpiUri(text).find((finding) => finding.rule === rule)?.ok

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
      expect(parseUpiUri(upiUri({ ...parts, multipleUse }))).not.toHaveProperty('mam')
    }
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
    ['of 60 characters is cut where apps cut it', 'x'.repeat(60), 'x'.repeat(50)],
    ['is not cut within a character', `${'x'.repeat(49)}👨‍👩‍👧 and more`, 'x'.repeat(49)],
    ['of blanks is none', ' \t\u3000\u200b', undefined],
    ['of one character that is longer than a note is none', `a${'\u0301'.repeat(60)}`, undefined],
  ])('a note that %s', (_, note, shown) => {
    expect(parseUpiUri(upiUri({ ...parts, note }))?.tn).toBe(shown)
  })

  test('one paisa is 0.01 and a crore keeps both decimals', () => {
    expect(amountText(1n)).toBe('0.01')
    expect(amountText(1_000_000_000n)).toBe('10000000.00')
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

describe('checking a scanned string', () => {
  test.each([
    ['a VPA without @', 'upi://pay?pa=ashastores&pn=Asha', 'pa-form'],
    ['an amount of −5', 'upi://pay?pa=asha@upi&pn=Asha&am=-5', 'am-positive'],
    ['an amount of 1e9', 'upi://pay?pa=asha@upi&pn=Asha&am=1e9', 'am-form'],
    ['MCC abc', 'upi://pay?pa=asha@upi&pn=Asha&mc=abc', 'mc-form'],
    ['another scheme', 'https://pay?pa=asha@upi&pn=Asha', 'scheme'],
    ['no payee', 'upi://pay?pn=Asha', 'pa-present'],
    ['an empty payee', 'upi://pay?pa=&pn=Asha', 'pa-present'],
    ['no name', 'upi://pay?pa=asha@upi', 'pn-present'],
    ['an amount with a comma', 'upi://pay?pa=asha@upi&pn=Asha&am=1,000.00', 'am-form'],
    ['an amount with three decimals', 'upi://pay?pa=asha@upi&pn=Asha&am=5.000', 'am-form'],
    ['a minimum that is no number', 'upi://pay?pa=asha@upi&pn=Asha&am=5.00&mam=any', 'mam-form'],
    ['an amount of zero', 'upi://pay?pa=asha@upi&pn=Asha&am=0.00', 'am-positive'],
    ['a minimum without an amount', 'upi://pay?pa=asha@upi&pn=Asha&mam=1.00', 'mam-needs-am'],
    ['dollars', 'upi://pay?pa=asha@upi&pn=Asha&cu=USD', 'cu-inr'],
    ['stored-value load', 'upi://pay?pa=asha@upi&pn=Asha&mc=6540', 'mc-not-6540'],
    ['a reference of 36', `upi://pay?pa=asha@upi&pn=Asha&tr=${'a'.repeat(36)}`, 'tr-length'],
    ['the payee twice', 'upi://pay?pa=asha@upi&pn=Asha&pa=eve@upi', 'no-duplicate-parameters'],
    ['a coded line break', 'upi://pay?pa=asha@upi&pn=As%0Aha', 'no-control-characters'],
    ['half an escape', 'upi://pay?pa=asha@upi&pn=100%', 'well-formed-percent'],
    ['an escape that is not UTF-8', 'upi://pay?pa=asha@upi&pn=%E0%A4', 'well-formed-percent'],
    ['a bare #', 'upi://pay?pa=asha@upi&pn=Shop#1', 'no-fragment'],
    ['a signature before the end', 'upi://pay?pa=asha@upi&sign=MEQ=&pn=Asha', 'sign-last'],
    ['a text longer than any code', `upi://pay?pa=asha@upi&pn=${'a'.repeat(8000)}`, 'text-length'],
    ['nothing at all', '', 'scheme'],
  ])('%s makes a string invalid', (_, text, rule) => {
    expect(brokenRules(text)).toContain(rule)
  })

  test.each([
    ['+ for a space', 'upi://pay?pa=asha@upi&pn=Asha+Stores', 'encoding-space'],
    ['%40 for @', 'upi://pay?pa=asha%40upi&pn=Asha', 'encoding-at'],
    ['Devanagari as it is', 'upi://pay?pa=asha@upi&pn=आशा', 'encoding-ascii'],
    ['capitals in the scheme', 'UPI://PAY?pa=asha@upi&pn=Asha', 'scheme-case'],
    ['a mode that nobody defined', 'upi://pay?pa=asha@upi&pn=Asha&mode=77', 'mode-known'],
    ['a dynamic code without amount', 'upi://pay?pa=asha@upi&pn=Asha&tr=1&mode=15', 'mode-fits'],
    ['a secure code without signature', 'upi://pay?pa=asha@upi&pn=Asha&mode=02', 'mode-signed'],
    ['an amount without decimals', 'upi://pay?pa=asha@upi&pn=Asha&am=200', 'am-decimals'],
    ['an amount with one decimal', 'upi://pay?pa=asha@upi&pn=Asha&am=5.0', 'am-decimals'],
    ['an amount with leading zeros', 'upi://pay?pa=asha@upi&pn=Asha&am=005.00', 'am-decimals'],
    ['an empty amount', 'upi://pay?pa=asha@upi&pn=Asha&am=', 'no-empty-parameters'],
    ['a minimum of null', 'upi://pay?pa=asha@upi&pn=Asha&am=5.00&mam=null', 'no-empty-parameters'],
    ['a minimum of null without amount', 'upi://pay?pa=asha@upi&pn=Asha&mam=null', 'no-empty-parameters'],
    ['a minimum without decimals', 'upi://pay?pa=asha@upi&pn=Asha&am=5.00&mam=1', 'mam-decimals'],
    ['a minimum above the amount', 'upi://pay?pa=asha@upi&pn=Asha&am=5.00&mam=6.00', 'mam-within-am'],
    ['a category of null', 'upi://pay?pa=asha@upi&pn=Asha&mc=null', 'no-empty-parameters'],
    ['an empty currency', 'upi://pay?pa=asha@upi&pn=Asha&cu=', 'no-empty-parameters'],
    ['a name of 101', `upi://pay?pa=asha@upi&pn=${'a'.repeat(101)}`, 'pn-form'],
    ['a note of 51', `upi://pay?pa=asha@upi&pn=Asha&tn=${'a'.repeat(51)}`, 'tn-form'],
    ['a note of blanks', 'upi://pay?pa=asha@upi&pn=Asha&tn=%20%20', 'tn-form'],
    ['a name that is shown backwards', 'upi://pay?pa=asha@upi&pn=%E2%80%AEahsA', 'no-direction-overrides'],
    ['a parameter that nobody defined', 'upi://pay?pa=asha@upi&pn=Asha&zz=1', 'known-parameters'],
  ])('%s is reported and leaves the string valid', (_, text, rule) => {
    expect(verdictOf(rule, text)).toBe(false)
    expect(isFit(checkUpiUri(text))).toBe(true)
  })

  test('codes as found in practice are valid', () => {
    const wild = [
      'upi://pay?ver=01&mode=15&pa=asha@upi&pn=Asha&tr=A1&am=10.00&cu=INR&qrMedium=04',
      'upi://pay?pa=asha@upi&pn=Asha&mode=02&purpose=00&orgid=159761&sign=MEUCIQ+/abc==',
      'upi://pay?pa=asha@upi&pn=Asha&tn=Signed&am=&mam=null&cu=INR&tr=A1&mode=00&orgid=158002&sign=MEUCIQ==',
      'upi://pay?pa=asha@upi&pn=98&mc=null&tid=null&tr=A1&tn=A1&am=200&mam=null&cu=INR&url=null',
    ]
    expect(wild.flatMap(brokenRules)).toEqual([])
    expect(verdictOf('encoding-space', wild[1] ?? '')).toBe(true)
  })

  test('any text at all gets a verdict', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, prefixed) => {
        const whole = prefixed ? `upi://pay?${text}` : text
        expect(checkUpiUri(whole).length).toBeGreaterThan(0)
        if (isFit(checkUpiUri(whole))) expect(parseUpiUri(whole)).toBeDefined()
      }),
    )
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
