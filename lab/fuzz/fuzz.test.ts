import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { LONG } from '../../test/harness/long.ts'
import { fuzz } from './run.ts'

// A burst with a fresh seed; `npm run fuzz` goes on for as long as one likes.
const CASES = Number(process.env['FUZZ_CASES'] ?? (LONG ? 3_000 : 1_000))
const MINUTES = LONG ? 0.4 : 0.25

test('hostile input gets documented errors: no 5xx, no leak, no crash of the process', {
  timeout: 180_000,
}, async () => {
  const seed = randomInt(2 ** 29)
  const { findings, ...figures } = await fuzz({ cases: CASES, seed, minutes: MINUTES })
  console.log(`fuzz seed ${seed}: ${JSON.stringify(figures)}`)
  expect(findings).toEqual([])
  expect(figures.cases).toBeGreaterThan(100)
})
