import { type Check, ours, refuses } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import { wantFailure, wantStatus } from '../expect.ts'
import { interpretationOf } from '../interpretation.ts'
import { type Headers, PATHS, type Subject, skip } from '../subject.ts'

const MISSING_CARD = 'card_00000000000000000000000000'

const search = async (subject: Subject, headers: Headers): Promise<HttpResponse> => {
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

async function needCookie(subject: Subject): Promise<void> {
  if ((await interpretationOf(subject, 'SEARCH_COOKIE')) === 'any')
    skip('the server does not check the session cookie (SEARCH_COOKIE=any)')
}

export const SESSION_COOKIE_CHECKS: readonly Check[] = [
  ...refuses(
    '5.search.cookie.missing',
    '§4.4, Cookie',
    'A search without a session cookie is refused',
    async (s) => {
      await needCookie(s)
      return search(s, {})
    },
  ),
  ours('5.search.cookie.good', 'decision A8', 'A search with its session cookie succeeds', async (s) =>
    wantStatus(await search(s, { cookie: await cookieOf(s) }), 200),
  ),
  ours(
    '5.search.cookie.garbage',
    'decision A8',
    'A made-up session cookie is 401 invalid_session',
    async (s) => {
      await needCookie(s)
      const name = (await cookieOf(s)).split('=')[0]
      wantFailure(await search(s, { cookie: `${name}=made-up` }), 401, 'invalid_session')
    },
  ),
  ours('5.search.cookie.foreign', 'decision A8', 'Another partner’s session cookie is 401', async (s) => {
    await needCookie(s)
    wantFailure(await search(s, { cookie: await cookieOf(s, 'otherPartner') }), 401, 'invalid_session')
  }),
  ours(
    '5.search.cookie.other-token',
    'decision A8',
    'The cookie of another token of the same partner serves, unless SEARCH_COOKIE is token',
    async (s) => {
      const response = await s.partnerTokenResponse()
      const cookie = response.cookies[0]?.split(';')[0] ?? skip('the token response sets no cookie')
      await s.asPartner()
      const searched = await search(s, { cookie })
      if ((await interpretationOf(s, 'SEARCH_COOKIE')) !== 'token') wantStatus(searched, 200)
      else wantFailure(searched, 401, 'invalid_session')
    },
  ),
  ours(
    '5.search.cookie.among-others',
    'decision A8',
    'The session cookie is found among other cookies',
    async (s) => wantStatus(await search(s, { cookie: `a=b; ${await cookieOf(s)}; c=d` }), 200),
  ),
]
