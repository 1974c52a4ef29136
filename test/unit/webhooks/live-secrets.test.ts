import { liveSecrets, type Target } from '@svc/core/webhooks/delivery-store'
import { Secret } from '@svc/kernel/secret'
import { expect, test } from 'vitest'

test('a secret signs up to the millisecond before its end, and one without an end always', () => {
  const [previous, current] = [new Secret('previous'), new Secret('current')]
  const secrets = [
    { secret: previous, expiresAtMs: 1_000 },
    { secret: current, expiresAtMs: Number.POSITIVE_INFINITY },
  ]
  const target = { url: '', headers: {}, secrets } as unknown as Target
  expect(liveSecrets(target, 999)).toEqual([previous, current])
  expect(liveSecrets(target, 1_000)).toEqual([current])
  expect(liveSecrets(target, 1_001)).toEqual([current])
})
