import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

/** Runs the tests that fail on purpose, in a vitest of their own; returns what it prints. */
async function outputOfFailingTests(): Promise<{ code: number; output: string }> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--config', 'test/harness/failing/vitest.config.ts', '--reporter=verbose']
  // Else the run would take itself for a worker of this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST$|NODE_OPTIONS)/.test(name)),
  )
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...env, NO_COLOR: '1' }, stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()))
  const [code] = await once(child, 'close')
  return { code: code as number, output }
}

test('a test that fails after a 500 of the service prints its cause from the log, with the stack; one that passes prints nothing', async () => {
  const { code, output } = await outputOfFailingTests()
  expect(code, output).toBe(1)
  expect(output).toMatch(
    /GET \/api\/v0\/qr-code\/\S+ returned 500 \(req_\w+\)\. Its cause, from the log \(getQrCode\)/,
  )
  expect(output).toMatch(/error: relation "qr_codes" does not exist\n +at .*\.[jt]s:\d+/)
  expect(output).toMatch(/GET \/merchants returned 500/)
  expect(output).toContain('relation "merchants" does not exist')
  expect(output).toMatch(/✓ .*receives an expected 500/)
  expect(output.match(/returned 500 \(/g)).toHaveLength(2)
})
