import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { CARD, coins, describe, type Mutant, SEARCH, TOKEN, tells, tokens, turnInto } from './mutant.ts'

export function accessMutants({ incentivePartner: partner, merchant }: SandboxFile): readonly Mutant[] {
  const lastGood = new Map<string, string>()
  return [
    // Section 4.1
    {
      name: 'the token’s expiry is a duration',
      ...tells(tokens, 200, (json) => (json.expiry = 3_600_000)),
      fails: ['4.1.expiry.absolute'],
    },
    {
      name: 'the token’s expiry is in seconds',
      ...tells(tokens, 200, (json) => (json.expiry /= 1_000)),
      fails: ['4.1.expiry.absolute'],
      also: /^4\.1\.expiry$/,
    },
    {
      name: 'the token’s resultCode is text',
      ...tells(tokens, 200, (json) => (json.resultCode = '0')),
      fails: ['4.1.resultCode', '4.1.resultCode.zero'],
    },
    {
      name: 'the token’s resultMessage is left out',
      ...tells(tokens, 200, (json) => delete json.resultMessage),
      fails: ['4.1.fields', '4.1.resultMessage', '4.1.resultMessage.success'],
    },
    {
      name: 'the token result has a fifth field',
      ...tells(tokens, 200, (json) => (json.tokenType = 'Bearer')),
      fails: ['4.1.fields.only'],
    },
    {
      name: 'the token operation answers 201',
      ...tells(tokens, 200, (_, reported) => (reported.status = 201)),
      fails: ['4.1.status', '4.1.no-body', '4.1.header-name', '4.1.empty-object', '4.1.body'],
    },
    {
      name: 'every key gets a token',
      edit(request) {
        if (request.path === TOKEN) request.headers['api-key'] = merchant.apiKey
      },
      fails: [
        '4.1.key.missing',
        '4.1.key.unknown',
        '4.1.key.altered',
        '4.1.key.elsewhere',
        '4.1.key.token',
        '4.1.key.status',
        '4.1.key.result',
      ],
      also: /^4\.1\.key\.alike$|^7\.(token|words)|^5\.other-merchant$|foreign/,
    },
    {
      name: 'the refusal of a key has no resultCode',
      ...tells(tokens, 401, (json) => delete json.resultCode),
      fails: ['4.1.key.result', '7.token.envelope'],
    },
    {
      name: 'well-formed unknown keys are refused in other words',
      ...tells(
        tokens,
        401,
        (json, _, { headers }) => headers['api-key']?.startsWith('svc_') && describe(json, 'No such key'),
      ),
      fails: ['4.1.key.alike'],
    },
    // Section 5
    {
      name: 'tokens without a signature are good',
      edit(request) {
        const { authorization = '' } = request.headers
        const [head = '', claims = '', signature] = authorization.replace('Bearer ', '').split('.')
        const header = Buffer.from(head, 'base64url').toString()
        if (signature === '' && header.includes('none'))
          request.headers['authorization'] = lastGood.get(claims) ?? authorization
      },
      report({ json }) {
        const token: unknown = json?.token ?? json?.access_token
        if (typeof token === 'string') lastGood.set(token.split('.')[1]!, `Bearer ${token}`)
      },
      fails: [
        '5.create.token.unsigned',
        '5.search.token.unsigned',
        '5.coins.token.unsigned',
        '5.cancel.token.unsigned',
      ],
      also: /^5\.\w+\.token\.status$/,
    },
    {
      name: 'any scheme will do for a token',
      edit(request) {
        const { authorization } = request.headers
        if (authorization?.startsWith('Token '))
          request.headers['authorization'] = authorization.replace('Token', 'Bearer')
      },
      fails: [
        '5.create.token.scheme',
        '5.search.token.scheme',
        '5.coins.token.scheme',
        '5.cancel.token.scheme',
      ],
      also: /^5\.\w+\.token\.status$/,
    },
    {
      name: 'partnerId is not looked at',
      edit({ headers, path }) {
        if (path === CARD || path === SEARCH)
          headers['partnerid'] = lastGood.get(headers['authorization'] ?? '') ?? partner.partnerId
      },
      fails: ['5.search.partnerId.missing', '5.search.partnerId.other', '5.search.partnerId.unknown'],
      also: /^5\.(create|search)\.partnerId\.|^4\.[34]|^7\.|^8\./,
    },
    {
      name: 'the session cookie can be read by scripts',
      report(reported) {
        const cookie = reported.headers['set-cookie']
        if (cookie) reported.headers['set-cookie'] = String(cookie).replace('; HttpOnly', '')
      },
      fails: ['5.oauth.cookie'],
    },
    {
      name: 'the partner token answers may be stored',
      report(reported, { path }) {
        if (path === '/oauth/token') delete reported.headers['cache-control']
      },
      fails: ['5.oauth.no-store'],
    },
    // Sections 8 and 9
    {
      name: 'the version in the path does not count',
      edit: (request) => void (request.path = request.path.replace('/api/v1/', '/api/v0/')),
      fails: ['9.other-version'],
    },
    {
      name: 'paths are found in any case',
      edit(request) {
        if (request.path.toLowerCase() === CARD.toLowerCase()) request.path = CARD
      },
      fails: ['9.exact'],
    },
    {
      name: 'the coin lookup is not there',
      ...tells(coins, 401, (_, reported) => turnInto(reported, 501, { error: 'not implemented' })),
      fails: ['9.path.coins', '4.5.401.missing.status', '4.5.401.missing.payload'],
      also: /^4\.5\.|^5\.coins\./,
    },
    {
      name: 'numbers lose their last digits',
      edit(request) {
        if (request.body.toString().includes('100.00000000000000001'))
          request.body = Buffer.from('{"amount":100}')
      },
      fails: ['8.numbers'],
    },
    {
      name: 'bodies of any size are read',
      edit(request) {
        if (request.method === 'PATCH' && request.body.length > 64 * 1024) request.body = Buffer.from('{}')
      },
      fails: ['8.body.over'],
    },
    {
      name: 'the token is empty',
      ...tells(tokens, 200, (json) => (json.token = '')),
      fails: ['4.1.token', '4.1.token.bearer', '4.1.no-body', '4.1.header-name'],
      also: /^4\.1\.(?:empty-object|body)$/,
    },
    {
      name: 'the token is said to be plain text',
      ...tells(tokens, 200, (_, reported) => (reported.headers['content-type'] = 'text/plain')),
      fails: ['4.1.content-type'],
    },
    {
      name: 'the token’s expiry is text',
      ...tells(tokens, 200, (json) => (json.expiry = String(json.expiry))),
      fails: ['4.1.expiry', '4.1.expiry.absolute'],
    },
    {
      name: 'fresh tokens are refused',
      ...tells(
        ({ path }) => path.includes('no-such-code'),
        404,
        (_, reported) => (reported.status = 401),
      ),
      fails: ['4.1.works', '4.1.again'],
    },
    {
      name: 'a body of the token request is refused',
      report(reported, { path, body }) {
        if (path === TOKEN && body.includes('scope')) turnInto(reported, 400, { code: 1, message: 'Failure' })
      },
      fails: ['4.1.body'],
    },
    {
      name: 'a wrong method is a wrong path',
      ...tells(
        () => true,
        405,
        (_, reported) => (reported.status = 404),
      ),
      fails: ['4.1.method', '7.method.word'],
    },

    {
      name: 'all merchants get one token',
      report(reported, { path }) {
        if (path !== TOKEN || reported.status !== 200) return
        reported.json.token = lastGood.get('token') ?? reported.json.token
        lastGood.set('token', reported.json.token)
      },
      fails: ['5.other-merchant', '4.2.foreign', '4.2.foreign.untouched', '2.3.get.foreign'],
      also: /^4\.2\.accessKey/,
    },
    {
      name: 'headers of any size are read',
      edit: ({ headers }) => void delete headers['x-filler'],
      fails: ['8.headers.over'],
    },
    {
      name: 'the version may be left out',
      edit: (request) => void (request.path = request.path.replace('/api/merchant/', '/api/v0/merchant/')),
      fails: ['9.no-version'],
    },
  ]
}
