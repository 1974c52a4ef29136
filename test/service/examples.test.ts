import { join, resolve } from 'node:path'
import { EXAMPLES } from '@svc/app/examples'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordAccess } from '../harness/access-examples.ts'
import { recordCardRail } from '../harness/card-rail-examples.ts'
import type { Client } from '../harness/client.ts'
import { recordCoins } from '../harness/coin-examples.ts'
import { recordEmployeeCards } from '../harness/employee-card-examples.ts'
import { recordGiftCards, recordTerminal } from '../harness/gift-card-examples.ts'
import { recordLast } from '../harness/last-examples.ts'
import { asPartner, newPartner, type TestPartner } from '../harness/partner.ts'
import { recordQrCodes } from '../harness/qr-code-examples.ts'
import { normalized, Recorder } from '../harness/recorder.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'
import { recordWebhooks } from '../harness/webhook-examples.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

// The worked examples of the reference are what the service answers here. `npm run generate:examples` records them anew.
const RECORDED = join(resolve(import.meta.dirname, '../..'), 'packages/app/src/examples.json')

let service: TestService
let receiver: WebhookReceiver
let recorder: Recorder
let merchant: TestMerchant
let shop: Client
let incentive: TestPartner
let issuer: Client
let rewards: TestPartner
let employer: Client
let open: Client

beforeAll(async () => {
  // One order of a job after the other: their cards have ids in that order, also on a busy machine.
  service = await openService({ env: { BULK_CHUNK_ROWS: '1' } })
  receiver = await WebhookReceiver.open()
  open = service.client
  recorder = new Recorder(open)
  merchant = await service.newMerchant({ vpa: 'corner.shop@bank' })
  shop = await service.as(merchant)
  incentive = await newPartner(service)
  issuer = await asPartner(open, incentive)
  rewards = await newPartner(service, { products: ['employee_rewards'] })
  employer = await asPartner(open, rewards)
})
afterAll(async () => {
  await receiver.close()
  await service.close()
})

/** A stream has no end, and metrics never the same figures: told in the test below instead. */
const WITHOUT_SUCCESS = new Set(['streamEvents', 'metrics'])

/** Public documents and probes: there is nothing that a caller could send wrong. */
const acceptsNothing = ({ auth, ignores, method }: (typeof OPERATIONS)[number]): boolean =>
  method === 'GET' && auth === 'none' && ignores?.includes('query') === true

test('every example of the reference is what the service returns', async () => {
  const callers = { issuer, open, partner: incentive }
  await recordAccess(recorder, open, { merchant, partner: incentive })
  await recordQrCodes(recorder, { service, merchant, shop, open })
  const svcCardId = await recordGiftCards(recorder, { ...callers, outsider: rewards })
  await recordEmployeeCards(recorder, employer, rewards)
  await recordTerminal(recorder, open, svcCardId)
  await recordCardRail(recorder, callers)
  await recordCoins(recorder, callers)
  await recordWebhooks(recorder, { service, receiver, open })
  await recordLast(recorder, open, shop)
  for (const { id, envelope: kind } of OPERATIONS.filter((one) => !acceptsNothing(one)))
    if (kind !== 'oauth' && !recorder.examples[id]?.some(({ status }) => status >= 400))
      await recorder.fails(id, 'validation_failed', 'A parameter that does not exist', open, {
        query: { verbose: 'true' },
      })
  expect(recorder.differences).toEqual([])
  const text = `${JSON.stringify(normalized(recorder.examples), null, 1)}\n`
  await expect(text).toMatchFileSnapshot(RECORDED)
})

test('every operation has an example of success, and one of an error if a caller can send something wrong', () => {
  for (const operation of OPERATIONS) {
    const { id } = operation
    const statuses = EXAMPLES[id]?.map(({ status }) => status) ?? []
    if (!WITHOUT_SUCCESS.has(id)) expect(statuses, id).toContain(200)
    expect(acceptsNothing(operation) || statuses.some((status) => status >= 400), id).toBe(true)
  }
})
