import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyCheckout } from '../harness/checkout.ts'
import { ROOT } from '../harness/sources.ts'

const run = promisify(execFile)
let place: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-readmes-'))
  copyCheckout(place, ['packages', 'package.json', 'tsconfig.json', 'tsconfig.base.json'])
})
afterAll(() => rm(place, { recursive: true, force: true }))

test.each(['jwe', 'upi-qr', 'embedded-postgres'])(
  'the example in the README of %s runs as printed',
  async (name) => {
    const readme = await readFile(join(ROOT, 'packages', name, 'README.md'), 'utf8')
    const example = /^```ts\n(.*?)^```$/ms.exec(readme)![1]!
    await writeFile(join(place, `${name}.ts`), `${example}\nconsole.log('done')\n`)
    const { stdout } = await run(process.execPath, ['--import', 'tsx', `${name}.ts`], { cwd: place })
    expect(stdout).toMatch(/done\n$/)
  },
)
