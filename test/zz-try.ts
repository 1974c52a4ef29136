import { readFileSync } from 'node:fs'
import { checkConformance } from '../src/conformance/conformance.ts'
import { SECTIONS } from '../src/conformance/registry.ts'
import { startMutant } from './harness/mutant-proxy.ts'
import { mutantsOf } from './harness/mutants.ts'

const sandbox = JSON.parse(readFileSync('/tmp/conf-data/sandbox.json', 'utf8'))
const [from, to] = process.argv.slice(2).map(Number)
const names = mutantsOf(sandbox)
for (let i = from!; i < Math.min(to!, names.length); i++) {
  const mutant = mutantsOf(sandbox)[i]!
  const proxy = await startMutant(sandbox.baseUrl, mutant)
  const result = await checkConformance({
    baseUrl: proxy.baseUrl,
    credentials: sandbox,
    profile: 'full',
    timeoutMs: 20000,
    totalMs: 120000,
    sections: mutant.fails.some((id) => /^(4\.3|8)\./.test(id))
      ? []
      : SECTIONS.map(({ id }) => id).filter((id) => id !== '4.3' && id !== '8'),
  })
  await proxy.close()
  const failed = result.outcomes.filter((o) => o.status === 'failed').map((o) => o.check.id)
  const extra = failed.filter((id) => !mutant.fails.includes(id) && !mutant.also?.test(id))
  const missed = mutant.fails.filter((id) => !failed.includes(id))
  const blocked = result.outcomes.filter((o) => o.status === 'blocked').length
  if (extra.length + missed.length)
    console.log(
      `✗ ${i} ${mutant.name}: extra ${extra.join(' ')} | missed ${missed.join(' ')} (${failed.length} failed, ${blocked} blocked, ${result.tookMs} ms)`,
    )
  else console.log(`✓ ${i} ${result.tookMs} ms ${blocked}`)
  console.log('KILL', failed.join(' '))
}
