import { type Check, decided, refuses } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import { wantFailure, wantStatus } from '../expect.ts'
import { interpretationOf } from '../interpretation.ts'
import { cookieOf, forgedCookie } from '../session.ts'
import { type Headers, type Subject, skip } from '../subject.ts'
import { needSearch, sendSearch } from './sound-requests.ts'

const search = async (subject: Subject, headers: Headers): Promise<HttpResponse> =>
  sendSearch(subject, { ...(await subject.asPartner()).headers, ...headers })

const sessionCookie = async (
  subject: Subject,
  who: 'incentivePartner' | 'otherPartner' = 'incentivePartner',
) => (await subject.asPartner(who)).cookie ?? skip(`there is no session cookie for ${who}`)

/** A cookie is refused only where one is checked, and the search succeeds with the right one. */
async function needCookie(subject: Subject): Promise<void> {
  if ((await interpretationOf(subject, 'SEARCH_COOKIE')) === 'any')
    skip('the server does not check the session cookie (SEARCH_COOKIE=any)')
  await needSearch(subject)
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
  decided('5.search.cookie.good', 'decision A8', 'A search with its session cookie succeeds', async (s) =>
    wantStatus(await search(s, { cookie: await sessionCookie(s) }), 200),
  ),
  decided(
    '5.search.cookie.garbage',
    'decision A8',
    'A made-up session cookie is 401 invalid_session',
    async (s) => {
      await needCookie(s)
      wantFailure(await search(s, { cookie: forgedCookie(await sessionCookie(s)) }), 401, 'invalid_session')
    },
  ),
  decided('5.search.cookie.foreign', 'decision A8', 'Another partner’s session cookie is 401', async (s) => {
    await needCookie(s)
    wantFailure(await search(s, { cookie: await sessionCookie(s, 'otherPartner') }), 401, 'invalid_session')
  }),
  decided(
    '5.search.cookie.other-token',
    'decision A8',
    'The cookie of another token of the same partner serves, unless SEARCH_COOKIE is token',
    async (s) => {
      await needCookie(s)
      const cookie = cookieOf(await s.partnerTokenResponse()) ?? skip('the token response sets no cookie')
      const searched = await search(s, { cookie })
      if ((await interpretationOf(s, 'SEARCH_COOKIE')) !== 'token') wantStatus(searched, 200)
      else wantFailure(searched, 401, 'invalid_session')
    },
  ),
  decided(
    '5.search.cookie.among-others',
    'decision A8',
    'The session cookie is found among other cookies',
    async (s) => {
      await needCookie(s)
      wantStatus(await search(s, { cookie: `a=b; ${await sessionCookie(s)}; c=d` }), 200)
    },
  ),
]
