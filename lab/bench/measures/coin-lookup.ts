import type { Bed, BenchPartner } from '../bed.ts'
import { contest, httpContender } from '../contest.ts'
import { requestBytes } from '../load.ts'
import { peer, peerProgram } from '../peers.ts'
import { ROOT, startServer } from '../server-process.ts'
import type { Measure } from './measure.ts'

/** Every caller looks up a configuration of its own, so that coalescing has as many rows to read as there are callers. */
export async function lookups(
  { service }: Pick<Bed, 'service'>,
  { headers }: BenchPartner,
  count: number,
): Promise<Buffer[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const response = await fetch(`${service.baseUrl}/api/v0/svc-coins`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        event: `bench.${n}`,
        amount: 100,
        title: 'Thank you for the referral',
        coinsExpireAfterDays: 365,
      }),
    })
    const { payload } = (await response.json()) as { payload: { coinConfigId: string } }
    ids.push(payload.coinConfigId)
  }
  const { authorization } = headers as { authorization: string }
  return ids.map((id) => requestBytes('GET', `/api/v0/svc-coins/${id}`, { authorization }))
}

export const coinLookup: Measure = {
  id: 'coin-lookup',
  title: 'Coin configuration lookup (bearer token)',
  async run(setting) {
    const { bed, callers } = setting
    const partner = await bed.newPartner('incentive', 1)
    const requests = await lookups(bed, partner, Math.max(...callers))
    const hello = await startServer(peer('hello.mjs'))
    const prism = await startServer({
      args: [
        peerProgram('@stoplight', 'prism-cli', 'dist', 'index.js'),
        'mock',
        '--port',
        '0',
        `${ROOT}/docs/reference/openapi.json`,
      ],
      ready: (line) => /Prism is listening on (http:\S+)/.exec(line)?.[1],
    }).catch((error: Error) => error)
    try {
      const helloRequest = requestBytes('GET', '/hello', {})
      const mocked = prism instanceof Error ? [] : [prism]
      const figures = await contest({
        ...setting,
        contenders: [
          httpContender('svc', [bed.service.pid, bed.postmasterPid], () => ({
            port: bed.service.port,
            next: (n) => requests[n % requests.length],
          })),
          httpContender('bare Fastify hello', [hello.pid], () => ({
            port: hello.port,
            next: () => helloRequest,
          })),
          ...mocked.map(({ pid, port }) =>
            httpContender('Prism, same document', [pid], () => ({ port, next: () => requests[0] })),
          ),
        ],
      })
      return {
        figures,
        comparisons: [
          { of: 'svc', to: 'bare Fastify hello', aim: 0.6 },
          ...mocked.map(() => ({ of: 'svc', to: 'Prism, same document' })),
        ],
        left: prism instanceof Error ? [`Prism: ${prism.message.split('\n')[0]}`] : [],
      }
    } finally {
      await hello.end()
      if (!(prism instanceof Error)) await prism.end()
    }
  },
}
