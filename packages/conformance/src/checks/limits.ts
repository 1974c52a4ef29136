import { type Check, decided, specified } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import { fail, wantFailure, wantJson, wantNotDone, wantRefused, wantStatus } from '../expect.ts'
import { cancelPath, JSON_BODY, PATHS, type Subject } from '../subject.ts'
import { Blocked, Violation } from '../verdict.ts'
import { cancelled } from './cancelled-code.ts'
import { issued, newMobile } from './create-card.ts'
import { incentive } from './searched-cards.ts'

const BODY_BYTES_MAX = 64 * 1024
const MISSING_QR = 'qr_00000000000000000000000000'

/** A body of exactly so many bytes that says nothing. */
const blank = (bytes: number): string => `{${' '.repeat(bytes - 2)}}`

const cancelWith = async (subject: Subject, body: string): Promise<HttpResponse> =>
  subject.send({
    method: 'PATCH',
    path: cancelPath(MISSING_QR),
    headers: { ...(await subject.asMerchant()), ...JSON_BODY },
    body,
  })

export const LIMIT_CHECKS: readonly Check[] = [
  specified(
    '8.mobile',
    '§8, mobile length',
    'Of all lengths from 0 to 20, mobile takes 10 digits and no other',
    async (s) => {
      for (let length = 0; length <= 20; length++) {
        const mobile = newMobile().repeat(2).slice(0, length)
        const response = await s.createCard(s.orderOf('incentivePartner', { mobile }))
        if (length === 10) wantStatus(response, 200)
        else wantNotDone(response)
      }
    },
  ),
  decided('8.body', 'decision L2', 'A body of 64 KiB is read', async (s) =>
    wantFailure(await cancelWith(s, blank(BODY_BYTES_MAX)), 404, 'qr_code_not_found'),
  ),
  decided('8.body.over', 'decision L2', 'A body of one byte more is 413', async (s) =>
    wantFailure(await cancelWith(s, blank(BODY_BYTES_MAX + 1)), 413, 'payload_too_large'),
  ),
  decided('8.headers.over', 'decision L2', 'Headers of more than 16 KiB are 431', async (s) => {
    const response = await s.call('GET', PATHS.coins, undefined, { 'x-filler': 'f'.repeat(17 * 1024) })
    wantFailure(response, 431, 'headers_too_large')
  }),
  decided(
    '8.numbers',
    'decision C8',
    'A number that no double holds exactly is refused rather than rounded',
    async (s) => {
      await s.needCreation()
      const headers = { ...(await s.asMerchant()), ...JSON_BODY }
      const body = '{"amount":100.00000000000000001}'
      const response = await s.send({ method: 'POST', path: PATHS.qrCode, headers, body })
      wantRefused(response)
    },
  ),
]

/** Spec §7: of the coin lookup only the refusal is shown; the others are there when they do what is requested. */
const PATH_REQUESTS: readonly (readonly [
  id: string,
  words: string,
  request: (subject: Subject) => Promise<HttpResponse>,
])[] = [
  ['token', 'the token operation', (s) => s.tokenResponse()],
  ['cancel', 'the cancel', async (s) => (await cancelled(s)).response],
  ['create', 'the card creation', async (s) => (await issued(s)).response],
  ['search', 'the card search', (s) => incentive(s)],
  ['coins', 'the coin lookup', (s) => s.call('GET', `${PATHS.coins}/none`, undefined)],
]

const versioned = PATH_REQUESTS.map(([id, words, request]) =>
  specified(`9.path.${id}`, '§9, rule 1', `${words} is served under /api/v0/`, async (s) => {
    const response = await request(s)
    const { status } = response
    if (status === 404 || status === 405 || status === 501)
      fail(response, 'an operation at this path', String(status))
    if (status >= 300 && status < 400) fail(response, 'no redirect', String(status))
    const wanted = id === 'coins' ? 401 : 200
    if (status !== wanted)
      throw new Blocked(`needs a response of ${words}: it returned ${status}`, {
        cause: new Violation(`status ${wanted}`, String(status), response, {
          is: 'status',
          wanted: [wanted],
        }),
      })
    wantJson(response)
  }),
)

export const VERSION_CHECKS: readonly Check[] = [
  ...versioned,
  decided(
    '9.other-version',
    'decision F3',
    'The version marker counts: /api/v1/ is not served as if it were v0',
    async (s) => {
      const { apiKey } = s.merchant()
      const response = await s.send({
        method: 'POST',
        path: PATHS.token.replace('v0', 'v1'),
        headers: { 'API-Key': apiKey },
      })
      wantRefused(response)
    },
  ),
  decided('9.no-version', 'decision F3', 'A path without its version is 404', async (s) =>
    wantFailure(await s.call('POST', PATHS.token.replace('/v0', ''), undefined), 404, 'route_not_found'),
  ),
  decided('9.exact', 'decision F3', 'Paths are exact: another case is 404', async (s) =>
    wantFailure(await s.call('POST', PATHS.card.toLowerCase(), {}), 404, 'route_not_found'),
  ),
  decided('9.openapi', 'decision F1', 'The document of all operations is served', async (s) => {
    const response = await s.call('GET', '/openapi.json', undefined)
    wantStatus(response, 200)
    const cancel = `${PATHS.qrCode}/{qrCodeId}/cancel`
    for (const path of [PATHS.token, cancel, PATHS.card, PATHS.search, `${PATHS.coins}/{coinConfigId}`])
      if (!response.text.includes(`"${path}"`)) fail(response, `the path ${path}`, 'a document without it')
  }),
]
