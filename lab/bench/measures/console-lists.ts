import type pg from 'pg'
import type { Bed } from '../bed.ts'
import { median } from '../contest.ts'
import { accountOf } from './card-search.ts'
import type { Measure, Note, Setting } from './measure.ts'

const API = '/console/api/v0'
const STEP = 100_000
const CALLS = 5
/** For the whole page of a list, as the browser waits for it. */
const AT_MOST_MS = 300
const LOCKED = 1_000

/** The log as callers leave it: one of ten failed, each named a card. Ids after all that the clock can draw: none is too old to keep. */
async function insertRequests({ bed: { admin }, progress }: Setting, partnerId: string, count: number) {
  for (let from = 1; from <= count; from += STEP) {
    progress(`inserting requests: ${from - 1} of ${count}`)
    await admin.query(
      `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, error,
         description, address, body_bytes, body, objects)
       select 'req_0z' || lpad(n::text, 24, '0'), case when n % 3 = 0 then $1 else 'mer_bench' || n % 256 end, now(),
         (array['createGiftCard', 'acceptPayment', 'searchCards', 'createQrCode'])[1 + n % 4], 'command', 'POST',
         '/api/v0/partner/svcCard', case when n % 10 = 0 then 422 else 200 end, 4.2,
         case when n % 10 = 0 then (array['insufficient_funds', 'card_not_usable', 'decryption_failed'])[1 + n % 3] end,
         null, '127.0.0.1', 300, '{"loadAmount": "500"}', array['acc_bench', 'card_' || lpad(n::text, 26, '0')]
       from generate_series($2::int, $3::int) n`,
      [partnerId, from, Math.min(from + STEP - 1, count)],
    )
  }
}

/** Cards that people look for are few. */
async function lockSome(admin: pg.Client) {
  await admin.query(
    `update cards set status = 'L' where svc_card_id in (select svc_card_id from cards order by random() limit ${LOCKED})`,
  )
  await admin.query('vacuum analyze request_log, cards')
}

/** The first page of each list, and of the searches that its page offers. */
const listsOf = (at: { partnerId: string; companyId: string; cardAccountId: string; some: string }) => [
  '/merchants',
  '/merchants?sort=name',
  '/merchants?q=corner',
  '/partners',
  '/companies',
  '/card-accounts',
  '/users',
  `/users?companyId=${at.companyId}`,
  `/users?q=employee${at.some}`,
  '/qr-codes',
  '/qr-codes?status=CANCELLED',
  '/qr-codes?merchantId=mer_bench7',
  '/cards',
  '/cards?sort=created',
  '/cards?status=L',
  '/cards?status=UL',
  `/cards?partnerId=${at.partnerId}&status=L`,
  `/cards?cardAccountId=${at.cardAccountId}`,
  `/cards?q=employee${at.some}@example.com`,
  '/cards?createdFrom=2026-01-01T00:00:00Z&createdTo=2026-01-02T00:00:00Z',
  '/coin-configs',
  '/ledger/accounts',
  '/ledger/accounts?kind=card',
  `/ledger/accounts/card_funding:${at.cardAccountId}/transfers`,
  '/requests',
  '/requests?outcome=failure',
  '/requests?outcome=success',
  '/requests?error=card_not_usable',
  '/requests?operation=createGiftCard',
  `/requests?tenantId=${at.partnerId}&outcome=failure`,
  `/requests?objectId=card_${at.some.padStart(26, '0')}`,
  '/requests?objectId=acc_bench',
  '/requests?error=insufficient_funds&operation=createQrCode',
  '/webhooks',
  '/webhooks?q=shop.example.com',
  '/audit',
  '/audit?action=api_key.created',
  `/search?q=employee${at.some}@example.com`,
  '/overview?range=week',
]

async function signIn({ service }: Bed): Promise<string> {
  const entered = await fetch(`${service.baseUrl}${API}/session/sandbox`, {
    method: 'POST',
    headers: { 'x-svc-console': '1' },
  })
  return entered.headers.getSetCookie()[0]!.split(';')[0]!
}

export const consoleLists: Measure = {
  id: 'console-lists',
  title: 'First pages of the console’s lists, as many requests logged as there are cards',
  onlyWith: '--full',
  async run(setting) {
    const { bed, cards, progress } = setting
    const { partner, first } = await accountOf(setting, cards)
    const { companyId, partnerId } = partner
    await insertRequests(setting, partnerId, cards)
    await lockSome(bed.admin)
    const cookie = await signIn(bed)
    const some = String(first + Math.floor(cards / 2))
    const notes: Note[] = []
    for (const path of listsOf({ partnerId, companyId, cardAccountId: partner.cardAccountIds[0]!, some })) {
      progress(path)
      const tookMs: number[] = []
      for (let call = 0; call < CALLS; call++) {
        const startMs = performance.now()
        const response = await fetch(`${bed.service.baseUrl}${API}${path}`, { headers: { cookie } })
        const body = await response.text()
        tookMs.push(performance.now() - startMs)
        if (!response.ok) throw new Error(`${path}: ${response.status} ${body}`)
      }
      const name = path.replaceAll(/([a-z]+_[0-9a-z]{6})[0-9a-z]{10,}/g, '$1…')
      notes.push({ name: `${name}, first call`, value: tookMs[0]!, unit: 'ms', atMost: AT_MOST_MS })
      notes.push({ name: `${name}, median`, value: median(tookMs), unit: 'ms', atMost: AT_MOST_MS })
    }
    return { figures: [], comparisons: [], notes }
  },
}
