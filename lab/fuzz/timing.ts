// `npm run timing -- --rounds 20000`: whether response times reveal what responses do not (promises A5 and B1).
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { Client } from 'undici'
import { headersOf, openTarget, type Target } from './target.ts'

interface TimedRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Record<string, string>
}

const median = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1]!

/** Sends both kinds by turns, in random order, on one connection; answers the medians in microseconds. */
async function compare(
  baseUrl: string,
  rounds: number,
  left: () => TimedRequest,
  right: () => TimedRequest,
): Promise<[number, number, boolean]> {
  const client = new Client(baseUrl)
  const times: [number[], number[]] = [[], []]
  const bodies: [Set<string>, Set<string>] = [new Set(), new Set()]
  for (let round = -200; round < rounds; round++) {
    const first = randomBytes(1)[0]! & 1
    for (const side of [first, 1 - first] as (0 | 1)[]) {
      const timedRequest = side === 0 ? left() : right()
      const startedAt = process.hrtime.bigint()
      const response = await client.request(timedRequest)
      const text = await response.body.text()
      const tookUs = Number(process.hrtime.bigint() - startedAt) / 1_000
      // The first ones warm up the code on both sides.
      if (round < 0) continue
      times[side].push(tookUs)
      const { requestId } =
        (JSON.parse(text) as { errorResponse?: { requestId: string } }).errorResponse ?? {}
      bodies[side].add(
        `${response.statusCode} ${text.replaceAll(requestId ?? '', '').replace(/"timestamp":"[^"]+"/, '')}`,
      )
    }
  }
  await client.close()
  const same = bodies[0].size === 1 && bodies[1].size === 1 && [...bodies[0]][0] === [...bodies[1]][0]
  return [median(times[0]), median(times[1]), same]
}

/** A key of the right form and checksum that nobody has, and one that is there but revoked or of another kind. */
async function questions(target: Target): Promise<[string, () => TimedRequest, () => TimedRequest][]> {
  const [merchant, partner] = target.tenants as [Target['tenants'][number], Target['tenants'][number]]
  const [otherMerchant, otherPartner] = target.victims as [
    Target['tenants'][number],
    Target['tenants'][number],
  ]
  const last = (text: string) => text.replace(/.{20}$/, () => randomBytes(20).toString('hex').slice(0, 20))
  const gets = (
    tenant: typeof merchant,
    path: string,
    theirs: string,
  ): [() => TimedRequest, () => TimedRequest] => {
    const timedRequest = (id: string): TimedRequest => ({
      method: 'GET',
      path: path.replace('{id}', id),
      headers: headersOf(tenant),
    })
    return [() => timedRequest(theirs), () => timedRequest(last(theirs))]
  }
  const client = (id: string): TimedRequest => ({
    method: 'POST',
    path: '/oauth/token',
    headers: {
      authorization: `Basic ${Buffer.from(`${id}:${'x'.repeat(40)}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
  })
  const { clientId } = target.given
  return [
    [
      'A5 OAuth client that exists, and one that does not, with a wrong secret',
      () => client(clientId),
      () => client(last(clientId)),
    ],
    [
      'B1 QR code of another merchant, and none',
      ...gets(merchant, '/api/v0/qr-code/{id}', otherMerchant.ids.get('qrCodeId')![0]!),
    ],
    [
      'B1 card of another partner, and none',
      ...gets(partner, '/api/v0/partner/svcCard/{id}', otherPartner.ids.get('svcCardId')![0]!),
    ],
    [
      'B1 coin configuration of another partner, and none',
      ...gets(partner, '/api/v0/svc-coins/{id}', otherPartner.ids.get('coinConfigId')![0]!),
    ],
    [
      'B1 webhook endpoint of another tenant, and none',
      ...gets(merchant, '/api/v0/webhook-endpoints/{id}', otherMerchant.ids.get('endpointId')![0]!),
    ],
  ]
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20000' } } })
const rounds = Number(values.rounds)
const target = await openTarget()
try {
  for (const [what, left, right] of await questions(target)) {
    const [a, b, same] = await compare(target.baseUrl, rounds, left, right)
    console.log(
      `${what}: medians ${a.toFixed(1)} and ${b.toFixed(1)} µs, gap ${(a - b).toFixed(1)} µs, ${same ? 'same bytes' : 'DIFFERENT BYTES'}`,
    )
    if (!same) process.exitCode = 1
  }
} finally {
  await target.close()
}
