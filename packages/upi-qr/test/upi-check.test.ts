import { checkUpiUri, isFit } from '@svc/upi-qr/upi-check'
import { parseUpiUri } from '@svc/upi-qr/upi-uri'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const brokenRules = (text: string) =>
  checkUpiUri(text)
    .filter(({ ok, level }) => !ok && level === 'error')
    .map(({ rule }) => rule)
const verdictOf = (rule: string, text: string) =>
  checkUpiUri(text).find((finding) => finding.rule === rule)?.ok

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

describe('checking a string that some apps may not read', () => {
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
})
