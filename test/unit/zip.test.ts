import { zip } from '@svc/platform/zip'
import { expect, test } from 'vitest'
import { unzipped } from '../harness/unzipped.ts'

const { TZ: zoneOfTests } = process.env

/** With the minutes that the tests' instant is later in UTC. */
const ZONES = {
  UTC: 0,
  'Asia/Kolkata': -330,
  'Europe/Berlin': -120,
  'America/Los_Angeles': 420,
  'Pacific/Kiritimati': -840,
}

async function archiveIn(zone: keyof typeof ZONES, at: Date): Promise<Buffer> {
  process.env['TZ'] = zone
  try {
    expect(at.getTimezoneOffset()).toBe(ZONES[zone])
    const pieces: Uint8Array[] = []
    for await (const piece of zip([{ name: 'a.txt', content: Buffer.from('a') }], at)) pieces.push(piece)
    return Buffer.concat(pieces)
  } finally {
    if (zoneOfTests === undefined) delete process.env['TZ']
    else process.env['TZ'] = zoneOfTests
  }
}

test('an archive is the same bytes in every time zone, and says when its files were made', async () => {
  // Clocks in Berlin never show the second hour of this day, and on Kiritimati the day is over.
  const at = new Date('2026-03-29T02:30:07Z')
  const archive = await archiveIn('Asia/Kolkata', at)
  for (const zone of Object.keys(ZONES) as (keyof typeof ZONES)[])
    expect((await archiveIn(zone, at)).equals(archive)).toBe(true)
  // The fields of a local file header by PKWARE's APPNOTE, and after its name the extended timestamp of Info-ZIP.
  const [time, date] = [archive.readUInt16LE(10), archive.readUInt16LE(12)]
  expect([1980 + (date >> 9), (date >> 5) & 15, date & 31, time >> 11]).toEqual([2026, 3, 29, 12])
  const extra = 30 + 'a.txt'.length
  expect(archive.subarray(extra, extra + 2).toString('latin1')).toBe('UT')
  expect(archive.readUInt32LE(extra + 5) * 1000).toBe(at.getTime())
})

test('an archive has each file as it is: text in many parts, none, and bytes that are compressed already', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}, ₹ ${i * 7}\r\n`)
  const picture = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31) % 256))
  const parts = async function* (of: readonly string[]) {
    yield* of
  }
  const pieces: Uint8Array[] = []
  for await (const piece of zip(
    [
      { name: 'lines.csv', content: parts(lines) },
      { name: 'empty.csv', content: parts([]) },
      { name: 'picture.png', content: picture, isCompressed: true },
    ],
    new Date('2026-11-27T12:00:00Z'),
  ))
    pieces.push(piece)
  const files = unzipped(Buffer.concat(pieces))
  expect([...files.keys()]).toEqual(['lines.csv', 'empty.csv', 'picture.png'])
  expect(files.get('lines.csv')!.toString()).toBe(lines.join(''))
  expect(files.get('empty.csv')).toHaveLength(0)
  expect(files.get('picture.png')!.equals(picture)).toBe(true)
})
