import { readFile } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openService, type TestService } from '../harness/service.ts'

const MOST_BYTES = 250_000
/** What browsers send over TLS and on localhost. */
const BROWSER = 'gzip, deflate, br, zstd'

interface Chunk {
  readonly file: string
  readonly css?: readonly string[]
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
}

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

/** A response as it is on the wire: nothing here decompresses it. */
async function get(path: string, headers: Record<string, string> = {}) {
  const {
    body,
    headers: received,
    statusCode,
  } = await request(`${service.client.baseUrl}${path}`, { headers })
  return { status: statusCode, headers: received, bytes: Buffer.from(await body.arrayBuffer()) }
}

const DECODE: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes) => bytes,
}

/** A page as it is built. */
interface Page {
  readonly at: string
  readonly read: (file: string) => Promise<Buffer>
  readonly manifest: Readonly<Record<string, Chunk>>
  readonly entry: string
}

async function builtAs(at: string, folder: string): Promise<Page> {
  const built = new URL(`../../apps/console/${folder}/`, import.meta.url)
  const read = (file: string) => readFile(new URL(file, built))
  const manifest = JSON.parse(String(await read('manifest.json'))) as Page['manifest']
  const entry = Object.keys(manifest).find((name) => manifest[name]!.isEntry)!
  return { at, read, manifest, entry }
}

/** The chunk and all that it cannot begin without. */
function needs(manifest: Page['manifest'], name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const other of manifest[name]!.imports ?? []) needs(manifest, other, found)
  return found
}

function weight({ at, manifest, entry }: Page): void {
  test('the first load of any page transfers under 250 kB over HTTP, without the charts', async () => {
    const pages = manifest[entry]!.dynamicImports!
    expect(pages.length).toBeGreaterThan(15)
    const sizes = new Map<string, number>()
    const sizeOf = async (path: string) => {
      if (!sizes.has(path)) {
        const { bytes, status } = await get(path, { 'accept-encoding': BROWSER })
        expect(status, path).toBe(200)
        sizes.set(path, bytes.length)
      }
      return sizes.get(path)!
    }
    for (const page of pages) {
      const chunks = needs(manifest, page, needs(manifest, entry))
      expect([...chunks].filter((name) => name.includes('-chart'))).toEqual([])
      const files = [...chunks].flatMap((name) => [manifest[name]!.file, ...(manifest[name]!.css ?? [])])
      let bytes = await sizeOf(`${at}/`)
      for (const file of new Set(files)) bytes += await sizeOf(`${at}/${file}`)
      expect(bytes, page).toBeLessThan(MOST_BYTES)
      if (process.env['SHOW_SIZES']) console.log(page, bytes)
    }
  })
}

function encodings({ at, read, manifest, entry }: Page): void {
  test.each([
    [manifest[entry]!.file, 'public, max-age=31536000, immutable'],
    [manifest[entry]!.css![0]!, 'public, max-age=31536000, immutable'],
    ['index.html', 'no-cache'],
  ])('%s is served in the best encoding that the client accepts', async (file, caching) => {
    const path = file === 'index.html' ? `${at}/` : `${at}/${file}`
    const original = await read(file)
    const etags = new Map<string, string>()
    for (const [accepted, encoding] of [
      [BROWSER, 'br'],
      ['br', 'br'],
      ['gzip', 'gzip'],
      ['gzip, br;q=0', 'gzip'],
      ['gzip;q=0.5, br;q=1', 'br'],
      ['identity', 'identity'],
      ['br;q=0, gzip;q=0', 'identity'],
      [undefined, 'identity'],
    ] as const) {
      const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-encoding': accepted }
      const response = await get(path, headers)
      expect(response.status).toBe(200)
      expect(response.headers['content-encoding'] ?? 'identity', `accepts ${accepted}`).toBe(encoding)
      expect(DECODE[encoding]!(response.bytes).equals(original)).toBe(true)
      expect(response.headers).toMatchObject({ vary: 'accept-encoding', 'cache-control': caching })
      expect(response.headers['content-type']).toMatch(
        /^(?:application\/javascript|text\/(?:css|html)); charset=utf-8$/,
      )
      const etag = String(response.headers['etag'])
      etags.set(encoding, etag)
      const again = await get(path, { ...headers, 'if-none-match': etag })
      expect(again).toMatchObject({ status: 304, headers: { vary: 'accept-encoding', etag } })
      expect(again.bytes).toHaveLength(0)
    }
    // A tag stands for one representation (RFC 9110, section 8.8.3).
    expect(new Set(etags.values()).size).toBe(3)
  })
}

function itself({ at, read }: Page): void {
  test('the page references no other address, and contains no inline script', async () => {
    const html = String(await read('index.html'))
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address!)
    expect(addresses.length).toBeGreaterThan(1)
    expect(addresses.filter((address) => !address.startsWith(`${at}/`))).toEqual([])
    expect([...html.matchAll(/<script[^>]*>([^<]*)/g)].map(([, script]) => script)).toEqual([''])
  })
}

describe.each([await builtAs('/console', 'dist'), await builtAs('/portal', 'dist-portal')])('$at', (page) => {
  weight(page)
  encodings(page)
  itself(page)
})
