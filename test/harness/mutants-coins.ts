import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { cancels, coins, describe, type Mutant, tells, turnInto } from './mutant.ts'

export function coinMutants({ coinConfigId }: SandboxFile): readonly Mutant[] {
  return [
    // Section 4.5 and 7
    {
      name: 'the coin 401 is of another errorType',
      ...tells(coins, 401, (json) => (json.errorResponse.errorType = 'AUTHENTICATION_ERROR')),
      fails: ['4.5.401.missing.errorType', '4.5.401.invalid.errorType', '5.coins.token.status'],
    },
    {
      name: 'the coin 401 carries an object as payload',
      ...tells(coins, 401, (json) => (json.payload = JSON.parse(json.payload))),
      fails: [
        '4.5.401.missing.payload',
        '4.5.401.missing.error',
        '4.5.401.missing.error_description',
        '4.5.401.missing.errorMessage',
      ],
      also: /^4\.5\.401\.\w+\.payload\.only$|^4\.5\.401\.invalid\.(payload|error|error_description|errorMessage)$|^4\.5\.merchant$|^5\.coins\.token\.status$/,
    },
    {
      name: 'the coin 401 is a 403',
      ...tells(coins, 401, (_, reported) => (reported.status = 403)),
      fails: ['4.5.401.missing.status', '4.5.401.invalid.status', '5.coins.token.status'],
    },
    {
      name: 'the coin 401 says what is wrong in other words',
      ...tells(coins, 401, (json) => describe(json, 'The token is expired')),
      fails: ['4.5.401.missing.error_description', '4.5.401.invalid.error_description'],
    },
    {
      name: 'the coin 401 has its timestamp in RFC 3339',
      ...tells(
        coins,
        401,
        (json) => (json.errorResponse.timestamp = json.errorResponse.timestamp.replace(' ', 'T')),
      ),
      fails: ['4.5.401.missing.timestamp', '4.5.401.invalid.timestamp'],
    },
    {
      name: 'the coin 401 has response_code as text',
      ...tells(coins, 401, (json) => (json.response_code = '1')),
      fails: ['4.5.401.missing.response_code', '4.5.401.invalid.response_code'],
    },
    {
      name: 'the coin 401 has its fields in another order',
      ...tells(coins, 401, (json, reported) => {
        const { payload, ...rest } = json
        reported.json = { ...rest, payload }
      }),
      fails: ['4.5.401.missing.order', '4.5.401.invalid.order'],
    },
    {
      name: 'the coin 401 has a field more',
      ...tells(coins, 401, (json) => (json.path = '/api/v0/svc-coins')),
      fails: ['4.5.401.missing.envelope.only', '4.5.401.invalid.envelope.only'],
    },
    {
      name: 'all coin refusals have one request id',
      ...tells(
        coins,
        401,
        (json, reported) => (json.errorResponse.requestId = reported.headers['x-request-id'] = 'req_1'),
      ),
      fails: ['4.5.401.requestId.unique'],
    },
    {
      name: 'a coin configuration has no ETag',
      report: (reported) => void delete reported.headers['etag'],
      fails: ['4.5.etag'],
    },
    {
      name: 'coins are fractions',
      ...tells(coins, 200, (json) => (json.payload.amount = 0.5)),
      fails: ['4.5.payload.amount'],
    },
    {
      name: 'failures of a cancel are text/html',
      ...tells(cancels, 404, (_, reported) => (reported.headers['content-type'] = 'text/html')),
      fails: ['7.cancel.json'],
    },
    {
      name: 'x-request-id is missing',
      report: (reported) => void delete reported.headers['x-request-id'],
      fails: ['7.token.requestId', '7.cancel.requestId', '7.success.requestId'],
      also: /^7\.\w+\.requestId$/,
    },
    {
      name: 'failures repeat the id that was asked for',
      ...tells(cancels, 404, (json, _, { path }) =>
        describe(json, `There is no QR code ${decodeURIComponent(path.split('/')[4]!)}`),
      ),
      fails: ['7.no-values'],
      also: /^4\.2\.(odd-id|foreign)/,
    },
    {
      name: 'a broken body tells the stack',
      ...tells(cancels, 400, (json) => describe(json, 'SyntaxError\n at parse (/srv/app/parse.js:12:3)')),
      fails: ['7.no-internals', '4.2.unknown-field'],
    },
    // Servers that do not answer as servers do
    {
      name: 'the coin lookup closes the connection',
      edit: ({ path }) => (path.startsWith('/api/v0/svc-coins') ? 'close' : undefined),
      fails: ['4.5.status', '5.coins.token.good', '9.path.coins'],
      also: /^4\.5\.|^5\.coins\.|^7\.coins\.|^7\.|^8\./,
    },
    {
      name: 'a cancel is answered with a page',
      report(reported, { method }) {
        if (method !== 'PATCH' || reported.status !== 200) return
        Object.assign(reported, { text: '<html>It works!</html>', json: undefined })
        reported.headers['content-type'] = 'text/html'
      },
      fails: ['4.2.content-type', '4.2.response_code.zero', '4.2.payload.present'],
      also: /^4\.2\./,
    },
    {
      name: 'a coin configuration is 203',
      ...tells(coins, 200, (_, reported) => (reported.status = 203)),
      fails: ['4.5.status'],
    },
    {
      name: 'the envelope of a coin configuration has a field more',
      ...tells(coins, 200, (json) => (json.success = true)),
      fails: ['4.5.envelope'],
    },
    {
      name: 'a coin configuration has another id',
      ...tells(coins, 200, (json) => (json.payload.coinConfigId = 'ccf_1')),
      fails: ['4.5.id', '4.5.merchant'],
    },
    {
      name: 'a coin configuration has a field more',
      ...tells(coins, 200, (json) => (json.payload.currency = 'coins')),
      fails: ['4.5.fields'],
    },
    {
      name: 'cookies disturb the coin lookup',
      report(reported, request) {
        if (coins(request, reported) && request.headers['cookie']) reported.status = 401
      },
      fails: ['4.5.cookie'],
    },
    {
      name: 'a coin configuration that is not there is empty',
      ...tells(coins, 404, (_, reported) =>
        turnInto(reported, 200, { response_code: 0, response_message: 'Success', payload: {} }),
      ),
      fails: ['4.5.missing', '4.5.missing.status', '4.5.foreign', '4.5.odd-ids', '7.coins.word'],
      also: /^7\./,
    },
    {
      name: 'a foreign coin configuration is 403',
      ...tells(coins, 404, (_, reported, { path }) => path.endsWith(coinConfigId) && (reported.status = 403)),
      fails: ['4.5.foreign'],
    },
    {
      name: 'odd coin ids are 400',
      ...tells(coins, 404, (_, reported, { path }) => /%|c{9}/.test(path) && (reported.status = 400)),
      fails: ['4.5.odd-ids'],
    },
    {
      name: 'there are no problem details',
      edit: ({ headers }) =>
        void (headers['accept'] === 'application/problem+json' && delete headers['accept']),
      fails: ['7.problem'],
    },
  ]
}
