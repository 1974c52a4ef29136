// `npm run fuzz -- --cases 200000 --seed 1 --operation createQrCode --minutes 30`: hostile requests to every operation.
// `--grammars`: only what the libraries' grammars read besides ours, and ids of other tenants.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { fuzz, GRAMMARS } from './run.ts'

const whole = (name: string, text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  console.error(`--${name} must be a whole number`)
  process.exit(2)
}

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(randomInt(2 ** 29)) },
    operation: { type: 'string', multiple: true },
    grammars: { type: 'boolean', default: false },
    minutes: { type: 'string' },
  },
})
const only = [...(values.operation ?? []), ...(values.grammars ? GRAMMARS : [])]
const seed = whole('seed', values.seed)
console.log(`seed ${seed}`)
const report = await fuzz({
  cases: whole('cases', values.cases),
  seed,
  ...(only.length > 0 && { only }),
  ...(values.minutes !== undefined && { minutes: whole('minutes', values.minutes) }),
  log: (line) => console.log(line),
})
const { findings, ...figures } = report
console.log(JSON.stringify({ ...figures, findings: findings.length }, null, 2))
for (const { where, problem, seed: drawn, replay, received } of findings)
  console.log(
    `\n${where}: ${problem}\n  again: npm run fuzz -- --operation ${where} --seed ${drawn}\n  ${replay}\n  heard: ${received.slice(0, 1_000)}`,
  )
process.exitCode = findings.length > 0 ? 1 : 0
