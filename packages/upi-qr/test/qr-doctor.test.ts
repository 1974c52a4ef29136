import { deflateSync } from 'node:zlib'
import { diagnose, IMAGE_BYTES_MAX } from '@svc/upi-qr/qr-doctor'
import { qrPng } from '@svc/upi-qr/qr-image'
import * as fc from 'fast-check'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'

const TEXT = 'upi://pay?pa=asha.stores@okaxis&pn=Asha%20Stores&mc=5411&tr=QR1&am=149.50&cu=INR&mode=15'

/** A picture of `side` pixels, each as bright as `shade` says, written by the library. */
function picture(side: number, shade: (x: number, y: number) => number, alpha = 255): Buffer {
  const png = new PNG({ width: side, height: side })
  for (let i = 0; i < side * side; i++) {
    png.data.fill(shade(i % side, Math.floor(i / side)), 4 * i, 4 * i + 3)
    png.data[4 * i + 3] = alpha
  }
  return PNG.sync.write(png)
}

/** Our code drawn again: scaled, turned about its middle, or cut. */
function redrawn({ scale = 1, degrees = 0, cutPx = 0 }): Buffer {
  const { data, width } = PNG.sync.read(qrPng(TEXT))
  const side = Math.ceil((width - 2 * cutPx) * scale * (degrees ? 1.5 : 1))
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
  return picture(side, (px, py) => {
    const [dx, dy] = [(px + 0.5 - side / 2) / scale, (py + 0.5 - side / 2) / scale]
    const [x, y] = [Math.floor(dx * cos + dy * sin + width / 2), Math.floor(dy * cos - dx * sin + width / 2)]
    return x < 0 || y < 0 || x >= width || y >= width ? 255 : (data[4 * (y * width + x)] ?? 255)
  })
}

const verdicts = (image: Buffer) =>
  Object.fromEntries(diagnose({ image }).findings.map(({ rule, ok }) => [rule, ok]))

describe('a text', () => {
  test('that is valid is reported as valid and split into its parts', () => {
    const { valid, parts, text } = diagnose({ text: TEXT })
    expect({ valid, text }).toEqual({ valid: true, text: TEXT })
    expect(parts).toMatchObject({ pa: 'asha.stores@okaxis', pn: 'Asha Stores', am: '149.50' })
  })
  test.each(['pa=ashastores&pn=A', 'pa=a1@upi&pn=A&am=-5', 'pa=a1@upi&pn=A&am=1e9', 'pa=a1@upi&pn=A&mc=abc'])(
    'of %s is reported as invalid',
    (query) => {
      expect(diagnose({ text: `upi://pay?${query}` }).valid).toBe(false)
    },
  )
})

const CRC_OF = (text: string) => {
  let crc = 0xffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}
const emv = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([id, value]) => `${id}${String(value.length).padStart(2, '0')}${value}`)
    .join('')
const SHOP = {
  '00': '01',
  '01': '12',
  '26': emv({ '00': 'A000000524', '01': 'asha.stores@okaxis' }),
  '52': '5411',
  '53': '356',
  '54': '149.50',
  '58': 'IN',
  '59': 'Asha Stores',
  '60': 'Pune',
}
const bharatQr = (change: Readonly<Record<string, string>> = {}) => {
  const text = `${emv({ ...SHOP, ...change })}6304`
  return text + CRC_OF(text)
}

describe('a BharatQR code', () => {
  test('is named, and is valid with the UPI address that apps pay', () => {
    expect(CRC_OF('123456789')).toBe('29B1')
    const { kind, valid, findings } = diagnose({ text: bharatQr() })
    expect({ kind, valid }).toEqual({ kind: 'bharat-qr', valid: true })
    expect(findings[0]?.detail).toContain('UPI apps pay asha.stores@okaxis')
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
  })

  test.each([
    ['with a wrong checksum', `${bharatQr().slice(0, -4)}0000`, 'emv-checksum'],
    ['cut short', bharatQr().slice(0, -10), 'emv-checksum'],
    ['with more behind its end', `${bharatQr()}x`, 'emv-lengths'],
    ['without a UPI address', bharatQr({ '26': emv({ '00': 'A000000003' }) }), 'emv-vpa'],
    ['in dollars', bharatQr({ '53': '840' }), 'emv-currency'],
    ['of stored-value load', bharatQr({ '52': '6540' }), 'emv-mcc'],
    ['of nothing', bharatQr({ '54': '0' }), 'emv-amount'],
  ])('%s is reported as invalid', (_, text, rule) => {
    const { kind, valid, findings } = diagnose({ text })
    expect({ kind, valid }).toEqual({ kind: 'bharat-qr', valid: false })
    expect(findings.filter(({ ok }) => !ok).map((finding) => finding.rule)).toContain(rule)
  })
})

describe('a text that is no payment is named', () => {
  test.each([
    [
      'upi://mandate?pa=a1@upi&pn=A&am=10.00',
      'upi-mandate',
      'a UPI mandate, which authorizes later debits and pays nothing by itself',
    ],
    ['upi://collect?pa=a1@upi', 'upi-other', 'another kind than a payment'],
    ['phonepe://pay?pa=a1@upi&pn=A', 'app-link', 'one app only'],
    ['https://example.com/pay', 'web-address', 'a web address'],
    [bharatQr({ '58': 'SG' }), 'emv-qr', 'of another country than India, which UPI apps do not pay'],
    ['hello', 'other', 'hello'],
  ])('%s', (text, kind, detail) => {
    const diagnosis = diagnose({ text })
    expect(diagnosis).toMatchObject({ kind, valid: false, findings: [{ rule: 'scheme', ok: false }] })
    expect(diagnosis.findings[0]?.detail).toContain(detail)
  })
})

describe('a picture', () => {
  test('of the package’s own code is read, has its quiet zone and gets the verdict of its text', () => {
    const diagnosis = diagnose({ image: qrPng(TEXT) })
    expect(diagnosis.text).toBe(TEXT)
    expect(diagnosis.valid).toBe(true)
    expect(diagnosis.findings.slice(0, 3)).toMatchObject([
      { rule: 'image-readable', ok: true },
      { rule: 'qr-found', ok: true },
      { rule: 'quiet-zone', ok: true },
    ])
    expect(diagnosis.findings).toEqual([
      ...diagnosis.findings.slice(0, 3),
      ...diagnose({ text: TEXT }).findings,
    ])
  })

  test.each([
    ['three times as large', { scale: 3 }],
    ['at an odd scale', { scale: 1.7 }],
    ['turned by a quarter', { degrees: 90 }],
    ['upside down', { degrees: 180 }],
    ['turned by 12 degrees', { degrees: 12, scale: 2 }],
  ])('%s is read, including the quiet zone', (_, how) => {
    const image = redrawn(how)
    expect(diagnose({ image }).text).toBe(TEXT)
    expect(verdicts(image)).toMatchObject({ 'quiet-zone': true })
  })

  test('cut to half its quiet zone is read with a warning', () => {
    const { valid, findings } = diagnose({ image: redrawn({ cutPx: 8 }) })
    expect(valid).toBe(true)
    expect(findings.find(({ rule }) => rule === 'quiet-zone')).toMatchObject({ ok: false, level: 'warning' })
    expect(findings.find(({ rule }) => rule === 'quiet-zone')?.detail).toContain('this code has 2')
  })

  test('with a transparent background is read as on white paper', () => {
    const source = PNG.sync.read(qrPng(TEXT))
    for (let i = 0; i < source.data.length; i += 4) {
      if (source.data[i] === 255) source.data.fill(0, i, i + 4)
    }
    expect(diagnose({ image: PNG.sync.write(source) }).text).toBe(TEXT)
  })

  test('without a code is reported as having none', () => {
    expect(verdicts(picture(64, () => 255))).toEqual({ 'image-readable': true, 'qr-found': false })
  })

  test('of a code that is not a payment is read and reported as invalid', () => {
    const { text, valid, parts } = diagnose({ image: qrPng('https://example.com/') })
    expect({ text, valid, parts }).toEqual({ text: 'https://example.com/', valid: false, parts: undefined })
  })
})

describe('bytes that are not a picture', () => {
  const png = qrPng(TEXT)
  const withHeader = (change: (header: Buffer) => void) => {
    const copy = Buffer.from(png)
    change(copy)
    return copy
  }
  const interlaced = withHeader((header) => header.writeUInt8(1, 28))
  const huge = withHeader((header) => header.writeUInt32BE(100_000, 16))
  const twoHeaders = Buffer.concat([png.subarray(0, 33), huge.subarray(8)])

  test.each([
    ['nothing', 'not a PNG', Buffer.alloc(0)],
    ['a JPEG', 'not a PNG', Buffer.from('ffd8ffe000104a464946'.padEnd(100, '0'), 'hex')],
    ['only a signature', 'not a PNG', png.subarray(0, 8)],
    ['half a PNG', 'damaged', png.subarray(0, 300)],
    ['a wrong checksum', 'damaged', withHeader((copy) => copy.writeUInt8(0, 200))],
    ['a huge picture', '4096 pixels', huge],
    ['a picture without pixels', 'no pixels', withHeader((header) => header.writeUInt32BE(0, 20))],
    ['an interlaced picture', 'interlaced', interlaced],
    ['a second, larger header', 'one header', twoHeaders],
    ['too many bytes', 'bytes', Buffer.concat([png, Buffer.alloc(IMAGE_BYTES_MAX)])],
    [
      'pixels that are no deflate stream',
      'damaged',
      Buffer.concat([png.subarray(0, 41), deflateSync('x'), png.subarray(60)]),
    ],
  ])('%s: a finding that reports it (%s), no crash', (_, detail, image) => {
    const diagnosis = diagnose({ image })
    expect(diagnosis).toMatchObject({ valid: false, findings: [{ rule: 'image-readable', ok: false }] })
    expect(diagnosis.findings[0]?.detail).toContain(detail)
    expect(diagnosis).not.toHaveProperty('text')
  })

  test('any damage to a PNG gives a diagnosis', () => {
    fc.assert(
      fc.property(fc.nat(png.length - 1), fc.nat(255), fc.nat(png.length), (at, byte, length) => {
        const copy = Buffer.from(png)
        copy[at] = byte
        expect(diagnose({ image: copy.subarray(0, length) }).findings.length).toBeGreaterThan(0)
      }),
      { numRuns: 300 },
    )
  })

  test('a picture designed to keep the decoder busy is abandoned after a few seconds', () => {
    const finder = ['1111111', '1000001', '1011101', '1011101', '1011101', '1000001', '1111111']
    const cell = (px: number) => Math.floor(px / 2) % 9
    const image = picture(24 * 18, (x, y) => (finder[cell(y)]?.[cell(x)] === '1' ? 0 : 255))
    const before = process.cpuUsage()
    expect(verdicts(image)).toMatchObject({ 'qr-found': false })
    // Of the processor: what else the machine does takes none of it.
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000)
  }, 20_000)
})
