import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { runCli, spawnCli } from '../harness/processes.ts'
import { newCode, newCodes } from '../harness/qr-codes.ts'
import { MASTER_KEY, openService } from '../harness/service.ts'
import { verifyDelivery, WebhookReceiver } from '../harness/webhook-receiver.ts'

test('svc listen forwards every event, signed and in order, across kill -9 and a receiver that fails', async () => {
  const service = await openService()
  const receiver = await WebhookReceiver.open()
  const dir = await mkdtemp(join(tmpdir(), 'svc-listen-'))
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  const positionFile = join(dir, 'position.json')
  await writeFile(join(dir, 'sandbox.json'), JSON.stringify({ baseUrl: service.baseUrl, merchant }))
  const listen = (...from: string[]): ChildProcess => {
    const args = ['listen', '--as', 'merchant', '--forward-to', receiver.url(), ...from]
    return spawnCli([...args, '--position', positionFile], { DATA_DIR: dir }, 'ignore')
  }
  const sequences = () => receiver.received.map(({ event }) => event.sequence as number)
  let refusals = 2
  receiver.response = ({ event }, response) =>
    void response.writeHead(event.sequence === 2 && refusals-- > 0 ? 500 : 204).end()
  await newCodes(service, tenant, 3)
  const first = listen('--from', 'start')
  await receiver.until(() => sequences().includes(3))
  first.kill('SIGKILL')
  await once(first, 'exit')
  await newCodes(service, tenant, 3)
  const second = listen()
  await receiver.until(() => sequences().includes(6))
  await newCode(service, tenant)
  await receiver.until(() => sequences().includes(7))
  second.kill('SIGKILL')
  await once(second, 'exit')
  // The one that was under way when it was killed may come twice; nothing is missing, nothing overtakes.
  expect(new Set(sequences())).toEqual(new Set([1, 2, 3, 4, 5, 6, 7]))
  expect(sequences()).toEqual([...sequences()].sort((a, b) => a - b))
  const { secret } = JSON.parse(await readFile(positionFile, 'utf8')) as { secret: string }
  for (const delivery of receiver.received) verifyDelivery(delivery, secret)
  await receiver.close()
  await service.close()
  await rm(dir, { recursive: true })
})

test('svc admin webhook create, list, rotate, disable and delete work on what the API returns', async () => {
  const service = await openService()
  const dir = await mkdtemp(join(tmpdir(), 'svc-webhook-cli-'))
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: dir }
  const svc = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(['admin', 'webhook', ...args, '--json'], env)
    expect([code, stderr]).toEqual([0, ''])
    return JSON.parse(stdout)
  }
  const receiver = await WebhookReceiver.open()
  const { merchantId } = merchant
  const made = await svc('create', merchantId, '--url', receiver.url(), '--types', 'qr_code.created')
  const { endpointId } = made
  expect(payloadOf(await tenant.get(`/api/v0/webhook-endpoints/${endpointId}`))).toMatchObject({
    url: receiver.url(),
    types: ['qr_code.created'],
    enabled: true,
  })
  const { secret } = await svc('rotate', endpointId)
  await newCode(service, tenant)
  await receiver.until(() => receiver.received.length === 1)
  verifyDelivery(receiver.received[0]!, made.secret)
  verifyDelivery(receiver.received[0]!, secret)
  expect(await svc('disable', endpointId)).toMatchObject({ enabled: false })
  expect(await svc('list', merchantId)).toMatchObject([{ endpointId, enabled: false }])
  expect(await svc('delete', endpointId)).toEqual({ endpointId })
  expect(payloadOf(await tenant.get('/api/v0/webhook-endpoints')).data).toEqual([])
  const refused = await runCli(['admin', 'webhook', 'create', merchantId, '--url', 'http://10.0.0.1/'], env)
  expect([refused.code, refused.stderr]).toEqual([1, 'url: its address is not public\n'])
  await receiver.close()
  await service.close()
  await rm(dir, { recursive: true })
})
