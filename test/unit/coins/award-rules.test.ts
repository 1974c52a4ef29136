import { chooseConfig, considerConfigs, expiryOf, termsOf } from '@svc/core/coins/award-rules'
import { type CoinConfig, coversInstant, requireNoOverlap } from '@svc/core/coins/coin-config'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const at = (ms: number) => new Date(1_800_000_000_000 + ms)

const configOf = (rest: Partial<CoinConfig>): CoinConfig => ({
  coinConfigId: 'ccf_1',
  partnerId: 'par_1',
  configuration: 'DEFAULT',
  companyId: null,
  event: 'e',
  amount: 10n,
  title: 't',
  description: null,
  status: 'ACTIVE',
  validFrom: at(0),
  validTo: null,
  perUserDailyLimit: null,
  coinsExpireAfterDays: null,
  activation: null,
  activateAfterDays: null,
  revision: 1,
  createdAt: at(0),
  modifiedAt: at(0),
  ...rest,
})

const validity = fc
  .tuple(fc.nat(10), fc.option(fc.integer({ min: 1, max: 10 })))
  .map(([from, lasts]) => ({ validFrom: at(from), validTo: lasts === null ? null : at(from + lasts) }))
const config = fc
  .tuple(
    validity,
    fc.constantFrom(null, 'com_1', 'com_2'),
    fc.constantFrom('e', 'f'),
    fc.constantFrom('par_1', 'par_2'),
    fc.boolean(),
  )
  .map(([times, companyId, event, partnerId, active]) =>
    configOf({
      ...times,
      companyId,
      configuration: companyId === null ? 'DEFAULT' : 'CUSTOM',
      event,
      partnerId,
      status: active ? 'ACTIVE' : 'INACTIVE',
    }),
  )

/** Takes configurations one by one, as creating them would; refused ones are left out. */
function accepted(wanted: readonly CoinConfig[]): CoinConfig[] {
  const taken: CoinConfig[] = []
  wanted.forEach((one, i) => {
    const named = { ...one, coinConfigId: `ccf_${i}` }
    try {
      requireNoOverlap(named, taken)
      taken.push(named)
    } catch (error) {
      expect(error).toMatchObject({ code: 'coin_config_overlaps' })
    }
  })
  return taken
}

const coinEvent = { partnerId: 'par_1', companyId: 'com_1', event: 'e' }

test('among accepted configurations at most one applies at any instant, and CUSTOM when there is one', () => {
  fc.assert(
    fc.property(fc.array(config, { maxLength: 15 }), fc.nat(25), (wanted, ms) => {
      const instant = at(ms)
      const configs = accepted(wanted)
      const applying = considerConfigs(configs, { ...coinEvent, occurredAt: instant }).filter(
        ({ verdict }) => verdict === 'APPLIES',
      )
      const fits = configs.filter(
        (c) =>
          c.status === 'ACTIVE' && c.partnerId === 'par_1' && c.event === 'e' && coversInstant(c, instant),
      )
      const own =
        fits.find(({ companyId }) => companyId === 'com_1') ??
        fits.find(({ companyId }) => companyId === null)
      expect(applying.map(({ config: c }) => c)).toEqual(own ? [own] : [])
    }),
  )
})

test('a rejected configuration shares an instant with an accepted one of the same event and scope', () => {
  fc.assert(
    fc.property(config, config, (one, two) => {
      const first = { ...one, coinConfigId: 'ccf_a' }
      const second = { ...two, coinConfigId: 'ccf_b' }
      const sameScope =
        one.partnerId === two.partnerId && one.companyId === two.companyId && one.event === two.event
      const bothActive = one.status === 'ACTIVE' && two.status === 'ACTIVE'
      const instants = Array.from({ length: 30 }, (_, ms) => at(ms))
      const shared = instants.some((instant) => coversInstant(one, instant) && coversInstant(two, instant))
      const refuse = () => requireNoOverlap(second, [first])
      if (sameScope && bothActive && shared)
        expect(refuse).toThrow(expect.objectContaining({ code: 'coin_config_overlaps' }))
      else expect(refuse).not.toThrow()
    }),
  )
})

test('the daily limit accepts exactly what fits under it', () => {
  const limited = configOf({ perUserDailyLimit: 25n })
  const choose = (awarded: bigint) => () =>
    chooseConfig([{ config: limited, verdict: 'APPLIES' }], () => awarded)
  expect(choose(15n)()).toBe(limited)
  expect(choose(16n)).toThrow(expect.objectContaining({ code: 'coin_daily_limit_reached' }))
  expect(() => chooseConfig([{ config: limited, verdict: 'NOT_YET_VALID' }], () => 0n)).toThrow(
    expect.objectContaining({ code: 'no_coin_config' }),
  )
})

test('coins last whole days of 24 hours, or forever', () => {
  expect(expiryOf(configOf({ coinsExpireAfterDays: 2 }), at(5))).toEqual(at(5 + 172_800_000))
  expect(expiryOf(configOf({}), at(5))).toBeNull()
})

test('a delayed award becomes active after whole days, and its coins last from then on', () => {
  const terms = termsOf(configOf({ activateAfterDays: 1, coinsExpireAfterDays: 2 }), 'cac_1', at(5))
  expect(terms).toEqual({
    activationId: 'cac_1',
    activatesAt: at(5 + 86_400_000),
    expiresAt: at(5 + 3 * 86_400_000),
  })
})

test('an award that waits for confirmation has neither an activation time nor an expiry', () => {
  const terms = termsOf(configOf({ activation: 'CONFIRMATION', coinsExpireAfterDays: 2 }), 'cac_1', at(5))
  expect(terms).toEqual({ activationId: 'cac_1', activatesAt: null, expiresAt: null })
})

test('an award that is active at once has no activation', () => {
  const terms = termsOf(configOf({ coinsExpireAfterDays: 2 }), 'cac_1', at(5))
  expect(terms).toEqual({ activationId: null, activatesAt: null, expiresAt: at(5 + 2 * 86_400_000) })
})
