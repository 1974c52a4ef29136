import { CARD, creates, type Mutant, SEARCH, TOKEN, tells, tokens, turnInto } from './mutant.ts'

const pairOf = (cookie: unknown): string => String(cookie).split(';')[0]!

const keyMutants: readonly Mutant[] = [
  {
    name: 'a missing key is 400',
    report(reported, { path, headers }) {
      if (path === TOKEN && headers['api-key'] === undefined && reported.status === 401) reported.status = 400
    },
    fails: ['4.1.key.status'],
    also: /^7\.token\.word$/,
  },
  {
    name: 'the token’s expiry is more than an int64 holds',
    ...tells(tokens, 200, (json) => (json.expiry = 1e19)),
    fails: ['4.1.expiry', '4.1.expiry.absolute'],
  },
  {
    name: 'a token request with a body gets a result without a token',
    ...tells(tokens, 200, (json, _, { body }) => body.includes('scope') && delete json.token),
    fails: ['4.1.body'],
  },
]

/** Servers that are wrong about tokens and session cookies, in ways that a check could miss that asks too little. */
export function sessionMutants(): readonly Mutant[] {
  const cookies = new Map<string, string>()
  const authorizations = new Map<string, string>()
  return [
    {
      name: 'the session cookie may have any value, and another cookie comes before it',
      edit(request) {
        const { authorization = '', cookie = '' } = request.headers
        const good = cookies.get(authorization)
        if (request.path === SEARCH && good && cookie.includes('SVCSESSION='))
          request.headers['cookie'] = good
      },
      report(reported, { path }) {
        if (path !== '/oauth/token' || reported.status !== 200) return
        const session = String(reported.headers['set-cookie'])
        cookies.set(`Bearer ${reported.json.access_token}`, pairOf(session))
        reported.headers['set-cookie'] = ['node=one-of-two; Path=/', session]
      },
      fails: ['5.search.cookie.garbage', '5.search.cookie.foreign'],
    },
    {
      name: 'cards need no token',
      edit({ path, headers }) {
        const id = headers['partnerid'] ?? ''
        if ((path !== CARD && path !== SEARCH) || headers['authorization'] !== undefined) return
        headers['authorization'] = authorizations.get(id) ?? ''
      },
      report({ status }, { path, headers }) {
        const { authorization, partnerid = '' } = headers
        if (path === CARD && status === 200) authorizations.set(partnerid, authorization!)
      },
      fails: ['create', 'search'].flatMap((id) => [
        `5.${id}.token.missing`,
        `5.${id}.token.status`,
        `5.${id}.challenge`,
      ]),
    },
    {
      name: 'a right order of a fresh token is 403',
      ...tells(creates, 200, (_, reported) => turnInto(reported, 403, { code: 1, message: 'Failure' })),
      fails: ['5.create.token.good'],
    },
    {
      name: 'client credentials in the Basic header get no token',
      report(reported, { path, headers }) {
        if (path === '/oauth/token' && headers['authorization']) turnInto(reported, 200, {})
      },
      fails: ['5.oauth.basic'],
    },
    ...keyMutants,
  ]
}
