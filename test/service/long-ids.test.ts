import { randomUUID } from 'node:crypto'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, type Json } from '../harness/client.ts'
import { type Ids, ROWS, type Row } from '../harness/isolation-rows.ts'
import {
  IDS,
  newMerchantTenant,
  newPartnerTenant,
  rowsToSend,
  type Tenant,
} from '../harness/isolation-world.ts'
import { encryptFor } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

/** Longer than any id, and as an id may look. */
const LONG = 'x'.repeat(65)

let service: TestService
let merchant: Tenant
let partner: Tenant
beforeAll(async () => {
  service = await openService()
  merchant = await newMerchantTenant(service)
  partner = await newPartnerTenant(service, ['incentive'])
})
afterAll(() => service.close())

type Op = (typeof OPERATIONS)[number]
const propertiesOf = (schema: unknown): string[] => Object.keys((schema as Json)?.properties ?? {})

/** The request of the operation's row, with other ids in its path, query or body. */
async function send(
  operation: Op,
  { path = {}, fields = {} }: { path?: Ids; fields?: Json },
): Promise<ApiResponse> {
  const { client, ids } = operation.auth === 'merchant' ? merchant : partner
  const { query = '', body, headers } = (ROWS[operation.id] as Row)(ids)
  const isInBody = operation.method !== 'GET'
  const requested = body && isInBody ? { ...body, ...fields } : body
  const isEncrypted = operation.encrypted === 'request' || operation.encrypted === 'both'
  const search = new URLSearchParams({
    ...Object.fromEntries(new URLSearchParams(query)),
    ...(isInBody ? {} : fields),
  })
  const target = operation.path.replace(/:(\w+)/g, (_, name: string) => ({ ...ids, ...path })[name]!)
  const text =
    requested && JSON.stringify(isEncrypted ? await encryptFor(partner.partner!, requested) : requested)
  return client.send(operation.method, `${target}?${search}`.replace(/\?$/, ''), text, {
    ...(requested && { 'content-type': 'application/json' }),
    ...headers,
  })
}

const inPaths = rowsToSend.flatMap((operation) =>
  [...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => [operation.id, name!, operation] as const),
)
test.each(inPaths)('%s with an id of 65 characters as its %s is 404', async (_, name, operation) => {
  const response = await send(operation, { path: { [name]: LONG } })
  expect(response.status, response.text).toBe(404)
})

const inSearches = rowsToSend
  // A backtest lists nothing.
  .filter(({ id, method, safe }) => method === 'GET' || (safe && id !== 'backtestSpendRules'))
  .flatMap((operation) =>
    [...propertiesOf(operation.query), ...propertiesOf(operation.body)]
      .filter((name) => IDS.has(name))
      .map((name) => [operation.id, name, operation] as const),
  )
test.each(inSearches)(
  '%s with an id of 65 characters as its %s finds nothing',
  async (_, name, operation) => {
    const response = await send(operation, { fields: { [name]: LONG } })
    // The search for cards names where it searches; that is looked up as in a path.
    if (operation.id === 'searchCards' && name !== 'svcCardId')
      expect(response.status, response.text).toBe(404)
    else {
      expect(response.status, response.text).toBe(200)
      if (response.json) expect(response.json.payload.data).toEqual([])
      else expect(response.text.trim().split('\n')).toHaveLength(1)
    }
  },
)

const inChanges = rowsToSend
  .filter(({ method, safe }) => method !== 'GET' && !safe)
  .flatMap((operation) =>
    propertiesOf(operation.body)
      .filter((name) => IDS.has(name))
      .map((name) => [operation.id, name, operation] as const),
  )
test.each(inChanges)('%s with an id of 65 characters as its %s is 404', async (_, name, operation) => {
  // A first order, which is carried out.
  const names = { referenceNumber: randomUUID(), requestId: randomUUID(), dryRun: false }
  const ofBody = Object.entries(names).filter(([field]) => propertiesOf(operation.body).includes(field))
  const response = await send(operation, { fields: { ...Object.fromEntries(ofBody), [name]: LONG } })
  expect(response.status, response.text).toBe(404)
})

test('a simulated payer who names a code by an id of 65 characters finds none', async () => {
  const response = await service.client.post('/sandbox/upi/pay', { qrCodeId: LONG, amount: 1 })
  expect(response.status, response.text).toBe(404)
})
