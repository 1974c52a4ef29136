import { liveSecrets, type Target } from '@svc/core/webhooks/delivery-store'
import { Secret } from '@svc/kernel/secret'
import { expect, test } from 'vitest'

test('a secret signs up to the millisecond before its end, and one without an end always', () => {
  const [former, current] = [new Secret('former'), new Secret('current')]
  const secrets = [
    { secret: former, expiresAtMs: 1_000 },
    { secret: current, expiresAtMs: Number.POSITIVE_INFINITY },
  ]
  const target = { url: '', headers: {}, secrets } as unknown as Target
  expect(liveSecrets(target, 999)).toEqual([former, current])
  expect(liveSecrets(target, 1_000)).toEqual([current])
  expect(liveSecrets(target, 1_001)).toEqual([current])
})
