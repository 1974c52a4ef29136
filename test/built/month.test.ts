import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { PACKAGE_ROOT } from '@svc/platform/package'
import { beforeAll, expect, test } from 'vitest'

const MONTH = 'bash docs/guides/month.sh'
const EARLY = 'node bin/svc.mjs admin books trial-balance | true; echo "status ${PIPESTATUS[0]}"'

let stdout: string
let stderr: string
beforeAll(async () => {
  const program = ['bin/svc.mjs', 'sandbox', 'exec', '--', 'bash', '-c', `${MONTH} && ${MONTH} && ${EARLY}`]
  ;({ stdout, stderr } = await promisify(execFile)(process.execPath, program, { cwd: PACKAGE_ROOT }))
})

test('the month of the guide is closed in a sandbox with everything in order, and so is the next one', () => {
  const [first = '', second = ''] = stdout.split('== The merchant is charged').slice(1)
  for (const month of [first, second]) {
    expect(month.match(/^(\w+) +true +0 +in order$/gm)).toHaveLength(7)
    expect(month).toMatch(/S\/\d\d-\d\d\/\d{7} +INVOICE/)
  }
  expect(first.match(/as signed/g)).toHaveLength(1)
  expect(second.match(/as signed/g)).toHaveLength(2)
})

test('the reader of the output of a command may stop early', () => {
  expect(stderr).not.toContain('EPIPE')
  expect(stdout).toContain('status 0')
})
