import { fromBase64, sha256, toHex, utf8 } from './merkle.ts'

/** A kind of your accounts, with its sum over all of them; amounts as text, as they are signed. */
export interface FeedBalance {
  readonly account: string
  readonly unit: string
  readonly balance: string
  /** What the entries of these accounts add up to. */
  readonly booked: string
  readonly entries: number
}

/** A signed head of a feed's tree (C2SP tlog-checkpoint). */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  /** SHA-256, base64. */
  readonly root: string
  /** RFC 3339. */
  readonly time: string
  readonly balances: readonly FeedBalance[]
}

/** The keys of `/.well-known/jwks.json`. */
export interface PublishedKey {
  readonly kid?: string
  readonly crv?: string
  readonly x?: string
}

const BALANCE = /^balance (\S+) (\S+) (\S+) booked (\S+) entries (\d+)$/
const ED25519 = Uint8Array.of(1)

const base64Of = (base64url: string): string => base64url.replaceAll('-', '+').replaceAll('_', '/')

/** Whether a line of signatures is one over the text by a key (C2SP signed-note, Ed25519). */
async function isSignedBy(
  { crv, x }: PublishedKey,
  name: string,
  text: string,
  line: string,
): Promise<boolean> {
  const [dash, signer, signature = ''] = line.split(' ')
  if (dash !== '—' || signer !== name || crv !== 'Ed25519' || x === undefined) return false
  const raw = fromBase64(base64Of(x))
  const bytes = fromBase64(signature)
  const keyId = (await sha256(utf8(`${name}\n`), ED25519, raw)).slice(0, 4)
  if (toHex(keyId) !== toHex(bytes.slice(0, 4))) return false
  const key = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, bytes.slice(4), utf8(text))
}

/**
 * What a checkpoint says, once its signature is verified by one of the keys.
 *
 * @throws Error when none of the keys has signed it, or it is no checkpoint
 */
export async function readCheckpoint(note: string, keys: readonly PublishedKey[]): Promise<Checkpoint> {
  const end = note.lastIndexOf('\n\n') + 1
  const text = note.slice(0, end)
  const [origin = '', size = '', root = '', ...more] = text.split('\n')
  const lines = note.slice(end + 1).split('\n')
  const signed = await Promise.all(
    keys.flatMap((key) => lines.map((line) => isSignedBy(key, origin, text, line))),
  )
  if (end === 0 || !signed.includes(true)) throw new Error('none of the published keys has signed the head')
  const time = more.find((line) => line.startsWith('time '))
  if (!/^\d{1,15}$/.test(size) || !time) throw new Error('the head is no checkpoint of a feed')
  const balances = more.flatMap((line): FeedBalance[] => {
    const [, account, unit, balance, booked, entries] = BALANCE.exec(line) ?? []
    return account && unit && balance && booked
      ? [{ account, unit, balance, booked, entries: Number(entries) }]
      : []
  })
  return { origin, size: Number(size), root, time: time.slice('time '.length), balances }
}

/** The notes of a file of published heads, which follow each other. */
export const splitNotes = (text: string): string[] =>
  text.split(/(?<=\n— \S+ \S+\n)\n*(?!—)/).filter((note) => note.trim() !== '')
