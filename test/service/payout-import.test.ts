import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { giveAccount, sendPayoutOf } from '../harness/payouts.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { brokenIn, type Shop, shopWith } from '../harness/refunds.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let folder: string
beforeAll(async () => {
  service = await openService({ background: false })
  folder = await mkdtemp(join(tmpdir(), 'svc-payouts-'))
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

type Sent = Shop & { readonly payoutId: string }

/** A payout that is with the bank. */
async function sent(): Promise<Sent> {
  const shop = await shopWith(service, 10)
  const { merchantId } = shop
  await giveAccount(service, merchantId)
  return { ...shop, payoutId: await sendPayoutOf(service, merchantId) }
}

const statusOf = async ({ client, payoutId }: Sent): Promise<string> =>
  payloadOf(await client.get(`/api/v0/payouts/${payoutId}`)).status

/** Imports a response of the bank, with the outcomes of payouts in its words. */
async function importing(rows: readonly (readonly [Sent, string])[], ...options: string[]) {
  const file = join(folder, 'response.csv')
  const lines = rows.map(([{ payoutId }, word]) => `${payoutId},"${word}",${newUtr()},remark`)
  await writeFile(file, ['payoutId,status,utr,reason', ...lines, ''].join('\n'))
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  return runHere(['admin', 'payout', 'import', file, '--json', ...options], env)
}

test('an outcome that is mapped to neither paid nor failed changes nothing, is listed with its line, and ends with exit code 1', async () => {
  const words = ['PENDING', 'IN PROCESS', 'Initiated', '']
  const waiting: (readonly [Sent, string])[] = []
  for (const word of words) waiting.push([await sent(), word])
  const [paid, failed] = [await sent(), await sent()]
  const rows = [...waiting, [paid, 'PAID'], [failed, 'REJECTED']] as const
  const { code, stdout } = await importing(rows)
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    [
      ...waiting.map(([{ payoutId }, word], i) => ({
        line: i + 1,
        payoutId,
        result: `nothing recorded: "${word}" is no word for paid, failed or returned`,
      })),
      { line: 5, payoutId: paid.payoutId, result: 'PAID' },
      { line: 6, payoutId: failed.payoutId, result: 'FAILED' },
    ],
  ])
  for (const [payout] of waiting) expect(await statusOf(payout)).toBe('SENT')
  // The bank pays in the end; what had been recorded as failed by then would have been paid out twice.
  const later = await importing(waiting.map(([payout]) => [payout, 'PAID']))
  expect([later.code, JSON.parse(later.stdout).map(({ result }: { result: string }) => result)]).toEqual([
    0,
    words.map(() => 'PAID'),
  ])
  expect(await brokenIn(service)).toEqual([])
})

test('the bank’s words are those of --paid and --failed, in any case and with any space around them', async () => {
  const [one, two, three, four] = [await sent(), await sent(), await sent(), await sent()]
  const words = ['--paid', 'SUCCESS', '--failed', 'reversed, Not Paid']
  const rows = [
    [one, 'Success'],
    [two, ' success '],
    [three, 'Reversed'],
    [four, ' NOT PAID'],
  ] as const
  const { code, stdout } = await importing(rows, ...words)
  expect([code, JSON.parse(stdout).map(({ result }: { result: string }) => result)]).toEqual([
    0,
    ['PAID', 'PAID', 'FAILED', 'FAILED'],
  ])
  expect(payloadOf(await four.client.get(`/api/v0/payouts/${four.payoutId}`)).failureReason).toBe('remark')
})

test('a word mapped to two outcomes, or an empty word, is rejected before anything is recorded', async () => {
  const payout = await sent()
  for (const words of [
    ['--paid', 'Done', '--failed', 'REJECTED,done'],
    ['--paid', ' '],
    ['--failed', 'FAILED,'],
    ['--failed', 'FAILED,RETURNED'],
    ['--returned', 'paid'],
  ]) {
    const { code, stderr } = await importing([[payout, 'Done']], ...words)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/(?:cannot mean both|must name words)/)])
  }
  expect(await statusOf(payout)).toBe('SENT')
})
