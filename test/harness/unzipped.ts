import { crc32, inflateRawSync } from 'node:zlib'

const STORED = 0

/** The files of an archive, by its directory; throws where one is not what its checksum says. */
export function unzipped(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from('504b0506', 'hex'))
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [method, checksum, size, nameLength, place] = [
      archive.readUInt16LE(at + 10),
      archive.readUInt32LE(at + 16),
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
      archive.readUInt32LE(at + 42),
    ]
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    const from = place + 30 + archive.readUInt16LE(place + 26) + archive.readUInt16LE(place + 28)
    const packed = archive.subarray(from, from + size)
    const file = method === STORED ? packed : inflateRawSync(packed)
    if (crc32(file) !== checksum) throw new Error(`${name} is not what its checksum says`)
    files.set(name, file)
    // Behind the name, extra fields and a comment.
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return files
}
