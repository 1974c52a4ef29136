import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Run, runHere } from '../harness/cli.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { type Mutation, startMutant } from '../harness/mutant-proxy.ts'

let from: SandboxService
let folder: string
let credentials: string
beforeAll(async () => {
  from = await openSandbox()
  folder = await mkdtemp(join(tmpdir(), 'svc-drift-'))
  credentials = await credentialsOf(from, 'sandbox.json')
})
afterAll(async () => {
  await from?.service.close()
  await rm(folder, { recursive: true, force: true })
})

async function credentialsOf({ sandbox }: SandboxService, name: string): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, JSON.stringify(sandbox))
  return file
}

type Report = NonNullable<Mutation['report']>

/** What a proxy changes in the responses of a real server, and the line that reports it. */
const CHANGES: readonly (readonly [line: RegExp, report: Report])[] = [
  [
    /POST \/api\/v0\/merchant\/token: resultMessage is nothing, of the reference "Success"/,
    ({ json, status }, { path }) =>
      void (path === '/api/v0/merchant/token' && status === 200 && delete json.resultMessage),
  ],
  [
    /PATCH \/api\/v0\/qr-code\/\{qrCodeId\}\/cancel: status is 410 qr_code_not_found, of the reference 404 qr_code_not_found/,
    (reported, { method }) => void (method === 'PATCH' && reported.status === 404 && (reported.status = 410)),
  ],
  [
    /\d+ operations: header x-request-id is nothing, of the reference /,
    ({ headers }) => void delete headers['x-request-id'],
  ],
  [
    /POST \/api\/v0\/partner\/svcCard: payload\.cardStatus\.label is "Unlocked", of the reference "UnLocked"/,
    ({ json, status }, { path }) =>
      void (
        path === '/api/v0/partner/svcCard' &&
        status === 200 &&
        json &&
        (json.payload.cardStatus.label = 'Unlocked')
      ),
  ],
]

const drift = (url: string, reference: string, ...more: string[]): Promise<Run> =>
  runHere(['conformance', '--against', url, '--reference', reference, '-c', credentials, ...more], {})

const linesOf = ({ stdout }: Run): string[] => stdout.split('\n').filter((line) => /^ ?\d+ {2}/.test(line))

async function driftOf(options: readonly string[], ...reports: readonly Report[]): Promise<Run> {
  const proxy = await startMutant(from.sandbox.baseUrl, {
    report: async (reported, request) => {
      for (const report of reports) await report(reported, request)
    },
  })
  try {
    return await drift(proxy.baseUrl, from.sandbox.baseUrl, ...options)
  } finally {
    await proxy.close()
  }
}

test('a server does not differ from itself: exit 0', async () => {
  const run = await driftOf(FEW)
  expect([linesOf(run), run.code]).toEqual([[], 0])
  expect(run.stdout).toContain('No differences')
})

/** Sections in which the first three changes show, and all. */
const FEW = ['--section', '4.1', '4.2']
test.each([
  [1, FEW],
  [2, FEW],
  [3, FEW],
  [4, []],
])('%i changes of a proxy are reported exactly, one line each: exit 1', async (count, options) => {
  const chosen = CHANGES.slice(0, count)
  const run = await driftOf(options, ...chosen.map(([, report]) => report))
  expect(linesOf(run)).toEqual(chosen.map(() => expect.any(String)))
  for (const [line] of chosen) expect(linesOf(run).filter((one) => line.test(one))).toHaveLength(1)
  expect(run.code).toBe(1)
})

test('another installation with another reading of the specification differs in that reading, and the report names its setting', async () => {
  const other = await openSandbox({ SECOND_CANCEL: 'conflict' })
  try {
    const file = await credentialsOf(other, 'other.json')
    const { baseUrl } = other.sandbox
    const own = ['--reference-credentials', credentials, '-c', file, '--section', '4.2']
    const run = await runHere(
      ['conformance', '--against', baseUrl, '--reference', from.sandbox.baseUrl, ...own, '--json'],
      {},
    )
    const { differences } = JSON.parse(run.stdout)
    expect(differences).toEqual([
      expect.objectContaining({
        reading: { setting: 'SECOND_CANCEL', section: '3.1', server: 'conflict', reference: 'same' },
      }),
    ])
    expect(run.code).toBe(1)
  } finally {
    await other.service.close()
  }
})

test('--against and --reference are valid together only: exit 2', async () => {
  const run = await runHere(['conformance', '--against', 'http://127.0.0.1:1'], {})
  expect([run.code, run.stdout]).toEqual([2, ''])
  expect(run.stderr).toContain('--reference')
})
