import { bestMasked } from '@svc/upi-qr/qr-mask'
import * as fc from 'fast-check'
import { create, type QRCodeErrorCorrectionLevel } from 'qrcode'
import { describe, expect, test } from 'vitest'

const segmentsOf = (text: string) => [{ data: new TextEncoder().encode(text), mode: 'byte' as const }]
const modulesOf = ({ data }: { readonly data: Uint8Array }) => Buffer.from(data).toString('hex')

/** What the library draws when it looks at every module of all eight symbols by itself. */
const theirs = (text: string, level: QRCodeErrorCorrectionLevel) =>
  create(segmentsOf(text), { errorCorrectionLevel: level })
const ours = (text: string, level: QRCodeErrorCorrectionLevel) => bestMasked(segmentsOf(text), level)

describe.each(['M', 'L'] as const)('at correction level %s', (level) => {
  test('a symbol of any text is, module for module, the one that the library draws', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }), (text) => {
        expect(modulesOf(ours(text, level))).toBe(modulesOf(theirs(text, level).modules))
      }),
      { numRuns: 150 },
    )
  })

  test('so is a symbol under each of the eight masks', () => {
    const masks = new Set<number | undefined>()
    // Some masks suit one text of hundreds; these are fixed texts among which each of them is chosen.
    for (let number = 0; number < 400; number++) {
      const text = String(number * 7919)
      const drawn = theirs(text, level)
      masks.add(drawn.maskPattern)
      expect(modulesOf(ours(text, level))).toBe(modulesOf(drawn.modules))
    }
    expect(masks.size).toBe(8)
  })

  test('so is a symbol of each of the forty sizes', () => {
    const sizes = new Set<number>()
    // Larger sizes hold so much more that steps may grow with them.
    for (let length = 1; sizes.size < 40; length += 4 + Math.floor(length / 40)) {
      const text = Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * length) % 89))).join('')
      const drawn = theirs(text, level)
      if (sizes.has(drawn.modules.size)) continue
      sizes.add(drawn.modules.size)
      expect(modulesOf(ours(text, level))).toBe(modulesOf(drawn.modules))
    }
  })
})
