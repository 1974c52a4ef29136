import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTATIONS } from '../../lab/mutation/mutants.ts'

test.each(MUTATIONS)('the code that `npm run test:mutations` breaks exists: $what ($named)', (mutation) => {
  for (const { file, from } of [mutation, ...(mutation.also ?? [])])
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toContain(from)
})
