import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiResponse, type Client, type Json, payloadOf } from './client.ts'
import { encryptFor, type TestPartner } from './partner.ts'
import { asSuperuser } from './service.ts'

/** Where bulk orders are sent. */
export const PATH = '/api/v0/partner/svcCard/bulk'
/** Funds for thousands of cards. */
export const RICH = { fundsPaise: 10_000_000_00n }

export const encryptOrder = (partner: TestPartner, order: object = {}): Promise<string> => {
  const { companyId, cardAccountId } = partner
  return encryptFor(partner, { companyId, cardAccountId, loadAmount: 100, ...order })
}
export const encryptOrders = (
  partner: TestPartner,
  count: number,
  firstMobile = 9_000_000_000,
): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, (_, i) => encryptOrder(partner, { mobile: String(firstMobile + i) })),
  )

export const upload = (
  client: Client,
  lines: readonly string[] | Buffer,
  headers: Record<string, string> = {},
  path = PATH,
): Promise<ApiResponse> =>
  client.send('POST', path, Buffer.isBuffer(lines) ? lines : Buffer.from(`${lines.join('\n')}\n`), {
    'content-type': 'application/x-ndjson',
    ...headers,
  })

export const progress = async (client: Client, jobId: string): Promise<Json> =>
  payloadOf(await client.get(`${PATH}/${jobId}`))

export async function until(client: Client, jobId: string, reached: (job: Json) => boolean): Promise<Json> {
  for (;;) {
    const job = await progress(client, jobId)
    if (reached(job)) return job
    await sleep(20)
  }
}
export const done = (client: Client, jobId: string): Promise<Json> =>
  until(client, jobId, ({ status }) => status === 'DONE')

export async function results(client: Client, jobId: string, limit = 500): Promise<Json[]> {
  const rows: Json[] = []
  for (let after = ''; ; ) {
    const page = payloadOf(
      await client.get(`${PATH}/${jobId}/results?limit=${limit}${after && `&after=${after}`}`),
    )
    rows.push(...page.data)
    if (!page.next) return rows
    after = page.next
  }
}

export const cardsOf = (database: string, { partnerId }: TestPartner): Promise<string[]> =>
  asSuperuser(database, async (db) => {
    const { rows } = await db.query('select svc_card_id from cards where partner_id = $1', [partnerId])
    return rows.map((row) => row.svc_card_id as string)
  })

export const summary = (rows: readonly Json[]) => rows.map(({ row, status, error }) => [row, error ?? status])

/** Uploads loads, each a JSON object or a line as it is. */
export const uploadLoads = (
  client: Client,
  loads: readonly (object | string)[],
  headers: Record<string, string> = {},
): Promise<ApiResponse> => {
  const lines = loads.map((load) => (typeof load === 'string' ? load : JSON.stringify(load)))
  return upload(client, lines, headers, `${PATH}/loads`)
}
