import { MOUNTED } from '@svc/console-api/portal/mounted-operations'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiResponse, Client } from '../harness/client.ts'
import { type Ids, ROWS, type Row } from '../harness/isolation-rows.ts'
import {
  IDS,
  masked,
  newMerchantTenant,
  newPartnerTenant,
  placesOf,
  rowsToSend,
  type Tenant,
  unknown,
} from '../harness/isolation-world.ts'
import { memberBrowser } from '../harness/portal.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let callers: Record<'merchant' | 'partner', Tenant>
let victims: Record<'merchant' | 'partner', Tenant>

const mounted = new Set(MOUNTED.map(({ id }) => id))
const tested = rowsToSend.filter(({ id }) => mounted.has(id))
const members: Partial<Record<string, Client>> = {}
beforeAll(async () => {
  service = await openService({ env: { CONSOLE_STEP_UP_MINUTES: '60' } })
  const tenants = async () => ({
    merchant: await newMerchantTenant(service),
    partner: await newPartnerTenant(service, ['incentive']),
  })
  victims = await tenants()
  callers = await tenants()
  for (const [kind, { ids, partner }] of [
    ['merchant', callers.merchant],
    ['partner', callers.partner],
  ] as const) {
    const tenantId = partner?.partnerId ?? (await ownerOf(ids['qrCodeId']!))
    const { cookie } = await memberBrowser(service, tenantId)
    members[kind] = service.client.with({ cookie: cookie!, 'x-svc-console': '1' })
  }
})
afterAll(() => service.close())

const kindOf = (auth: string) => (auth === 'merchant' ? 'merchant' : 'partner')

const ownerOf = async (qrCodeId: string): Promise<string> =>
  (
    await asSuperuser(service.db.database, (db) =>
      db.query('select merchant_id from svc.qr_codes where qr_code_id = $1', [qrCodeId]),
    )
  ).rows[0].merchant_id

const sendAsMember = (id: string, auth: string, ids: Ids): Promise<ApiResponse> => {
  const { method, path } = OPERATIONS.find((operation) => operation.id === id)!
  const { query = '', body, headers } = (ROWS[id] as Row)(ids)
  const target = `/portal${path.replace(/:(\w+)/g, (_, name: string) => ids[name]!)}${query}`
  const client = members[kindOf(auth)]!
  return client.send(method, target, body && JSON.stringify(body), {
    ...(body && { 'content-type': 'application/json' }),
    ...headers,
  })
}

test.each(tested.map((operation) => [operation.id, operation] as const))(
  '%s shows a member nothing of another tenant',
  async (id, operation) => {
    const { ids } = callers[kindOf(operation.auth)]
    const foreign = Object.values({ ...victims.merchant.ids, ...victims.partner.ids })
    for (const name of placesOf(operation)) {
      const theirs = victims[kindOf(operation.auth)].ids[name]!
      const missing = unknown(theirs)
      const [a, b] = await Promise.all(
        [theirs, missing].map((wanted) => sendAsMember(id, operation.auth, { ...ids, [name]: wanted })),
      )
      expect(a!.status, a!.text).not.toBe(401)
      expect(masked(a!, theirs), `${id} ${name}`).toEqual(masked(b!, missing))
      if (IDS.has(name) && operation.path.includes(`:${name}`)) expect(a!.status, `${id} ${name}`).toBe(404)
      for (const value of foreign) if (value !== theirs) expect(a!.text).not.toContain(value)
    }
  },
)
