import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { SECTIONS } from '../../src/conformance/registry.ts'
import { conformanceOfMutant, idsOf, openSandbox, type SandboxService } from '../harness/conformance.ts'
import { mutantsOf } from '../harness/mutants.ts'

const killed = new Set<string>()
let from: SandboxService
beforeAll(async () => void (from = await openSandbox()))
afterAll(() => from.service.close())

const all = mutantsOf({ incentivePartner: { sharedKey: { k: '' } }, merchant: {} } as never)
test.each(all.map(({ name }, i) => [name, i] as const))('wrong in one way: %s', async (_, i) => {
  const mutant = mutantsOf(from.sandbox)[i]!
  const result = await conformanceOfMutant(from, mutant)
  const failed = idsOf(result, 'failed')
  for (const id of failed) killed.add(id)
  const extra = failed.filter((id) => !mutant.fails.includes(id) && !mutant.also?.test(id))
  const missed = mutant.fails.filter((id) => !failed.includes(id))
  expect({ extra, missed }).toEqual({ extra: [], missed: [] })
})
test('count', () => {
  const ids = SECTIONS.flatMap(({ checks }) => checks.map(({ id }) => id))
  console.log(killed.size, ids.length, ids.filter((id) => !killed.has(id)).join(' '))
})
