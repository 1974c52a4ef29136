import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { creditOf, newCode, notifyCredit, type TestCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const MERCHANTS = 8
const CALLERS_EACH = 4
const PHASE_MS = 3_000

test('a locked row of one merchant costs the others at most half of their throughput, and its own payments nothing', async () => {
  const service = await openService()
  const codes: TestCode[] = []
  for (let m = 0; m < MERCHANTS; m++)
    codes.push(await newCode(service, await service.as(await service.newMerchant()), { multipleUse: true }))
  await load(service, codes, 500)
  const free = await load(service, codes, PHASE_MS)
  const [held, heldPaid] = await asSuperuser(service.db.database, async (admin) => {
    await admin.query('begin')
    await admin.query('select from qr_codes where qr_code_id = $1 for update', [codes[0]!.qrCodeId])
    const paying = load(service, codes, PHASE_MS)
    await sleep(PHASE_MS)
    const { rows } = await admin.query<{ n: string }>(
      `select count(*) as n from payments where qr_code_id = $1`,
      [codes[0]!.qrCodeId],
    )
    await admin.query('rollback')
    return [await paying, Number(rows[0]!.n)]
  })
  const others = (counts: readonly number[]) => counts.slice(1).reduce((sum, n) => sum + n, 0)
  expect(others(held)).toBeGreaterThanOrEqual(others(free) / 2)
  // Its payments waited, and every one was answered afterwards: `load` fails on any other answer.
  const { rows } = await asSuperuser(service.db.database, (admin) =>
    admin.query<{ n: string }>('select count(*) as n from payments where qr_code_id = $1', [
      codes[0]!.qrCodeId,
    ]),
  )
  expect(Number(rows[0]!.n)).toBe(heldPaid + CALLERS_EACH)
  await service.close()
})

/** Payments for a time, from some callers for each code; answers how many each code took. */
async function load(service: TestService, codes: readonly TestCode[], ms: number): Promise<number[]> {
  const endMs = performance.now() + ms
  const counts = codes.map(() => 0)
  const caller = async (i: number) => {
    while (performance.now() < endMs) {
      expect(payloadOf(await notifyCredit(service.client, creditOf(codes[i]!.tr))).status).toBe('ACCEPTED')
      counts[i]!++
    }
  }
  await Promise.all(codes.flatMap((_, i) => Array.from({ length: CALLERS_EACH }, () => caller(i))))
  return counts
}
