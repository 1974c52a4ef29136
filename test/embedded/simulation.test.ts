import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { LONG } from '../harness/long.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** For longer runs than a change can wait for. */
const SEEDS = process.env['SIMULATION_SEEDS'] ?? '1'
const STEPS = process.env['SIMULATION_STEPS'] ?? '250'

vi.setConfig({ testTimeout: 300_000 })

/** In a process of its own: it takes over the clock, the timers and the chance of its process. */
function simulate(...args: string[]): Promise<{ code: number | null; output: string }> {
  const command = ['--import', 'tsx', 'lab/simulation/simulate.ts', ...args]
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

test('with faults injected everywhere, no invariant breaks in fresh seeds', async () => {
  const { code, output } = await simulate('--seeds', SEEDS, '--steps', STEPS)
  console.log(output)
  expect(code, output).toBe(0)
})

if (LONG)
  test('the same seed runs the same steps, alone or after another seed', async () => {
    const hash = async (...args: string[]) => {
      const { output } = await simulate(...args, '--steps', '100', '--hash')
      return /^7 [0-9a-f]{64}$/m.exec(output)?.[0] ?? output
    }
    const alone = await hash('--seed', '7')
    expect(alone).toMatch(/^7 [0-9a-f]{64}$/)
    expect(await hash('--seed', '6', '--seeds', '2')).toBe(alone)
  })

test('text in place of a number is rejected, with an example', async () => {
  const { code, output } = await simulate('--seed', 'seven')
  expect(code).toBe(2)
  expect(output).toContain('--seed must be a whole number, such as --seed 20')
})
