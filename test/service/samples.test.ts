import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { GIFT_CARD_SAMPLES } from '@svc/core/cards/card/gift-card-samples'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROGRAM, type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase } from '../harness/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

let place: string
let service: ServiceProcess

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-samples-'))
  await mkdir(join(place, 'data'))
  await symlink(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  const { url } = await newDatabase()
  service = await startProcess({
    DATABASE_URL: url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: join(place, 'data'),
  })
}, 240_000)
afterAll(async () => {
  await service.end('SIGTERM')
  await rm(place, { recursive: true, force: true })
})

test.each(GIFT_CARD_SAMPLES)(
  'the $label example of the reference, run unchanged, issues a card',
  async ({ lang, source }) => {
    // The program as it stands in this tree, where a reader has the installed one.
    const program = `${process.execPath} ${PROGRAM}`
    // Where the packages of this tree lie, which is not the folder that the example runs in.
    const TSX_TSCONFIG_PATH = join(ROOT, 'tsconfig.base.json')
    const env = { ...process.env, TSX_TSCONFIG_PATH, DATA_DIR: join(place, 'data') }
    const { stdout } =
      lang === 'Shell'
        ? await run('bash', ['-c', source.replaceAll('npx svc', program)], { cwd: place, env })
        : await run(process.execPath, ['--input-type=module', '-e', source], { cwd: place, env })
    expect(JSON.parse(stdout)).toMatchObject({
      code: 0,
      message: 'Success',
      payload: { firstName: 'Asha', loadAmount: '500', cardStatus: { name: 'UL' } },
    })
  },
  120_000,
)
