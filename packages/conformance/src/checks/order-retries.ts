import { type Check, decided } from '../check.ts'
import { encrypt } from '../encryption.ts'
import { fail, wantFailure, wantStatus, wantText, wantValue } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { newMobile } from './create-card.ts'

export const encryptedOrder = async (subject: Subject): Promise<string> =>
  encrypt(JSON.stringify(subject.orderOf('incentivePartner', { mobile: newMobile() })), subject.sharedKey())

export const ORDER_RETRY_CHECKS: readonly Check[] = [
  decided(
    '4.3.idempotency',
    'decision C13',
    'The same Idempotency-Key and order, encrypted again, return the same response byte for byte',
    async (s) => {
      const order = s.orderOf('incentivePartner', { mobile: newMobile() })
      const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
      const first = await s.createCard(order, key)
      wantStatus(first, 200)
      const second = await s.createCard(order, key)
      if (second.status !== 200 || second.text !== first.text)
        fail(second, 'the first response, byte for byte', `${second.status} with another body`)
    },
  ),
  decided(
    '4.3.idempotency.together',
    'decision C13',
    'Five orders at once with one Idempotency-Key make one card',
    async (s) => {
      const order = s.orderOf('incentivePartner', { mobile: newMobile() })
      const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
      const responses = await Promise.all(Array.from({ length: 5 }, () => s.createCard(order, key)))
      for (const response of responses) wantStatus(response, 200)
      const ids = new Set(responses.map((response) => wantText(response, 'payload.svcCardId')))
      if (ids.size !== 1) fail(responses[0]!, 'one card', `${ids.size} cards`)
    },
  ),
  decided(
    '4.3.idempotency.other',
    'decision C13',
    'The same Idempotency-Key with another order is 422',
    async (s) => {
      const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
      wantStatus(await s.createCard(s.orderOf(), key), 200)
      const other = s.orderOf('incentivePartner', { mobile: newMobile() })
      wantFailure(await s.createCard(other, key), 422, 'idempotency_key_reused')
    },
  ),
  decided(
    '4.3.idempotency.refused',
    'decision C13',
    'An order that was refused does not burn its Idempotency-Key',
    async (s) => {
      const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
      wantFailure(
        await s.createCard(s.orderOf('incentivePartner', { mobile: '1' }), key),
        400,
        'validation_failed',
      )
      wantStatus(await s.createCard(s.orderOf(), key), 200)
    },
  ),
  decided(
    '4.3.idempotency.key',
    'decision C13',
    'An Idempotency-Key of 255 characters is accepted, one of 256 is refused',
    async (s) => {
      const unique = crypto.randomUUID()
      const send = (length: number) =>
        s.createCard(s.orderOf(), { headers: { 'idempotency-key': unique.padEnd(length, 'k') } })
      wantStatus(await send(255), 200)
      wantFailure(await send(256), 400, 'validation_failed', 'Idempotency-Key')
    },
  ),
  decided(
    '4.3.replay',
    'decision C13',
    'A JWE counts once: the same JWE again gets the first response',
    async (s) => {
      const encrypted = await encryptedOrder(s)
      const first = await s.sendEncrypted(encrypted, {})
      wantStatus(first, 200)
      const again = await s.sendEncrypted(encrypted, {})
      wantValue(again, 'payload.svcCardId', wantText(first, 'payload.svcCardId'))
    },
  ),
  decided(
    '4.3.replay.other-key',
    'decision C13',
    'The same JWE under another Idempotency-Key is 409 encrypted_request_replayed',
    async (s) => {
      const encrypted = await encryptedOrder(s)
      wantStatus(await s.sendEncrypted(encrypted, {}), 200)
      const headers = { 'idempotency-key': crypto.randomUUID() }
      wantFailure(await s.sendEncrypted(encrypted, { headers }), 409, 'encrypted_request_replayed')
    },
  ),
]
