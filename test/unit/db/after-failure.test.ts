import {
  afterFailure,
  type BatchFailure,
  type BatchState,
  type NextStep,
  RACES_MAX,
} from '@svc/platform/db/after-failure'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const failures: readonly BatchFailure[] = [
  'committed',
  'unknown',
  'unavailable',
  'lock timeout',
  'race',
  'own',
]
const failure = fc.constantFrom(...failures)
const state: fc.Arbitrary<BatchState> = fc.record({
  inDoubt: fc.boolean(),
  mode: fc.constantFrom('wait', 'skip'),
  tenants: fc.integer({ min: 1, max: 5 }),
  races: fc.integer({ min: 0, max: RACES_MAX + 1 }),
})

const calm: BatchState = { inDoubt: false, mode: 'wait', tenants: 2, races: 0 }

test.each<[BatchFailure, Partial<BatchState>, NextStep]>([
  ['unknown', {}, 'settle'],
  ['unavailable', {}, 'pause'],
  ['lock timeout', {}, 'skip'],
  ['lock timeout', { mode: 'skip', tenants: 1 }, 'give back'],
  ['lock timeout', { mode: 'skip', tenants: 2 }, 'split'],
  ['race', { races: RACES_MAX - 1 }, 'again'],
  ['race', { races: RACES_MAX }, 'split'],
  ['committed', {}, 'again'],
  ['own', {}, 'split'],
  ['committed', { inDoubt: true }, 'settled'],
  ['own', { inDoubt: true }, 'settle'],
])('%s with %o: %s', (what, given, step) => {
  expect(afterFailure(what, { ...calm, ...given })).toBe(step)
})

test('a batch in doubt is settled and nothing else, whatever fails meanwhile', () => {
  fc.assert(
    fc.property(failure, state, (what, given) => {
      const step = afterFailure(what, { ...given, inDoubt: true })
      expect(step).toBe(what === 'committed' ? 'settled' : 'settle')
    }),
  )
})

test('an outcome is accepted as committed only when it was in doubt and the id of its batch exists', () => {
  fc.assert(
    fc.property(failure, state, (what, given) => {
      if (afterFailure(what, given) !== 'settled') return
      expect([what, given.inDoubt]).toEqual(['committed', true])
    }),
  )
})

test('a failure of the database or of other lock holders never fails a single command', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<BatchFailure>('unknown', 'unavailable', 'lock timeout'),
      state,
      (what, given) => {
        expect(afterFailure(what, { ...given, tenants: 1 })).not.toBe('split')
      },
    ),
  )
})

test('a batch whose database responds ends, whatever sequence of failures it meets', () => {
  const definite = fc.constantFrom<BatchFailure>('lock timeout', 'race', 'committed', 'own')
  fc.assert(
    fc.property(
      fc.array(definite, { minLength: RACES_MAX + 3 }),
      fc.integer({ min: 1, max: 5 }),
      (met, tenants) => {
        let mode: BatchState['mode'] = 'wait'
        let races = 0
        for (const [attempt, what] of met.entries()) {
          const step = afterFailure(what, { inDoubt: false, mode, tenants, races })
          if (step === 'split' || step === 'give back') return
          if (step === 'skip') mode = 'skip'
          if (step === 'again') races++
          expect(attempt).toBeLessThanOrEqual(RACES_MAX + 1)
        }
        expect.unreachable('the batch was tried again for ever')
      },
    ),
  )
})
