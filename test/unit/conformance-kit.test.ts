import { DEFAULTS } from '@svc/conformance/interpretation'
import { SECTIONS } from '@svc/conformance/registry'
import { SETTINGS } from '@svc/contract/config'
import { EVERY_INTERPRETATION } from '@svc/contract/interpretations'
import { CoinConfigRecord } from '@svc/core/coins/coin-config'
import { expect, test } from 'vitest'

const checkIds = SECTIONS.flatMap(({ checks }) => checks.map(({ id }) => id))

test('every interpretation setting is known to the kit, with the same default (decision R5)', () => {
  const ofContract = Object.keys(EVERY_INTERPRETATION).map((name) => [
    name,
    SETTINGS[name as keyof typeof EVERY_INTERPRETATION].default,
  ])
  expect(DEFAULTS).toEqual(Object.fromEntries(ofContract))
})

test('every field of a coin configuration has its check in the kit', () => {
  const checked = checkIds.flatMap((id) => /^4\.5\.payload\.(\w+)$/.exec(id)?.[1] ?? [])
  expect(checked.sort()).toEqual(Object.keys(CoinConfigRecord.properties).sort())
})
