import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const BUILT = new URL('../../console/dist/', import.meta.url)
const MOST_BYTES = 250_000

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
}

const read = (file: string) => readFile(new URL(file, BUILT))
const manifest = JSON.parse(String(await read('manifest.json'))) as Record<string, Chunk>

/** The chunk and all that it cannot begin without. */
function needs(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const other of manifest[name]!.imports ?? []) needs(other, found)
  return found
}

test('whatever page one comes to first, it takes under 250 kB of compressed script, charts apart', async () => {
  const entry = Object.keys(manifest).find((name) => manifest[name]!.isEntry)!
  const pages = manifest[entry]!.dynamicImports!
  expect(pages.length).toBeGreaterThan(20)
  const sizes = new Map<string, number>()
  const sizeOf = async (name: string) => {
    const { file } = manifest[name]!
    if (!sizes.has(file)) sizes.set(file, gzipSync(await read(file)).length)
    return sizes.get(file)!
  }
  for (const page of pages) {
    const chunks = needs(page, needs(entry))
    expect([...chunks].filter((name) => name.includes('overview-chart'))).toEqual([])
    let bytes = 0
    for (const name of chunks) bytes += await sizeOf(name)
    expect(bytes, page).toBeLessThan(MOST_BYTES)
    if (process.env['SHOW_SIZES']) console.log(page, bytes)
  }
})

test('the page itself names no other address, and holds no script of its own', async () => {
  const html = String(await read('index.html'))
  const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address!)
  expect(addresses.length).toBeGreaterThan(1)
  expect(addresses.filter((address) => !address.startsWith('/console/'))).toEqual([])
  expect([...html.matchAll(/<script[^>]*>([^<]*)/g)].map(([, script]) => script)).toEqual([''])
})
