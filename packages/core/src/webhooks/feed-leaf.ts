import { hash } from 'node:crypto'
import { ERASED_FIELDS, type EventType } from '@svc/contract/events'
import { jcs } from '@svc/kernel/jcs'
import { leafHash } from '@svc/platform/crypto/merkle'

/** An event as its leaf states it. */
export interface LeafEvent {
  readonly sequence: bigint
  readonly eventId: string
  readonly type: EventType
  readonly createdAt: Date
  readonly payload: Readonly<Record<string, unknown>>
}

/** What hides the personal data of an event: with the salt the data can be checked, without it they cannot be guessed. */
export interface Commitment {
  readonly fields: readonly string[]
  readonly salt: Buffer
  readonly digest: Buffer
}

export interface Leaf {
  readonly hash: Buffer
  readonly commitment: Commitment | undefined
}

export const SALT_BYTES = 16

const sha256 = (data: string | Uint8Array): Buffer => hash('sha256', data, 'buffer')

/** The leaf of a number whose event had been forgotten before the tree reached it: of no data. */
export const FORGOTTEN_LEAF: Leaf = { hash: leafHash(Buffer.alloc(0)), commitment: undefined }

/**
 * The leaf of an event (decision E7): RFC 8785 JSON of its number, id, type, time and the digest of its data. What erasure
 * may empty is in a digest of its own, with a salt, so that the leaf stays true without it.
 */
export function leafOf(event: LeafEvent, newSalt: () => Uint8Array): Leaf {
  const { createdAt, eventId, payload, sequence, type } = event
  const fields = (ERASED_FIELDS[type] ?? []).filter((name) => Object.hasOwn(payload, name))
  const commitment = fields.length > 0 ? commitmentTo(payload, fields, Buffer.from(newSalt())) : undefined
  const kept =
    fields.length === 0
      ? payload
      : Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)))
  const content = jcs({
    sequence: Number(sequence),
    id: eventId,
    type,
    createdMs: createdAt.getTime(),
    data: sha256(jcs(kept)).toString('hex'),
    personal: commitment?.digest.toString('hex'),
  })
  return { hash: leafHash(Buffer.from(content)), commitment }
}

function commitmentTo(payload: LeafEvent['payload'], fields: readonly string[], salt: Buffer): Commitment {
  const personal = Object.fromEntries(fields.map((name) => [name, payload[name]]))
  return { fields, salt, digest: sha256(Buffer.concat([salt, Buffer.from(jcs(personal))])) }
}
