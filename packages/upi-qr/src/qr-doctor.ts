/**
 * Says what is wrong with a UPI QR code, given its text or its picture. It never throws.
 *
 * Reads with `qr`, a decoder by another author than the encoder of our own codes.
 */

import { runInNewContext } from 'node:vm'
import { PNG } from 'pngjs'
import { decodeQR } from 'qr/decode.js'
import { type CodeKind, kindOf } from './code-kind.ts'
import type { UpiFinding } from './finding.ts'
import { checkUpiUri, isFit } from './upi-check.ts'
import { parseUpiUri, type UpiFields } from './upi-uri.ts'

export interface Diagnosis {
  /** What the code says; absent when it could not be read. */
  readonly text?: string
  /** What sort of code it is; absent when it could not be read. */
  readonly kind?: CodeKind
  /** No rule of level `error` is broken. */
  readonly valid: boolean
  readonly findings: readonly UpiFinding[]
  /** The parameters; absent when the text is no readable `upi://pay` string. */
  readonly parts?: UpiFields
}

/** A photograph as PNG has 10 MB or more; a screenshot has 1 MB, and so has any picture made for scanning. */
export const IMAGE_BYTES_MAX = 8 * 1024 * 1024
export const IMAGE_SIDE_PX_MAX = 4096
/** The decoder's search is cubic in the finder patterns: a 432 px picture full of them took it 2.6 s. */
const READ_MS_MAX = 2000
const QUIET_MODULES = 4

interface Point {
  readonly x: number
  readonly y: number
}

/** RGBA, eight bits each. */
interface Picture {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

interface Reading {
  readonly text: string
  /** The widest light margin around the code, in modules, counted up to four. */
  readonly quietModules: number
}

const finding = (
  rule: string,
  ok: boolean,
  detail: string,
  level: UpiFinding['level'] = 'error',
): UpiFinding => ({
  rule,
  ok,
  level,
  detail,
})

/**
 * Diagnoses a string or a PNG. Never throws on bad input. Synchronous: a text takes microseconds, a large
 * picture up to about two seconds of CPU, so keep pictures off a thread that serves others.
 */
export function diagnose(input: { readonly text: string } | { readonly image: Buffer }): Diagnosis {
  return 'text' in input ? diagnoseText(input.text, []) : diagnoseImage(input.image)
}

function diagnoseText(text: string, before: readonly UpiFinding[]): Diagnosis {
  const findings = [...before, ...checkUpiUri(text)]
  const parts = parseUpiUri(text)
  return { text, kind: kindOf(text), valid: isFit(findings), findings, ...(parts && { parts }) }
}

function diagnoseImage(image: Buffer): Diagnosis {
  const unreadable = problemOf(image)
  if (unreadable !== undefined) return failed([finding('image-readable', false, unreadable)])

  const png = attempt(() => PNG.sync.read(image))
  if (png === undefined) return failed([finding('image-readable', false, 'the PNG is damaged')])
  const readable = finding('image-readable', true, `a PNG of ${png.width} × ${png.height} pixels`)

  layOnWhite(png.data)
  const reading = attempt(() => readAnyWayUp(png))
  if (reading === undefined) {
    return failed([readable, finding('qr-found', false, 'no QR code could be read in the picture')])
  }
  const { text, quietModules: quiet } = reading
  return diagnoseText(text, [
    readable,
    finding('qr-found', true, 'the picture holds a QR code'),
    finding(
      'quiet-zone',
      quiet >= QUIET_MODULES,
      `four light modules on every side (ISO/IEC 18004); this code has ${quiet}`,
      'warning',
    ),
  ])
}

const failed = (findings: readonly UpiFinding[]): Diagnosis => ({ valid: false, findings })

/**
 * The result of a call of a library, or `undefined` when it threw or ran too long. The vm's watchdog stops whatever
 * JavaScript runs under it, which nothing else in one thread can do.
 */
function attempt<T>(work: () => T): T | undefined {
  try {
    return runInNewContext('work()', { work }, { timeout: READ_MS_MAX }) as T
  } catch {
    return undefined
  }
}

/** Why the bytes are not to be handed to the PNG library, or `undefined` when they may be. */
function problemOf(image: Buffer): string | undefined {
  if (image.length > IMAGE_BYTES_MAX) return `more than ${IMAGE_BYTES_MAX} bytes`
  if (image.length < 33 || image.readBigUInt64BE(0) !== 0x89504e470d0a1a0an) return 'not a PNG'
  const types = chunkTypes(image)
  // A second header would have the library unpack another size than the one that is checked here.
  if (types[0] !== 'IHDR' || types.lastIndexOf('IHDR') !== 0) return 'not a PNG with one header, at its start'
  if (image.readUInt32BE(8) !== 13) return 'a header of the wrong length'
  const width = image.readUInt32BE(16)
  const height = image.readUInt32BE(20)
  if (width === 0 || height === 0) return 'no pixels'
  if (Math.max(width, height) > IMAGE_SIDE_PX_MAX) return `a side of more than ${IMAGE_SIDE_PX_MAX} pixels`
  // pngjs unpacks interlaced pixels without a limit: 8 MB could become 8 GB.
  if (image[28] !== 0) return 'interlaced; save it without interlacing'
  return undefined
}

function chunkTypes(image: Buffer): string[] {
  const types: string[] = []
  for (let at = 8; at + 8 <= image.length; at += 12 + image.readUInt32BE(at)) {
    types.push(image.toString('latin1', at + 4, at + 8))
  }
  return types
}

/** Transparent pixels show the page beneath them, commonly white; the decoder would take them for black. */
function layOnWhite(rgba: Buffer): void {
  for (let at = 0; at < rgba.length; at += 4) {
    const alpha = rgba[at + 3] ?? 255
    if (alpha === 255) continue
    for (let c = at; c < at + 3; c++) rgba[c] = 255 - ((255 - (rgba[c] ?? 255)) * alpha) / 255
  }
}

/**
 * The decoder takes the first thing that resembles an alignment pattern, and so misses one sound code in
 * twenty. Turned by quarters it searches in another order: of 360 codes it then read each.
 * @throws Error when there is no code to be read.
 */
function readAnyWayUp(picture: Picture): Reading {
  let turned = picture
  for (let quarters = 0; quarters < 3; quarters++) {
    try {
      return readQr(turned)
    } catch {
      turned = quarterTurn(turned)
    }
  }
  return readQr(turned)
}

function quarterTurn({ width, height, data }: Picture): Picture {
  const pixels = new Uint32Array(new Uint8Array(data).buffer)
  const turned = new Uint32Array(pixels.length)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) turned[x * height + height - 1 - y] = pixels[y * width + x] ?? 0
  }
  return { width: height, height: width, data: new Uint8Array(turned.buffer) }
}

function readQr(picture: Picture): Reading {
  const seen: { corners?: readonly Point[]; modules?: number } = {}
  const text = decodeQR(picture, {
    pointsOnDetect: ([topLeft, topRight, , bottomLeft]) => {
      seen.corners = [topLeft, topRight, bottomLeft]
    },
    imageOnDetect: ({ width }) => {
      seen.modules = width
    },
  })
  const [origin, right, down] = seen.corners ?? []
  if (!origin || !right || !down || !seen.modules) throw new Error('the decoder named no corners')
  return { text, quietModules: quietModules(picture, { origin, right, down }, seen.modules) }
}

/** Samples the rings of modules around the code: rotation is allowed for, perspective is not. */
function quietModules(
  { width, height, data }: Picture,
  at: { origin: Point; right: Point; down: Point },
  size: number,
): number {
  const { origin, right, down } = at
  const span = size - 7 // from the centre of one finder pattern to the next
  const luminance = (across: number, along: number): number | undefined => {
    const x = Math.floor(origin.x + ((right.x - origin.x) * across + (down.x - origin.x) * along) / span)
    const y = Math.floor(origin.y + ((right.y - origin.y) * across + (down.y - origin.y) * along) / span)
    if (x < 0 || y < 0 || x >= width || y >= height) return undefined
    const i = 4 * (y * width + x)
    return ((data[i] ?? 0) + (data[i + 1] ?? 0) + (data[i + 2] ?? 0)) / 3
  }
  // The centre of the finder pattern is dark, the separator four modules beside it is light.
  const threshold = ((luminance(0, 0) ?? 0) + (luminance(4, 0) ?? 255)) / 2
  const isLight = (across: number, along: number) => (luminance(across, along) ?? 0) > threshold

  for (let ring = 1; ring <= QUIET_MODULES; ring++) {
    const low = -3 - ring
    const high = span + 3 + ring
    for (let k = low; k <= high; k++) {
      if (!isLight(k, low) || !isLight(k, high) || !isLight(low, k) || !isLight(high, k)) return ring - 1
    }
  }
  return QUIET_MODULES
}
