import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, inflateSync } from 'node:zlib'
import { diagnose } from '@svc/upi-qr/qr-doctor'
import { qrPng } from '@svc/upi-qr/qr-image'
import { isPayeeName, parseUpiUri, upiUri } from '@svc/upi-qr/upi-uri'
import * as fc from 'fast-check'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'

const codeFor = (name: string, note = name, tr = 'QR0198f3c2a7b47d1e9c3f5a6b7c8d9e0') =>
  upiUri({ vpa: 'asha.stores@okaxis', name, mcc: '5411', tr, note, amountPaise: 14950n, multipleUse: false })
/** `qr`, by another author than the encoder. */
const secondDecoder = (png: Buffer) => diagnose({ image: png }).text ?? ''

function chunksOf(png: Buffer) {
  const chunks: { type: string; data: Buffer; sum: number; sumOfBytes: number }[] = []
  for (let at = 8; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at)
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, end),
      sum: png.readUInt32BE(end),
      sumOfBytes: crc32(png.subarray(at + 4, end)),
    })
    at = end + 4
  }
  return chunks
}

describe('what a scanner reads', () => {
  test.each([
    ['in Devanagari', 'आशा किराना भंडार'],
    ['with quotes, & and #', `Tea & "Sons" #1 O'Neil`],
    ['with % and +', '100% + tax'],
    ['with emoji', 'चाय 🍵 👨‍👩‍👧'],
  ])('a name %s is read unchanged by a second decoder', (_, name) => {
    const text = codeFor(name)
    const read = secondDecoder(qrPng(text))
    expect(read).toBe(text)
    expect(parseUpiUri(read)).toMatchObject({ pn: name, tn: name })
  })

  test.each([
    ['a hundred Devanagari letters', 'न'.repeat(100)],
    ['a hundred emoji', '🍵'.repeat(100)],
    ['fifty emoji between fifty letters', 'a🍵'.repeat(50)],
  ])('name and note of %s fit and are read unchanged', (_, name) => {
    const text = codeFor(name)
    expect(secondDecoder(qrPng(text))).toBe(text)
  })

  test('every one of 200 codes with plain names is read by the second decoder', () => {
    const texts = Array.from({ length: 200 }, (_, i) => codeFor('Asha Stores', `Counter ${i}`, `QR${i}`))
    expect(texts.map((text) => secondDecoder(qrPng(text)))).toEqual(texts)
  })

  test('a text too long for correction level M falls back to L and is read', () => {
    const text = 'a'.repeat(2900)
    expect(secondDecoder(qrPng(text))).toBe(text)
  })

  test('a text too long for any code is rejected', () => {
    expect(() => qrPng('a'.repeat(2954))).toThrow()
  })

  test('an independent scanner (zbar) reads 200 codes with odd names', ({ skip }) => {
    const missing = spawnSync('zbarimg', ['--version']).error !== undefined
    skip(missing, 'zbarimg is not installed (Debian: zbar-tools)')

    const awkward = fc.constantFrom(
      ...Array.from('नक्षत्र"\'&#%+@=?/\\ é<>;,()'),
      '🍵',
      '👨‍👩‍👧',
      '%20',
      'Shop ',
    )
    const oddNames = fc
      .oneof(
        fc.string({ unit: awkward, minLength: 1, maxLength: 40 }),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
        fc.constantFrom('न'.repeat(100), '🍵'.repeat(100), '%'.repeat(100), 'A'),
      )
      .map((name) => [...name].slice(0, 100).join(''))
      .filter(isPayeeName)
    const texts = fc
      .sample(oddNames, { numRuns: 200, seed: 20 })
      .map((name, i) => codeFor(name, name, `QR${i}`))

    const folder = mkdtempSync(join(tmpdir(), 'qr-'))
    try {
      const files = texts.map((text, i) => {
        const file = join(folder, `${String(i).padStart(3, '0')}.png`)
        writeFileSync(file, qrPng(text))
        return file
      })
      const options = ['--nodbus', '--quiet', '--raw', '-Sdisable', '-Sqrcode.enable']
      // Exit code 4 says that some file had no code: the comparison below says it better.
      const read = spawnSync('zbarimg', [...options, ...files], { encoding: 'utf8' }).stdout
      expect(read.trimEnd().split('\n')).toEqual(texts)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }, 60_000)
})

describe('the file', () => {
  const png = qrPng(codeFor('Asha Stores', 'Counter 1'))
  const [header, pixels] = chunksOf(png)
  const side = header?.data.readUInt32BE(0) ?? 0

  test('is a 1-bit grayscale PNG with correct checksums and only the three chunks it needs', () => {
    expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a')
    expect(chunksOf(png).map(({ type }) => type)).toEqual(['IHDR', 'IDAT', 'IEND'])
    expect(chunksOf(png).every(({ sum, sumOfBytes }) => sum === sumOfBytes)).toBe(true)
    expect([...(header?.data.subarray(8) ?? [])]).toEqual([1, 0, 0, 0, 0])
    expect(header?.data.readUInt32BE(4)).toBe(side)
  })

  test('contains exactly the bytes that its size requires', () => {
    expect(inflateSync(pixels?.data ?? Buffer.alloc(0)).length).toBe(side * (1 + Math.ceil(side / 8)))
  })

  test('has four light modules of four pixels on every side', () => {
    const { data, width } = PNG.sync.read(png)
    const dark = [...Array(width * width).keys()].filter((i) => data[4 * i] === 0)
    const columns = dark.map((i) => i % width)
    expect([Math.min(...columns), Math.max(...columns)]).toEqual([16, width - 17])
    expect([Math.floor((dark[0] ?? 0) / width), Math.floor((dark.at(-1) ?? 0) / width)]).toEqual([
      16,
      width - 17,
    ])
  })

  test('of a common code has less than a kilobyte', () => {
    expect(png.length).toBeLessThan(1024)
  })

  test('of the same text is the same', () => {
    expect(qrPng('upi://pay?pa=asha@upi&pn=A')).toEqual(qrPng('upi://pay?pa=asha@upi&pn=A'))
  })
})
