import { type Check, must, ours } from '../check.ts'
import type { MerchantName } from '../credentials.ts'
import type { Answer } from '../exchange.ts'
import {
  at,
  errorOf,
  fail,
  wantFailure,
  wantKind,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantText,
  wantValue,
} from '../expect.ts'
import { cancelPath, type Headers, PATHS, type Subject, skip } from '../subject.ts'

const MISSING_QR = 'qr_00000000000000000000000000'
const MISSING_COIN = 'ccf_00000000000000000000000000'
const MISSING_CARD = 'card_00000000000000000000000000'

interface Protected {
  readonly id: string
  readonly words: string
  /** Everything but the token is right, so that the token decides. */
  readonly call: (subject: Subject, headers: Headers) => Promise<Answer>
  /** A good token of this operation, and one of the other kind. */
  readonly token: (subject: Subject) => Promise<string>
  readonly foreign: (subject: Subject) => Promise<string>
  /** Spec §4: `Authorization` is required; on the cancel it is optional, and the requirement ours (decision A6). */
  readonly rule: typeof must
  readonly source: string
}

const partnerToken = async (subject: Subject) => (await subject.asPartner()).token
const merchantToken = (subject: Subject, who: MerchantName = 'merchant') => subject.merchantToken(who)

const OPERATIONS: readonly Protected[] = [
  {
    id: 'cancel',
    words: 'the cancel',
    call: (s, headers) => s.call('PATCH', cancelPath(MISSING_QR), {}, headers),
    token: (s) => merchantToken(s),
    foreign: partnerToken,
    rule: ours,
    source: 'decision A6',
  },
  {
    id: 'create',
    words: 'the card creation',
    call: async (s, headers) =>
      s.call('POST', PATHS.card, 'sealed', { partnerId: s.partner().partnerId, ...headers }),
    token: partnerToken,
    foreign: (s) => merchantToken(s),
    rule: must,
    source: '§4.3, authorization',
  },
  {
    id: 'search',
    words: 'the card search',
    call: async (s, headers) => {
      const { companyId, cardAccountId, partnerId } = s.partner()
      const { cookie = 'none=none' } = await s.asPartner()
      const body = { companyId, cardAccountId, svcCardId: MISSING_CARD }
      return s.call('POST', PATHS.search, body, { partnerId, cookie, ...headers })
    },
    token: partnerToken,
    foreign: (s) => merchantToken(s),
    rule: must,
    source: '§4.4, Authorization',
  },
  {
    id: 'coins',
    words: 'the coin look-up',
    call: (s, headers) => s.call('GET', `${PATHS.coins}/${MISSING_COIN}`, undefined, headers),
    token: partnerToken,
    foreign: (s) => merchantToken(s),
    rule: must,
    source: '§4.5, authorization; §7',
  },
]

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The token's own claims, over since an hour, under its old signature; unsigned where it is no JWT. */
function expired(token: string): string {
  const [head = '', , signature = ''] = token.split('.')
  return `${head}.${base64({ ...claimsOf(token), exp: Math.floor(Date.now() / 1_000) - 3_600 })}.${signature}`
}

/** The token's own claims, not signed at all (RFC 8725 section 2.1). */
const unsigned = (token: string): string => `${base64({ alg: 'none' })}.${base64(claimsOf(token))}.`

function claimsOf(token: string): object {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object
  } catch {
    return { sub: 'conformance' }
  }
}

/** Another signature: one of its characters in the middle, whose bits all count. */
function altered(token: string): string {
  const position = token.length - 20
  return `${token.slice(0, position)}${token[position] === 'A' ? 'B' : 'A'}${token.slice(position + 1)}`
}

type Forge = (subject: Subject, operation: Protected) => Promise<Headers>

const forged =
  (make: (token: string) => string): Forge =>
  async (subject, { token }) => ({ authorization: make(await token(subject)) })

const FORGERIES: readonly (readonly [name: string, words: string, make: Forge])[] = [
  ['missing', 'no token', async () => ({})],
  ['empty', 'Bearer and nothing after it', async () => ({ authorization: 'Bearer' })],
  ['garbage', 'a text that is no token', async () => ({ authorization: 'Bearer garbage' })],
  ['altered', 'a token with another signature', forged((token) => `Bearer ${altered(token)}`)],
  ['cut', 'a token whose end is cut off', forged((token) => `Bearer ${token.slice(0, -10)}`)],
  [
    'expired',
    'a token that says it is over, under its old signature',
    forged((token) => `Bearer ${expired(token)}`),
  ],
  ['unsigned', 'a token without a signature (alg none)', forged((token) => `Bearer ${unsigned(token)}`)],
  ['scheme', 'a good token under another scheme', forged((token) => `Token ${token}`)],
  ['bare', 'a good token without Bearer', forged((token) => token)],
  [
    'foreign',
    'a token of the other kind of tenant',
    async (s, { foreign }) => ({ authorization: `Bearer ${await foreign(s)}` }),
  ],
]

const bearers: readonly Check[] = OPERATIONS.flatMap((operation) => [
  ...FORGERIES.map(([name, words, make]) =>
    operation.rule(
      `5.${operation.id}.token.${name}`,
      operation.source,
      `${operation.words} refuses ${words}`,
      async (s) => {
        const answer = await operation.call(s, await make(s, operation))
        wantRefused(answer)
        wantStatus(answer, 401, 403)
      },
    ),
  ),
  ours(
    `5.${operation.id}.token.status`,
    'decisions F1, F3',
    `${operation.words} answers 401 invalid_token to every bad token`,
    async (s) => {
      for (const [, , make] of FORGERIES) {
        const answer = await operation.call(s, await make(s, operation))
        wantFailure(answer, 401, 'invalid_token')
        wantValue(answer, 'errorResponse.errorType', 'SYSTEM_ERROR')
      }
    },
  ),
  ours(
    `5.${operation.id}.challenge`,
    'decision F7',
    `${operation.words} answers 401 with WWW-Authenticate: Bearer`,
    async (s) => {
      const answer = await operation.call(s, {})
      const challenge = answer.headers['www-authenticate'] ?? 'none'
      if (!/^Bearer\b/i.test(challenge)) fail(answer, 'WWW-Authenticate: Bearer', challenge)
    },
  ),
  must(
    `5.${operation.id}.token.good`,
    '§5.2',
    `${operation.words} does not turn a fresh token away`,
    async (s) => {
      const answer = await operation.call(s, { authorization: `Bearer ${await operation.token(s)}` })
      if (answer.status === 401) fail(answer, 'any answer but 401', `401 ${answer.text}`)
    },
  ),
])

const PARTNER_OPERATIONS = OPERATIONS.filter(({ id }) => id === 'create' || id === 'search')

const partnerIds: readonly Check[] = PARTNER_OPERATIONS.flatMap(({ id, words, call }) => {
  const named = async (s: Subject, partnerId: string) =>
    call(s, { authorization: `Bearer ${await partnerToken(s)}`, partnerId })
  const section = id === 'create' ? '§4.3' : '§4.4'
  return [
    must(
      `5.${id}.partnerId.missing`,
      `${section}, partnerId; §5.4`,
      `${words} without partnerId is refused`,
      async (s) => {
        const { cookie = 'none=none' } = await s.asPartner()
        const { companyId, cardAccountId } = s.partner()
        const headers = { authorization: `Bearer ${await partnerToken(s)}`, cookie }
        const search = { companyId, cardAccountId, svcCardId: MISSING_CARD }
        wantRefused(
          await s.call(
            'POST',
            id === 'create' ? PATHS.card : PATHS.search,
            id === 'create' ? 'sealed' : search,
            headers,
          ),
        )
      },
    ),
    ours(`5.${id}.partnerId.other`, 'decision A9', `${words} with another partner’s id is 403`, async (s) =>
      wantFailure(await named(s, s.partner('otherPartner').partnerId), 403, 'partner_mismatch'),
    ),
    ours(
      `5.${id}.partnerId.unknown`,
      'decision A9',
      `${words} refuses unknown partners like others that exist`,
      async (s) => {
        const other = await named(s, s.partner('otherPartner').partnerId)
        wantSameRefusal(
          await named(s, 'par_00000000000000000000000000'),
          other,
          'the answer to another partner’s id',
        )
      },
    ),
  ]
})

const search = async (subject: Subject, headers: Headers): Promise<Answer> => {
  const { headers: own, credentials } = await subject.asPartner()
  const { companyId, cardAccountId } = credentials
  return subject.call(
    'POST',
    PATHS.search,
    { companyId, cardAccountId, svcCardId: MISSING_CARD },
    { ...own, ...headers },
  )
}

const cookieOf = async (subject: Subject, who: 'incentivePartner' | 'otherPartner' = 'incentivePartner') =>
  (await subject.asPartner(who)).cookie ?? skip(`there is no session cookie for ${who}`)

const cookies: readonly Check[] = [
  must('5.search.cookie.missing', '§4.4, Cookie', 'A search without a session cookie is refused', async (s) =>
    wantRefused(await search(s, {})),
  ),
  must('5.search.cookie.good', '§4.4, Cookie', 'A search with its session cookie is answered', async (s) =>
    wantStatus(await search(s, { cookie: await cookieOf(s) }), 200),
  ),
  ours(
    '5.search.cookie.garbage',
    'decision A8',
    'A made-up session cookie is 401 invalid_session',
    async (s) => {
      const name = (await cookieOf(s)).split('=')[0]
      wantFailure(await search(s, { cookie: `${name}=made-up` }), 401, 'invalid_session')
    },
  ),
  ours('5.search.cookie.foreign', 'decision A8', 'Another partner’s session cookie is 401', async (s) =>
    wantFailure(await search(s, { cookie: await cookieOf(s, 'otherPartner') }), 401, 'invalid_session'),
  ),
  ours(
    '5.search.cookie.other-token',
    'decision A8',
    'The cookie of another token of the same partner is 401',
    async (s) => {
      const answer = await s.partnerTokenAnswer()
      const cookie = answer.cookies[0]?.split(';')[0] ?? skip('the token answer sets no cookie')
      await s.asPartner()
      wantFailure(await search(s, { cookie }), 401, 'invalid_session')
    },
  ),
  ours(
    '5.search.cookie.among-others',
    'decision A8',
    'The session cookie is found among other cookies',
    async (s) => wantStatus(await search(s, { cookie: `a=b; ${await cookieOf(s)}; c=d` }), 200),
  ),
]

const tokenAnswer = (subject: Subject): Promise<Answer> =>
  subject.observe('a partner token', () => subject.partnerTokenAnswer())

const oauth: readonly Check[] = [
  ours(
    '5.oauth.status',
    'decision A7',
    'Client credentials in the body get a bearer token (RFC 6749)',
    async (s) => {
      const answer = await tokenAnswer(s)
      wantStatus(answer, 200)
      wantText(answer, 'access_token')
      wantValue(answer, 'token_type', 'Bearer')
      if (!((wantKind(answer, 'expires_in', 'integer') as number) > 0))
        fail(answer, 'expires_in: more than 0', '0')
    },
  ),
  ours('5.oauth.basic', 'decision A7', 'Client credentials in the Basic header get a token', async (s) => {
    const { clientId, clientSecret } = s.partner()
    if (!clientId || !clientSecret) return skip('the credentials of incentivePartner have no client')
    const pair = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString(
      'base64',
    )
    s.http.redactor.hide(pair, 'INCENTIVE_PARTNER_BASIC')
    const headers = { authorization: `Basic ${pair}`, 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'grant_type=client_credentials'
    const answer = await s.send({ method: 'POST', path: PATHS.partnerToken, headers, body })
    wantStatus(answer, 200)
  }),
  ours(
    '5.oauth.no-store',
    'decision A7',
    'The token answer is not to be stored (RFC 6749 section 5.1)',
    async (s) => {
      const answer = await tokenAnswer(s)
      if (!answer.headers['cache-control']?.includes('no-store'))
        fail(answer, 'Cache-Control: no-store', answer.headers['cache-control'] ?? 'none')
    },
  ),
  ours(
    '5.oauth.cookie',
    'decision A8',
    'The token answer sets a session cookie, HttpOnly and SameSite=Strict',
    async (s) => {
      const answer = await tokenAnswer(s)
      const [cookie = 'none'] = answer.cookies
      if (!/; *HttpOnly/i.test(cookie) || !/; *SameSite=Strict/i.test(cookie))
        fail(answer, 'a cookie with HttpOnly and SameSite=Strict', cookie)
    },
  ),
  ours('5.oauth.wrong-secret', 'decision A7', 'A wrong secret is 401 invalid_client', async (s) => {
    const answer = await s.partnerTokenAnswer('incentivePartner', { client_secret: 'wrong' })
    wantStatus(answer, 401)
    wantValue(answer, 'error', 'invalid_client')
    wantText(answer, 'error_description')
  }),
  ours('5.oauth.alike', 'decision A11', 'An unknown client is refused like a wrong secret', async (s) => {
    const wrong = await s.partnerTokenAnswer('incentivePartner', { client_secret: 'wrong' })
    const unknown = await s.partnerTokenAnswer('incentivePartner', {
      client_id: 'cli_00000000000000000000000000',
    })
    wantSameRefusal(unknown, wrong, 'the answer to a wrong secret')
  }),
  ours('5.oauth.grant', 'decision A7', 'Another grant type is 400 unsupported_grant_type', async (s) => {
    const answer = await s.partnerTokenAnswer('incentivePartner', { grant_type: 'password' })
    wantStatus(answer, 400)
    wantValue(answer, 'error', 'unsupported_grant_type')
  }),
  ours(
    '5.oauth.scope',
    'decision A7',
    'A scope that the partner does not have is 400 invalid_scope',
    async (s) => {
      const answer = await s.partnerTokenAnswer('incentivePartner', { scope: 'everything' })
      wantStatus(answer, 400)
      wantValue(answer, 'error', 'invalid_scope')
    },
  ),
  ours('5.oauth.metadata', 'decision A7', 'The metadata names the token endpoint (RFC 8414)', async (s) => {
    const answer = await s.call('GET', '/.well-known/oauth-authorization-server', undefined)
    wantStatus(answer, 200)
    const endpoint = wantText(answer, 'token_endpoint')
    if (!endpoint.endsWith(PATHS.partnerToken))
      fail(answer, `token_endpoint: …${PATHS.partnerToken}`, endpoint)
  }),
  ours('5.other-merchant', 'decision A10', 'Two merchants’ tokens differ, and each is its own', async (s) => {
    const [one, other] = [await merchantToken(s), await merchantToken(s, 'otherMerchant')]
    const answer = await s.tokenAnswer('otherMerchant')
    if (one === other) fail(answer, 'another token', 'the same')
    if (errorOf(answer) || at(answer, 'token') !== other) fail(answer, 'a token', answer.text)
  }),
]

export const AUTHENTICATION_CHECKS: readonly Check[] = [...bearers, ...partnerIds, ...cookies, ...oauth]
