import { createHash } from 'node:crypto'
import {
  additionsOf,
  consistencyRanges,
  inclusionRanges,
  leafHash,
  openTiles,
  rootOf,
  type Tiles,
  tileName,
  tilesOf,
  wholeTree,
} from '@svc/platform/crypto/merkle'
import { expect, test } from 'vitest'

/** RFC 6962 section 2.1 word by word, over the data of leaves. */
function plainRoot(data: readonly Buffer[]): Buffer {
  const hash = (...parts: readonly Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  if (data.length === 0) return hash()
  if (data.length === 1) return hash(Buffer.of(0), data[0]!)
  let split = 1
  while (split * 2 < data.length) split *= 2
  return hash(Buffer.of(1), plainRoot(data.slice(0, split)), plainRoot(data.slice(split)))
}

const dataOf = (size: number) => Array.from({ length: size }, (_, n) => Buffer.from(`leaf ${n}`))

/** A tree that grew in batches of these sizes. */
function grown(batches: readonly number[]): { readonly tiles: Tiles; readonly size: number } {
  const tiles = new Map<string, Buffer>()
  const data = dataOf(batches.reduce((sum, batch) => sum + batch, 0))
  let size = 0
  for (const batch of batches) {
    const open = new Map(openTiles(size).map((key) => [tileName(key), tiles.get(tileName(key))!]))
    const leaves = data.slice(size, size + batch).map(leafHash)
    for (const { hashes, offset, ...key } of additionsOf(size, open, leaves)) {
      const before = tiles.get(tileName(key)) ?? Buffer.alloc(0)
      expect(before.length).toBe(offset * 32)
      tiles.set(tileName(key), Buffer.concat([before, hashes]))
    }
    size += batch
  }
  return { tiles, size }
}

/** The test vectors of the reference implementation of certificate transparency. */
const VECTOR = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
const VECTOR_ROOT = '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'

test('the root of eight leaves is that of the known test vector', () => {
  const leaves = VECTOR.map((hex) => leafHash(Buffer.from(hex, 'hex')))
  const tiles = new Map(additionsOf(0, new Map(), leaves).map((each) => [tileName(each), each.hashes]))
  expect(rootOf(wholeTree(8), tiles).toString('hex')).toBe(VECTOR_ROOT)
})

test('however a tree has grown, each of its roots is that of RFC 6962, of named tiles alone', () => {
  for (const batches of [[1100], Array(70).fill(1), [31, 1, 1, 31, 32, 33, 900, 1, 70], [1024, 1023, 1]]) {
    const { tiles, size } = grown(batches)
    const data = dataOf(size)
    for (const n of [0, 1, 2, 31, 32, 33, 63, 64, 65, 69, 1000, 1024, 1025, size].filter((n) => n <= size)) {
      const needed = new Map(tilesOf([wholeTree(n)]).map((key) => [tileName(key), tiles.get(tileName(key))!]))
      expect(rootOf(wholeTree(n), needed)).toEqual(plainRoot(data.slice(0, n)))
    }
  }
})

test('the ranges of a proof are those that RFC 6962 names for its tree of seven leaves', () => {
  const text = (ranges: readonly { readonly from: number; readonly to: number }[]) =>
    ranges.map(({ from, to }) => `${from}-${to}`)
  // Section 2.1.3.
  expect(text(inclusionRanges(0, 7))).toEqual(['1-2', '2-4', '4-7'])
  expect(text(inclusionRanges(3, 7))).toEqual(['2-3', '0-2', '4-7'])
  expect(text(inclusionRanges(4, 7))).toEqual(['5-6', '6-7', '0-4'])
  expect(text(inclusionRanges(6, 7))).toEqual(['4-6', '0-4'])
  expect(text(consistencyRanges(3, 7))).toEqual(['2-3', '3-4', '0-2', '4-7'])
  expect(text(consistencyRanges(4, 7))).toEqual(['4-7'])
  expect(text(consistencyRanges(6, 7))).toEqual(['4-6', '6-7', '0-4'])
  expect(text(consistencyRanges(7, 7))).toEqual([])
})
