import { hash } from 'node:crypto'
import { invariant } from '@svc/kernel/invariant'

export const HASH_BYTES = 32
const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)

const sha256 = (...parts: readonly Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer')

/** RFC 6962 section 2.1, as all of this file. */
export const leafHash = (data: Uint8Array): Buffer => sha256(LEAF, data)
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(NODE, left, right)
const EMPTY_ROOT = sha256()

/** Leaves from the first up to, and not including, the last. */
interface Range {
  readonly from: number
  readonly to: number
}

/** A complete subtree: its height, and how many of the same height are on its left. */
interface Subtree {
  readonly height: number
  readonly index: number
}

/** The largest power of two below the size: where a tree is split. */
function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

const rangeOf = (from: number, to: number): Range => ({ from, to })

/** The ranges whose roots prove that a leaf is in a tree, from the leaf up (RFC 6962 section 2.1.1). */
export function inclusionRanges(leaf: number, size: number): Range[] {
  const ranges: Range[] = []
  let { from, to } = rangeOf(0, size)
  while (to - from > 1) {
    const middle = from + splitOf(to - from)
    const isLeft = leaf < middle
    ranges.unshift(isLeft ? rangeOf(middle, to) : rangeOf(from, middle))
    ;({ from, to } = isLeft ? rangeOf(from, middle) : rangeOf(middle, to))
  }
  return ranges
}

/** The ranges whose roots prove that a tree has grown out of a smaller one (RFC 6962 section 2.1.2). */
export function consistencyRanges(smaller: number, size: number): Range[] {
  if (smaller === 0 || smaller === size) return []
  const ranges: Range[] = []
  let { from, to } = rangeOf(0, size)
  while (to !== smaller) {
    const middle = from + splitOf(to - from)
    const isLeft = smaller <= middle
    ranges.unshift(isLeft ? rangeOf(middle, to) : rangeOf(from, middle))
    ;({ from, to } = isLeft ? rangeOf(from, middle) : rangeOf(middle, to))
  }
  // A range from the first leaf is the smaller tree, whose root the verifier has.
  return from === 0 ? ranges : [rangeOf(from, to), ...ranges]
}

/** The complete subtrees that a range of a tree consists of, from the left. */
function subtreesOf({ from, to }: Range): Subtree[] {
  const subtrees: Subtree[] = []
  for (let start = from; start < to; ) {
    let height = 0
    while (start + 2 ** (height + 1) <= to && start % 2 ** (height + 1) === 0) height++
    subtrees.push({ height, index: start / 2 ** height })
    start += 2 ** height
  }
  return subtrees
}

/** Hashes are stored in tiles: 32 of the same height beside each other, and only heights 0, 5, 10 … */
const TILE_HEIGHT = 5
const TILE_WIDTH = 2 ** TILE_HEIGHT

export interface TileKey {
  readonly level: number
  readonly tile: number
}
export const tileName = ({ level, tile }: TileKey): string => `${level}/${tile}`

/** Where the hashes below a complete subtree are stored: in one tile, since its width is at most half of one. */
function placeOf({ height, index }: Subtree): TileKey & { readonly start: number; readonly width: number } {
  const level = Math.floor(height / TILE_HEIGHT)
  const width = 2 ** (height - level * TILE_HEIGHT)
  const first = index * width
  return { level, tile: Math.floor(first / TILE_WIDTH), start: first % TILE_WIDTH, width }
}

/** The tiles that the roots of ranges are made of. */
export function tilesOf(ranges: readonly Range[]): TileKey[] {
  const places = ranges.flatMap(subtreesOf).map(placeOf)
  return [...new Map(places.map(({ level, tile }) => [tileName({ level, tile }), { level, tile }])).values()]
}

/** The whole tree of a size, as a range. */
export const wholeTree = (size: number): Range => rangeOf(0, size)

/** One leaf, as a range: its root is its hash. */
export const leafRange = (leaf: number): Range => rangeOf(leaf, leaf + 1)

/** Tiles by name. */
export type Tiles = ReadonlyMap<string, Buffer>

const hashesIn = (tile: Buffer): Buffer[] =>
  Array.from({ length: tile.length / HASH_BYTES }, (_, i) =>
    tile.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  )

function rootOfComplete(hashes: readonly Buffer[]): Buffer {
  let row = hashes
  while (row.length > 1)
    row = Array.from({ length: row.length / 2 }, (_, i) => nodeHash(row[2 * i]!, row[2 * i + 1]!))
  return row[0]!
}

function rootOfSubtree(subtree: Subtree, tiles: Tiles): Buffer {
  const place = placeOf(subtree)
  const tile = tiles.get(tileName(place))
  const end = place.start + place.width
  invariant(tile && tile.length >= end * HASH_BYTES, 'a tile of a feed ends before its tree')
  return rootOfComplete(hashesIn(tile.subarray(place.start * HASH_BYTES, end * HASH_BYTES)))
}

/** The root of a range, of tiles that `tilesOf` names. */
export function rootOf(range: Range, tiles: Tiles): Buffer {
  const roots = subtreesOf(range).map((subtree) => rootOfSubtree(subtree, tiles))
  return roots.length === 0 ? EMPTY_ROOT : roots.reduceRight((right, left) => nodeHash(left, right))
}

/** Hashes to add to a tile behind those that it has. */
export interface Addition extends TileKey {
  readonly offset: number
  readonly hashes: Buffer
}

/** The tiles of a tree that are not full: one for each level at most. */
export function openTiles(size: number): TileKey[] {
  const open: TileKey[] = []
  for (let [level, count] = [0, size]; count > 0; level++, count = Math.floor(count / TILE_WIDTH))
    if (count % TILE_WIDTH > 0) open.push({ level, tile: Math.floor(count / TILE_WIDTH) })
  return open
}

/** What leaves add to a tree of this size, of whose open tiles the hashes are given. */
export function additionsOf(size: number, open: Tiles, leaves: readonly Buffer[]): Addition[] {
  const additions: Addition[] = []
  let [level, count, added] = [0, size, leaves]
  while (added.length > 0) {
    const above: Buffer[] = []
    for (let done = 0; done < added.length; ) {
      const [tile, offset] = [Math.floor((count + done) / TILE_WIDTH), (count + done) % TILE_WIDTH]
      const piece = added.slice(done, done + TILE_WIDTH - offset)
      additions.push({ level, tile, offset, hashes: Buffer.concat(piece) })
      done += piece.length
      if (offset + piece.length < TILE_WIDTH) continue
      const before = offset === 0 ? [] : hashesIn(open.get(tileName({ level, tile }))!)
      invariant(before.length === offset, 'an open tile of a feed is not as long as its tree says')
      above.push(rootOfComplete([...before, ...piece]))
    }
    ;[level, count, added] = [level + 1, Math.floor(count / TILE_WIDTH), above]
  }
  return additions
}
