import { readFile, rm, writeFile } from 'node:fs/promises'
import { entryBytes, InvalidArchive, readEntries } from '../backup/archive.ts'
import {
  CAPSULE_VERSION,
  type CapsuleExchange,
  type CapsuleManifest,
  type CapsuleRequest,
  type CapsuleResponse,
} from './capsule.ts'

const MANIFEST = 'capsule.json'
const SNAPSHOT = 'snapshot/'
const EXCHANGES = 'exchanges/'
/** An entry of an archive is read as a whole. */
const PIECE_BYTES = 32 * 1024 * 1024
const END = Buffer.alloc(1_024)

/** The file is no capsule, is damaged, or is of a newer version. Its message is for people. */
export class InvalidCapsule extends Error {
  override name = 'InvalidCapsule'
}

interface StoredExchange {
  readonly request: Omit<CapsuleRequest, 'body'> & { readonly body: string }
  readonly response: Omit<CapsuleResponse, 'body' | 'plaintext'> & {
    readonly body: string
    readonly plaintext?: string
  }
}

const numbered = (n: number): string => String(n).padStart(6, '0')

/** Text as it is, so that people can read a capsule; other bytes in base64. */
function storedBytes(bytes: Buffer): string {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? `text:${text}` : `base64:${bytes.toString('base64')}`
}

function bytesOf(stored: unknown): Buffer {
  const [, kind, text] = typeof stored === 'string' ? (/^(text|base64):([\s\S]*)$/.exec(stored) ?? []) : []
  if (kind === undefined) throw new InvalidCapsule('an exchange in it cannot be read')
  return Buffer.from(text!, kind === 'text' ? 'utf8' : 'base64')
}

const storedExchange = ({ request, response }: CapsuleExchange): StoredExchange => {
  const { plaintext, ...rest } = response
  return {
    request: { ...request, body: storedBytes(request.body) },
    response: {
      ...rest,
      body: storedBytes(response.body),
      ...(plaintext && { plaintext: storedBytes(plaintext) }),
    },
  }
}

function exchangeOf({ request, response }: StoredExchange): CapsuleExchange {
  const { plaintext, ...rest } = response
  return {
    request: { ...request, body: bytesOf(request.body) },
    response: {
      ...rest,
      body: bytesOf(response.body),
      ...(plaintext !== undefined && { plaintext: bytesOf(plaintext) }),
    },
  }
}

const json = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 1)}\n`)

/** Writes a capsule: a tar that people can look into. It has secrets, so only its owner may read it. */
export async function writeCapsule(
  file: string,
  manifest: CapsuleManifest,
  snapshotFile: string,
  exchanges: readonly CapsuleExchange[],
): Promise<number> {
  const parts = [await entryBytes(MANIFEST, json(manifest))]
  const snapshot = await readFile(snapshotFile)
  for (let at = 0; at < snapshot.length; at += PIECE_BYTES)
    parts.push(
      await entryBytes(`${SNAPSHOT}${numbered(at / PIECE_BYTES)}`, snapshot.subarray(at, at + PIECE_BYTES)),
    )
  for (const exchange of exchanges)
    parts.push(
      await entryBytes(
        `${EXCHANGES}${numbered(exchange.request.number)}.json`,
        json(storedExchange(exchange)),
      ),
    )
  const whole = Buffer.concat([...parts, END])
  try {
    await writeFile(file, whole, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(file, { force: true })
    throw error
  }
  return whole.length
}

export interface Capsule {
  readonly manifest: CapsuleManifest
  readonly exchanges: ReadonlyMap<number, CapsuleExchange>
}

/** Reads a capsule; its snapshot goes to a file. */
export async function readCapsule(file: string, snapshotFile: string): Promise<Capsule> {
  let manifest: CapsuleManifest | undefined
  const pieces: Buffer[] = []
  const exchanges = new Map<number, CapsuleExchange>()
  try {
    await readEntries(file, (name, content) => {
      if (name === MANIFEST) manifest = JSON.parse(content.toString()) as CapsuleManifest
      else if (name.startsWith(SNAPSHOT)) pieces.push(content)
      else if (name.startsWith(EXCHANGES)) {
        const exchange = exchangeOf(JSON.parse(content.toString()) as StoredExchange)
        exchanges.set(exchange.request.number, exchange)
      }
    })
  } catch (error) {
    if (error instanceof InvalidArchive || error instanceof SyntaxError || error instanceof TypeError)
      throw new InvalidCapsule(error.message, { cause: error })
    throw error
  }
  if (manifest?.format !== 'svc-capsule' || pieces.length === 0)
    throw new InvalidCapsule('it is no capsule of svc sandbox record, or not a whole one')
  requireReadable(manifest)
  const missing = manifest.rounds.flatMap(({ requests }) => requests).find((number) => !exchanges.has(number))
  if (missing !== undefined) throw new InvalidCapsule(`request ${missing} is missing`)
  await writeFile(snapshotFile, Buffer.concat(pieces), { mode: 0o600 })
  return { manifest, exchanges }
}

function requireReadable(manifest: CapsuleManifest): void {
  const { mode, formatVersion, serviceVersion, rounds, seed, masterKeys, settings, startedAtMs } = manifest
  if (mode !== 'sandbox')
    throw new InvalidCapsule(
      'it says that it is of live mode, and only a sandbox can be recorded or replayed',
    )
  if (formatVersion > CAPSULE_VERSION)
    throw new InvalidCapsule(
      `it has format ${formatVersion}, and this program knows formats up to ${CAPSULE_VERSION}. Use svc ${serviceVersion} or later`,
    )
  const isWhole =
    [seed, masterKeys, manifest.baseUrl].every((each) => typeof each === 'string') &&
    Number.isSafeInteger(startedAtMs) &&
    typeof settings === 'object' &&
    Array.isArray(rounds) &&
    rounds.every(({ atMs, requests }) => Number.isSafeInteger(atMs) && Array.isArray(requests))
  if (!isWhole) throw new InvalidCapsule('its capsule.json lacks something')
}
