import { inEach, type Mutant, SEARCH, searches, tells, turnInto } from './mutant.ts'

export function searchMutants(): readonly Mutant[] {
  const lastGood = new Map<string, string>()
  return [
    // Section 4.4
    {
      name: 'the twelve-field record has a thirteenth',
      ...tells(searches, 200, (json) =>
        inEach(json, (record) => record.maskedNumber ?? (record.gender = '')),
      ),
      fails: ['4.4.rewards.only', '4.4.account.only'],
    },
    {
      name: 'the twelve-field record has eleven',
      ...tells(searches, 200, (json) => inEach(json, (record) => record.maskedNumber ?? delete record.title)),
      fails: ['4.4.rewards.twelve', '4.4.account.twelve', '4.4.rewards.data.title', '4.4.rewards.same'],
    },
    {
      name: 'recordsCount counts one too many',
      ...tells(searches, 200, (json) => json.payload.recordsCount++),
      fails: [
        '4.4.incentive.recordsCount',
        '4.4.rewards.recordsCount',
        '4.4.account.recordsCount',
        '4.4.rewards.one',
        '4.4.pages',
        '4.4.incentive.nothing',
        '4.4.rewards.nothing',
      ],
    },
    {
      name: 'the last card of an account is forgotten',
      ...tells(searches, 200, (json) => {
        if (json.payload.data.length > 2)
          json.payload.recordsCount = json.payload.data.splice(-1).length && json.payload.data.length
      }),
      fails: ['4.4.account.all'],
    },
    {
      name: 'searches need no svcCardId in the incentive variant',
      ...tells(
        searches,
        400,
        (json, reported) =>
          json.payload.includes('svcCardId is required') &&
          turnInto(reported, 200, { code: 0, message: 'Success', payload: { data: [], recordsCount: 0 } }),
      ),
      fails: ['4.4.incentive.svcCardId.missing'],
    },
    {
      name: 'a card that is not there is 404',
      ...tells(
        searches,
        200,
        (json, reported) =>
          json.payload.recordsCount === 0 && turnInto(reported, 404, { code: 1, message: 'Failure' }),
      ),
      fails: ['4.4.incentive.nothing', '4.4.rewards.nothing', '4.4.foreign-card'],
    },
    {
      name: 'any session cookie is good',
      edit(request) {
        const { authorization = '', cookie } = request.headers
        if (request.path === SEARCH && lastGood.has(authorization))
          request.headers['cookie'] = lastGood.get(authorization)!
        else if (cookie === undefined) delete request.headers['cookie']
      },
      report(reported, { path }) {
        if (path === '/oauth/token' && reported.status === 200)
          lastGood.set(
            `Bearer ${reported.json.access_token}`,
            String(reported.headers['set-cookie']).split(';')[0]!,
          )
      },
      fails: ['5.search.cookie.missing', '5.search.cookie.garbage', '5.search.cookie.foreign'],
    },
  ]
}
