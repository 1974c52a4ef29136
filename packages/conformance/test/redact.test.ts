import { Redactor } from '@svc/conformance/redact'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const hiding = (...secrets: readonly (readonly [secret: string, name: string])[]): Redactor => {
  const redactor = new Redactor()
  for (const [secret, name] of secrets) redactor.hide(secret, name)
  return redactor
}

test('a secret of fewer than eight characters garbles no report', () => {
  const redactor = hiding(['a', 'MERCHANT_API_KEY'], ['pay', 'MERCHANT_ACCESS_KEY'], ['merchan', 'OTHER'])
  const text = 'expected payload.status CANCELLED, received a payment of the merchant'
  expect(redactor.redact(text)).toBe(text)
})

test('a secret of eight to fifteen characters is replaced as a whole word only', () => {
  const redactor = hiding(['merchant', 'MERCHANT_ACCESS_KEY'])
  expect(redactor.redact('merchantAccessKey: merchant')).toBe('merchantAccessKey: $MERCHANT_ACCESS_KEY')
  expect(redactor.redact('"merchant","premerchant"')).toBe('"$MERCHANT_ACCESS_KEY","premerchant"')
})

test('a secret of sixteen characters and more is replaced wherever it occurs, also after a JSON escape', () => {
  const secret = 'Zx81+/=.secret-16'
  const redactor = hiding([secret, 'TOKEN'])
  expect(redactor.redact(JSON.stringify(`no\n${secret}`))).toBe('"no\\n$TOKEN"')
  expect(redactor.redact(`x${secret}x`)).toBe('x$TOKENx')
  expect(redactor.redact(new URLSearchParams({ secret }).toString())).toBe('secret=$TOKEN')
})

test('a secret that contains another one gets its own name, and no name is redacted again', () => {
  const inner = 'inner-secret-of-20-ch'
  const redactor = hiding([inner, 'INNER'], [`name=${inner}`, 'COOKIE'], ['MERCHANT_TOKEN', 'INNER'])
  redactor.hide('another-secret-that-is-long', 'MERCHANT_TOKEN')
  expect(redactor.redact(`${inner} name=${inner} another-secret-that-is-long`)).toBe(
    '$INNER $COOKIE $MERCHANT_TOKEN',
  )
})

test('whatever the secrets and the text around them, no secret of sixteen characters and more is left', () => {
  const secret = fc.string({ minLength: 16, maxLength: 40, unit: 'grapheme-ascii' })
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 5 }),
      fc.array(fc.string()),
      (secrets, around) => {
        const redactor = hiding(...secrets.map((one, i) => [one, `S${i}`] as const))
        const text = secrets.map((one, i) => `${around[i] ?? ''}${one}`).join(' | ')
        const shown = redactor.redact(text)
        for (const one of secrets) expect(shown).not.toContain(one)
      },
    ),
  )
})
