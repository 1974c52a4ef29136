import { paise as inPaise, type Paise, paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import {
  day,
  flag,
  instant,
  nullable,
  paise,
  type RowOf,
  table,
  text,
  textOf,
  texts,
} from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'

/** Holds on cards: of approved authorisations and of stand-in advices. */
export const cardAuthorizations = table('card_authorizations', 'a', ['partnerId', 'authorizationId'], {
  partnerId: text,
  authorizationId: text,
  svcCardId: text,
  /** With the transmission time the network's reference of the message that placed it. */
  acquirerId: text,
  stan: text,
  transmissionAt: instant,
  authorizationCode: text,
  amountPaise: paise,
  capturedPaise: paise,
  voidedPaise: paise,
  /** What is held now: nothing once it is closed. */
  heldPaise: paise,
  status: textOf<'OPEN' | 'CAPTURED' | 'VOIDED' | 'EXPIRED'>(),
  /** Placed while the network stood in, whatever the card had left. */
  forced: flag,
  createdAt: instant,
  expiresAt: instant,
  closedAt: nullable(instant),
  /** Under what it counts for spend rules, and on which business day; `null`: for none. */
  counters: nullable(texts()),
  countedOn: nullable(day),
})
export type CardAuthorization = RowOf<typeof cardAuthorizations>

export const updateAuthorizations = cardAuthorizations.updates(
  ['amountPaise', 'capturedPaise', 'voidedPaise', 'heldPaise', 'status', 'expiresAt', 'closedAt'],
  'change',
)

/** What it uses of limits: what was taken and what is still held. */
export const usedOf = ({ capturedPaise, heldPaise }: CardAuthorization): bigint => capturedPaise + heldPaise

/** After an authorisation raised an open hold, which lasts as long as a new one would (decision R1). */
export const afterRaise = (
  held: CardAuthorization,
  amountPaise: Paise,
  expiresAt: Date,
): CardAuthorization => ({
  ...held,
  amountPaise: inPaise(held.amountPaise + amountPaise),
  heldPaise: inPaise(held.heldPaise + amountPaise),
  expiresAt: expiresAt > held.expiresAt ? expiresAt : held.expiresAt,
})

/** After an amount was captured: the hold shrinks by it, and closes when nothing is held or the capture is the last. */
export function afterCapture(
  held: CardAuthorization,
  amountPaise: Paise,
  isFinal: boolean,
  now: Date,
): CardAuthorization {
  const capturedPaise = inPaise(held.capturedPaise + amountPaise)
  if (held.status !== 'OPEN') return { ...held, capturedPaise }
  const left = held.amountPaise - capturedPaise - held.voidedPaise
  if (left > 0n && !isFinal) return { ...held, capturedPaise, heldPaise: inPaise(left) }
  return { ...held, capturedPaise, heldPaise: inPaise(0n), status: 'CAPTURED', closedAt: now }
}

/** After an amount of an open hold was voided; by default all that is held. */
export function afterVoid(held: CardAuthorization, amountPaise: Paise | null, now: Date): CardAuthorization {
  const released = amountPaise === null || amountPaise > held.heldPaise ? held.heldPaise : amountPaise
  const voidedPaise = inPaise(held.voidedPaise + released)
  const heldPaise = inPaise(held.heldPaise - released)
  if (heldPaise > 0n) return { ...held, voidedPaise, heldPaise }
  return {
    ...held,
    voidedPaise,
    heldPaise,
    status: held.capturedPaise > 0n ? 'CAPTURED' : 'VOIDED',
    closedAt: now,
  }
}

/** What the event of an expired hold contains. */
export const CardHoldRecord = Type.Object(
  {
    authorizationId: Type.String(),
    svcCardId: Type.String(),
    authorizationCode: Type.String({ description: 'ISO 8583 field 38' }),
    amount: Type.Number({ description: 'Rupees that were authorised' }),
    capturedAmount: Type.Number({ description: 'Rupees' }),
    releasedAmount: Type.Number({ description: 'Rupees that are no longer held' }),
    createdOn: Type.String({ description: 'RFC 3339' }),
    expiredOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardHold', additionalProperties: false },
)

/** `releasedPaise`: what was held until `now`. */
export const holdExpiredEvent = (
  expired: CardAuthorization,
  releasedPaise: bigint,
  eventId: string,
  now: Date,
  timeZone: string,
): OutboxEvent => ({
  eventId,
  tenantId: expired.partnerId,
  type: 'card.hold_expired',
  objectId: expired.svcCardId,
  payload: {
    authorizationId: expired.authorizationId,
    svcCardId: expired.svcCardId,
    authorizationCode: expired.authorizationCode,
    amount: paiseToWire(expired.amountPaise),
    capturedAmount: paiseToWire(expired.capturedPaise),
    releasedAmount: paiseToWire(releasedPaise),
    createdOn: rfc3339(expired.createdAt, timeZone),
    expiredOn: rfc3339(now, timeZone),
  },
  createdAt: now,
})
