import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makePlace } from '../../lab/chaos/file-system.ts'
import { Client, payloadOf } from '../harness/client.ts'
import { runCli, startProcess } from '../harness/processes.ts'
import { type Credit, creditOf } from '../harness/qr-codes.ts'
import { RAIL_KEY } from '../harness/service.ts'

const CALLERS = 16
const soon = { timeout: 120_000, interval: 100 }

test('on a full disk payments get 503 and /readyz is 503; with space again the service recovers by itself, and each is recorded once', async ({
  skip,
}) => {
  const place = await makePlace()
  onTestFinished(() => place.remove())
  skip(place.cannotFill !== undefined, place.cannotFill)
  const env = { DATA_DIR: join(place.directory, 'data'), UPI_RAIL_KEYS: RAIL_KEY, COMMAND_TIMEOUT_MS: '2000' }
  const service = await startProcess(env)
  onTestFinished(async () => void (await service.end('SIGTERM')))
  const client = await Client.open(service.baseUrl)
  const { merchant } = JSON.parse(await readFile(join(env.DATA_DIR, 'sandbox.json'), 'utf8'))
  const login = await client.post('/api/v0/merchant/token', undefined, { 'api-key': merchant.apiKey })
  const shop = client.with({ authorization: `Bearer ${login.json.token}` })
  const { qrCodeId, upiUri } = payloadOf(await shop.post('/api/v0/qr-code', { multipleUse: true }))
  const tr = new URL(upiUri).searchParams.get('tr')!

  const notify = (credit: Credit) => client.notify('/rails/upi/credits', credit, RAIL_KEY)
  const isReady = async () => (await client.get('/readyz')).status === 200
  const credits: Credit[] = []
  const refused: Credit[] = []
  /** Until no page is left in any table that a payment writes to. */
  const pay = async () => {
    await place.fill()
    const round = Array.from({ length: CALLERS }, () => creditOf(tr))
    credits.push(...round)
    const statuses = await Promise.all(round.map(async (credit) => (await notify(credit)).status))
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    refused.push(...round.filter((_, n) => statuses[n] === 503))
    return refused.length > 0 && !(await isReady())
  }
  // Unlike a poll it ends with the first status that is another.
  await vi.waitUntil(pay, soon)

  await place.empty()
  await expect.poll(isReady, soon).toBe(true)
  for (const credit of refused) expect(payloadOf(await notify(credit)).status).toBe('ACCEPTED')
  expect(payloadOf(await shop.get(`/api/v0/qr-code/${qrCodeId}`)).payments).toEqual({
    count: credits.length,
    amount: 10 * credits.length,
  })
  const { code, stdout, stderr } = await runCli(['admin', 'reconcile', '--json'], env)
  expect(code, stdout + stderr).toBe(0)
}, 300_000)
