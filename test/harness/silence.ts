import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, vi } from 'vitest'
import type { ApiResponse, Client } from './client.ts'
import { CuttingProxy, type Freeze } from './cutting-proxy.ts'
import {
  asSuperuser,
  newDatabase,
  openService,
  type TestDatabase,
  type TestMerchant,
  type TestService,
} from './service.ts'

const COMMAND_TIMEOUT_MS = 3_000
/** Promise J2: no caller waits longer for a response, whatever the connections to the database do. */
export const PROMISED_MS = COMMAND_TIMEOUT_MS + 1_000

export let db: TestDatabase
export let proxy: CuttingProxy
export let service: TestService
export let merchant: TestMerchant
export let client: Client

export const open = async (through: CuttingProxy | undefined): Promise<TestService> =>
  openService({
    db: through ? { ...db, host: '127.0.0.1', port: through.port } : db,
    env: { COMMAND_TIMEOUT_MS: String(COMMAND_TIMEOUT_MS), DATABASE_POOL_SIZE: '4', METRICS_TOKEN: 'm' },
  })

/** Each test has a service of its own, whose connections to the database go through a proxy that can freeze. */
export function freezable(): void {
  beforeEach(async () => {
    db = await newDatabase()
    proxy = await CuttingProxy.open(db)
    service = await open(proxy)
    merchant = await service.newMerchant()
    client = await service.as(merchant)
  })
  afterEach(async () => {
    proxy.cut(() => undefined)
    proxy.delay(() => 0)
    proxy.resume()
    await service.close()
    await proxy.close()
  })
}

/** The response, and how long its caller waited. */
export async function timed(sent: Promise<ApiResponse>): Promise<ApiResponse & { readonly ms: number }> {
  const startMs = performance.now()
  const response = await sent
  return { ...response, ms: performance.now() - startMs }
}

export const create = (who: Client, key: string) =>
  timed(who.post('/api/v0/qr-code', { qrName: key }, { 'idempotency-key': key }))

export const codesNamed = async (name: string): Promise<number> => {
  const { rows } = await asSuperuser(db.database, (admin) =>
    admin.query<{ n: number }>('select count(*)::int as n from qr_codes where qr_name = $1', [name]),
  )
  return rows[0]!.n
}

/** Freezes the connection of the next batch there. */
export function freezeOnce(where: Freeze): void {
  let left = 1
  proxy.cut(() => (left-- > 0 ? where : undefined))
}

const isBusy = ({ status }: ApiResponse) => status === 503

/** Sends until there is a response that says what happened, as the guide of errors tells callers to do. */
export async function untilSure(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  for (;;) {
    const response = await send()
    if (!isBusy(response)) return response
    await sleep(100)
  }
}

export const happened = (what: () => boolean | Promise<boolean>) =>
  vi.waitUntil(what, { timeout: 15_000, interval: 5 })

export const readyz = async () => (await fetch(`${service.client.baseUrl}/readyz`)).status

export async function until(what: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now()
  while (!(await what())) await sleep(50)
  return performance.now() - startMs
}
