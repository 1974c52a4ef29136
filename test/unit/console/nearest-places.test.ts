import { expect, test } from 'vitest'
import type { Area } from '../../../apps/console/src/shell/area.ts'
import { nearestPlaces } from '../../../apps/console/src/shell/nearest-places.ts'

const place = (to: string, label: string) => ({ to, label })
const AREAS = [
  { label: 'Home', key: 'h', Icon: () => null, places: [place('/', 'Home')] },
  {
    label: 'Cards',
    key: 'c',
    Icon: () => null,
    places: [place('/cards', 'Cards'), place('/card-accounts', 'Card accounts'), place('/users', 'Holders')],
  },
  { label: 'Money', key: 'm', Icon: () => null, places: [place('/payouts', 'Payouts')] },
] satisfies Area[]

const near = (pathname: string) => nearestPlaces(pathname, AREAS).map(({ label }) => label)

test('an address that no page has leads to the places whose words are like its own, the nearest first', () => {
  expect(near('/card')).toEqual(['Card accounts', 'Cards'])
  expect(near('/cards/list')).toEqual(['Cards', 'Card accounts'])
  expect(near('/payout')).toEqual(['Payouts'])
  expect(near('/holder')).toEqual(['Holders'])
  expect(near('/xyz')).toEqual([])
  expect(near('/')).toEqual([])
})
