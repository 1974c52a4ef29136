import { SECTIONS } from '@svc/conformance/registry'
import { CoinConfigRecord } from '@svc/core/coins/coin-config'
import { expect, test } from 'vitest'

const checkIds = SECTIONS.flatMap(({ checks }) => checks.map(({ id }) => id))

test('every field of a coin configuration has its check in the kit', () => {
  const checked = checkIds.flatMap((id) => /^4\.5\.payload\.(\w+)$/.exec(id)?.[1] ?? [])
  expect(checked.sort()).toEqual(Object.keys(CoinConfigRecord.properties).sort())
})
