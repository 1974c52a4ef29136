import { type Check, decided, refuses, specified } from '../check.ts'
import type { MerchantName } from '../credentials.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  fail,
  wantFailure,
  wantNotDone,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantValue,
} from '../expect.ts'
import { interpretationOf } from '../interpretation.ts'
import { cancelPath, type Headers, PATHS, type Subject } from '../subject.ts'
import { OAUTH_CHECKS } from './oauth.ts'
import { SESSION_COOKIE_CHECKS } from './session-cookies.ts'
import { needOrder, needSearch, sendOrder, sendSearch } from './sound-requests.ts'

const MISSING_QR = 'qr_00000000000000000000000000'
const MISSING_COIN = 'ccf_00000000000000000000000000'

interface Protected {
  readonly id: string
  readonly words: string
  /** Everything but the token is right, so that the token decides. */
  readonly call: (subject: Subject, headers: Headers) => Promise<HttpResponse>
  /** Whether the call succeeds with the right headers; where that is not known, the status decides. */
  readonly need?: (subject: Subject) => Promise<void>
  /** A good token of this operation, and one of the other kind. */
  readonly token: (subject: Subject) => Promise<string>
  readonly foreign: (subject: Subject) => Promise<string>
  /** Spec §4: `Authorization` is required; on the cancel it is optional, and decision A6 requires it. */
  readonly rule: typeof specified
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
    rule: decided,
    source: 'decision A6',
  },
  {
    id: 'create',
    words: 'the card creation',
    call: async (s, headers) => sendOrder(s, { partnerId: s.partner().partnerId, ...headers }),
    need: needOrder,
    token: partnerToken,
    foreign: (s) => merchantToken(s),
    rule: specified,
    source: '§4.3, authorization',
  },
  {
    id: 'search',
    words: 'the card search',
    call: async (s, headers) => {
      const { cookie = 'none=none' } = await s.asPartner()
      return sendSearch(s, { partnerId: s.partner().partnerId, cookie, ...headers })
    },
    need: needSearch,
    token: partnerToken,
    foreign: (s) => merchantToken(s),
    rule: specified,
    source: '§4.4, Authorization',
  },
  {
    id: 'coins',
    words: 'the coin lookup',
    call: (s, headers) => s.call('GET', `${PATHS.coins}/${MISSING_COIN}`, undefined, headers),
    token: partnerToken,
    foreign: (s) => merchantToken(s),
    rule: specified,
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
  const position = Math.max(token.length - 20, 0)
  return `${token.slice(0, position)}${token[position] === 'A' ? 'B' : 'A'}${token.slice(position + 1)}`
}

type Forge = (subject: Subject, operation: Protected) => Promise<Headers>
type Forgery = readonly [name: string, words: string, make: Forge]

/**
 * The decision by which a server refuses, if the specification does not say so: of a token that is sent otherwise §4 and §5 do
 * not; of the token's kind §5.4 does.
 */
function decisionOf({ id, rule, source }: Protected, name: string): string | undefined {
  if (rule === decided) return source
  const isDecided = name === 'scheme' || name === 'bare' || (name === 'foreign' && id === 'coins')
  return isDecided ? 'decisions A4, K4' : undefined
}

const forged =
  (make: (token: string) => string): Forge =>
  async (subject, { token }) => {
    const authorization = make(await token(subject))
    // Most of it is the token's own characters.
    subject.http.redactor.hide(authorization.split(' ').at(-1)!, 'FORGED_TOKEN')
    return { authorization }
  }

const noToken: Forge = async () => ({})

async function forgedCall(s: Subject, operation: Protected, make: Forge): Promise<HttpResponse> {
  await operation.need?.(s)
  return operation.call(s, await make(s, operation))
}

const FORGERIES: readonly Forgery[] = [
  ['missing', 'no token', noToken],
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

const takesBoth = async (subject: Subject): Promise<boolean> =>
  (await interpretationOf(subject, 'COIN_LOOKUP_TOKEN')) === 'both'

const bearers: readonly Check[] = OPERATIONS.flatMap((operation) => [
  ...FORGERIES.flatMap(([name, words, make]) => {
    const id = `5.${operation.id}.token.${name}`
    const response = (s: Subject) => s.observe(`the response to ${id}`, () => forgedCall(s, operation, make))
    const isMerchantsLookup = operation.id === 'coins' && name === 'foreign'
    const strictly = async (s: Subject) => {
      if (isMerchantsLookup && (await takesBoth(s)))
        return wantFailure(await response(s), 404, 'coin_config_not_found')
      wantRefused(await response(s))
      wantStatus(await response(s), 401, 403)
    }
    const title = `${operation.words} refuses ${words}${isMerchantsLookup ? ', unless COIN_LOOKUP_TOKEN is both' : ''}`
    const decision = decisionOf(operation, name)
    if (decision !== undefined) return [decided(id, decision, title, strictly)]
    // Only for the coin lookup does the specification show the status (§7).
    if (operation.id === 'coins') return [specified(id, operation.source, title, strictly)]
    return [
      specified(id, operation.source, title, async (s) => wantNotDone(await response(s))),
      decided(`${id}.4xx`, 'decision F3', `${title}: with status 401 or 403`, strictly),
    ]
  }),
  decided(
    `5.${operation.id}.token.status`,
    'decisions F1, F3',
    `${operation.words} returns 401 invalid_token to every bad token`,
    async (s) => {
      for (const [name, , make] of FORGERIES) {
        if (operation.id === 'coins' && name === 'foreign' && (await takesBoth(s))) continue
        const response = await forgedCall(s, operation, make)
        wantFailure(response, 401, 'invalid_token')
        wantValue(response, 'errorResponse.errorType', 'SYSTEM_ERROR')
      }
    },
  ),
  decided(
    `5.${operation.id}.challenge`,
    'decision F7',
    `${operation.words} returns 401 with WWW-Authenticate: Bearer`,
    async (s) => {
      const response = await forgedCall(s, operation, noToken)
      const challenge = response.headers['www-authenticate'] ?? 'none'
      if (!/^Bearer\b/i.test(challenge)) fail(response, 'WWW-Authenticate: Bearer', challenge)
    },
  ),
  specified(
    `5.${operation.id}.token.good`,
    '§5.2',
    `${operation.words} does not turn a fresh token away`,
    async (s) => {
      const response = await operation.call(s, { authorization: `Bearer ${await operation.token(s)}` })
      // Of what does not exist, 403 may be another server's word; order and search are right in all.
      const isAway = operation.rule === specified && operation.id !== 'coins' ? [401, 403] : [401]
      if (!isAway.includes(response.status)) return
      // Whose token the coin lookup takes is not shown: §5.2 means a merchant's, §5.4 a partner's.
      const other = operation.id === 'coins' && s.credentials.merchant && (await operation.foreign(s))
      if (other && (await operation.call(s, { authorization: `Bearer ${other}` })).status !== 401) return
      fail(response, `any response but ${isAway.join(' and ')}`, `${response.status} ${response.text}`)
    },
  ),
])

const PARTNER_OPERATIONS = OPERATIONS.filter(({ id }) => id === 'create' || id === 'search')

const partnerIds: readonly Check[] = PARTNER_OPERATIONS.flatMap(({ id, words, need }) => {
  const send = id === 'create' ? sendOrder : sendSearch
  const named = async (s: Subject, partnerId?: string) => {
    const { token, cookie = 'none=none' } = await s.asPartner()
    await need?.(s)
    return send(s, {
      authorization: `Bearer ${token}`,
      cookie,
      ...(partnerId !== undefined && { partnerId }),
    })
  }
  const section = id === 'create' ? '§4.3' : '§4.4'
  return [
    ...refuses(
      `5.${id}.partnerId.missing`,
      `${section}, partnerId; §5.4`,
      `${words} without partnerId is refused`,
      (s) => named(s),
    ),
    decided(
      `5.${id}.partnerId.other`,
      'decision A9',
      `${words} with another partner’s id is 403`,
      async (s) => wantFailure(await named(s, s.partner('otherPartner').partnerId), 403, 'partner_mismatch'),
    ),
    decided(
      `5.${id}.partnerId.unknown`,
      'decision A9',
      `${words} refuses unknown partners like others that exist`,
      async (s) => {
        const other = await named(s, s.partner('otherPartner').partnerId)
        wantSameRefusal(
          await named(s, 'par_00000000000000000000000000'),
          other,
          'the response to another partner’s id',
        )
      },
    ),
  ]
})

export const AUTHENTICATION_CHECKS: readonly Check[] = [
  ...bearers,
  ...partnerIds,
  ...SESSION_COOKIE_CHECKS,
  ...OAUTH_CHECKS,
]
