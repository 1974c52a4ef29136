import { generateKeyPairSync } from 'node:crypto'
import { contest, httpContender } from '../contest.ts'
import { requestBytes } from '../load.ts'
import { peer } from '../peers.ts'
import { startServer } from '../server-process.ts'
import type { Measure } from './measure.ts'

export const merchantToken: Measure = {
  id: 'token',
  title: 'Merchant token',
  async run(setting) {
    const { bed } = setting
    const signing = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
    const oidc = await startServer({
      ...peer('oidc-provider.mjs'),
      env: { SIGNING_JWK: JSON.stringify({ ...signing, kid: 'bench', use: 'sig', alg: 'EdDSA' }) },
    })
    const bare = await startServer(peer('bare-http.mjs'))
    try {
      const ours = bed.apiKeys.map((apiKey) =>
        requestBytes('POST', '/api/v0/merchant/token', { 'api-key': apiKey }),
      )
      const form = 'grant_type=client_credentials&client_id=bench&client_secret=bench-secret'
      const theirs = requestBytes(
        'POST',
        '/token',
        { 'content-type': 'application/x-www-form-urlencoded' },
        form,
      )
      const hello = requestBytes('GET', '/', {})
      const figures = await contest({
        ...setting,
        contenders: [
          httpContender('svc', [bed.service.pid], () => ({
            port: bed.service.port,
            next: (n) => ours[n % ours.length],
          })),
          httpContender('oidc-provider', [oidc.pid], () => ({ port: oidc.port, next: () => theirs })),
          httpContender('bare node:http', [bare.pid], () => ({ port: bare.port, next: () => hello })),
        ],
      })
      return {
        figures,
        comparisons: [
          { of: 'svc', to: 'oidc-provider', aim: 4 },
          { of: 'svc', to: 'bare node:http' },
        ],
      }
    } finally {
      await oidc.end()
      await bare.end()
    }
  },
}
