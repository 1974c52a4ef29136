import { execFile, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
// The programs never meet the database: once is enough.
const once = describe.skipIf(process.env['TEST_POSTGRES'] !== 'package')

function works(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The guide's languages, how each program is run as it stands there, and whether this machine can. */
const PROGRAMS: readonly (readonly [
  language: string,
  file: string,
  command: readonly [string, ...string[]],
  runs: () => boolean,
])[] = [
  ['sh', 'seal.sh', ['bash', 'seal.sh'], () => works('jose', 'alg') && works('jq', '--version')],
  ['ts', 'seal.ts', [process.execPath, '--import', 'tsx', 'seal.ts'], () => true],
  ['python', 'seal.py', ['python3', 'seal.py'], () => works('python3', '-c', 'import jwcrypto')],
  ['java', 'Seal.java', ['java', 'Seal.java'], () => works('java', '--version')],
  ['go', 'seal.go', ['go', 'run', 'seal.go'], () => works('go', 'version')],
]

let from: SandboxService
let folder: string
let guide: string

once('the guide to sealing', () => {
  beforeAll(async () => {
    from = await openSandbox()
    folder = await mkdtemp(join(tmpdir(), 'svc-guide-'))
    guide = await readFile(join(ROOT, 'docs/guides/seal-a-request.md'), 'utf8')
    await mkdir(join(folder, 'data'))
    await writeFile(join(folder, 'data/sandbox.json'), JSON.stringify(from.sandbox))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  })
  afterAll(async () => {
    await from.service.close()
    await rm(folder, { recursive: true, force: true })
  })

  for (const [language, file, [command, ...args], runs] of PROGRAMS)
    test.skipIf(!runs())(`its program in ${language} issues a card, as it stands there`, async () => {
      const program = guide.match(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's'))![1]!
      await writeFile(join(folder, file), program)
      const { stdout } = await run(command, args, { cwd: folder })
      expect(JSON.parse(stdout)).toMatchObject({
        code: 0,
        message: 'Success',
        payload: { firstName: 'Asha', loadAmount: '500' },
      })
    })
})
